#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # the libraries set the names
#
# demo_everyone - programs without privilege on two hosts with tuxd, in turns
# over Tux and over kernel TCP

set -u
export TUX_PATH=${TUX_PATH-auto}	# as users have it
. "$(dirname "${BASH_SOURCE[0]}")/../t/posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../t/live/net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../t/live/net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../t/live/net/cgroups.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../bench/noworse_verdict.sh"

rounds=3 seconds=4
budget=420		# seconds, in which rows may be repeated for noise
once=			# no row is repeated
programs=(redis memcached nginx gunicorn postgresql mosquitto fifty)
names=()
for word; do
	case $word in
	--quick) rounds=1 seconds=2 budget=60 ;;
	--once) once=yes ;;
	*)
		names+=("$word")
		[[ " ${programs[*]} " = *" $word "* ]] && continue
		echo "usage: contrib/demo --everyone [--quick] [--once]" \
			"[PROGRAM]..." >&2
		exit 2
		;;
	esac
done
[ ${#names[@]} -gt 0 ] || names=("${programs[@]}")

conns=16
verdict=failed worst=0 tux_share=0
declare -A ports pids size=([fifty]=50)	# connections
declare -A needed=([redis]=redis-benchmark [memcached]=memcached [nginx]=wrk
	[gunicorn]=gunicorn [postgresql]=pgbench [mosquitto]=mosquitto_sub
	[fifty]=redis-server)

last_word()
{
	leave
	echo "everyone: $verdict worst=$worst tux_share=$tux_share" >&"$out"
}

# server NAME PATH WORDS...: @PORT@ is its port
server()
{
	on 65534 "$cg_b"
	[ "$2" = tcp ] || unprivileged 65534 "$cg_b"
	server_as "$@"
}

# The same, with $words before it.
server_as()
{
	local name=$1 path=$2

	shift 2
	serve "$name-$path" "${words[@]}" "$@" 2>>"$dir/servers.err" || return 1
	ports[$name-$path]=$port pids[$name-$path]=$pid
}

# ---- the servers -------------------------------------------------------------

serve_redis()
{
	server redis "$1" redis-server --port @PORT@ --bind $b_addr \
		--save '' --protected-mode no
}

# Started by root, it gives its privilege up by itself.
serve_memcached()
{
	inside "$cg_b"
	[ "$1" = tcp ] || words+=("$build/contrib/tuxrun" -v)
	server_as memcached "$1" memcached -u nobody -l $b_addr -p @PORT@ -U 0 -t 2
}

serve_nginx()
{
	local d=$dir/nginx-$1 t

	mkdir "$d" && chmod 777 "$d" || return 1
	for t in client_body proxy fastcgi uwsgi scgi; do
		echo "${t}_temp_path $d;"
	done >"$d/temp"
	cat >"$d/conf" <<-E
		worker_processes 2;
		daemon off;
		pid $d/pid;
		error_log stderr;
		events { }
		http {
			access_log off;
			include $d/temp;
			include $d/server;
		}
	E
	# shellcheck disable=SC2016 # for the other shell
	server nginx "$1" sh -c 'echo "server { listen $2:$1;
		keepalive_requests 1000000; location / { return 200 ok; } }" \
		>"$0/server" && exec nginx -c "$0/conf" -e stderr' "$d" @PORT@ \
		$b_addr
}

serve_gunicorn()
{
	cat >"$dir/hello.py" <<-E
		def app(environ, start):
		    start("200 OK", [("Content-Length", "2")])
		    return [b"ok"]
	E
	server gunicorn "$1" gunicorn -w 2 -k gthread --threads 16 \
		--keep-alive 60 -b $b_addr:@PORT@ --chdir "$dir" hello:app
}

answers()
{
	"${b[@]}" pg_isready -q -h $b_addr -p "${ports[postgresql-$1]}"
}

serve_postgresql()
{
	local bin data=$dir/data-$1
	local as=(setpriv --reuid 65534 --regid 65534 --clear-groups)

	bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
	"${as[@]}" "$bin/initdb" -N -A trust -U postgres -D "$data" \
		>"$dir/initdb-$1" 2>&1 || return 1
	echo "host all all 10.77.0.0/24 trust" >>"$data/pg_hba.conf"
	server postgresql "$1" "$bin/postgres" -D "$data" -h $b_addr \
		-p @PORT@ -k "$dir" -c fsync=off && wait_for 20 answers "$1" &&
		"${b[@]}" pgbench -i -q -h $b_addr -U postgres \
			-p "${ports[postgresql-$1]}" postgres >"$dir/init-$1" 2>&1
}

serve_fifty()
{
	server fifty "$1" redis-server --port @PORT@ --bind $b_addr --save '' \
		--protected-mode no
}

serve_mosquitto()
{
	# shellcheck disable=SC2016 # for the other shell
	server mosquitto "$1" sh -c 'printf "%s\n" "listener $1 $2" \
		"allow_anonymous true" "max_queued_messages 0" \
		"log_dest stderr" "log_type error" "log_type subscribe" >"$0" &&
		exec mosquitto -c "$0"' "$dir/mosquitto-$1" @PORT@ $b_addr
}

# ---- what the clients do: "requests/s p99-in-ms" --------------------------------

ask_redis()
{
	timeout 60 "$@" redis-benchmark -h $b_addr -p "$port" -c $conns \
		-n $((seconds * 250000)) -d 1024 -t get --csv |
		awk -F '"' '$2 == "GET" { print $4, $14 }'
}

ask_wrk()
{
	timeout 60 "$@" wrk -t 1 -c $conns -d $seconds --latency \
		"http://$b_addr:$port/" | awk '
		$1 == "99%" { p = $2 + 0
			if ($2 ~ /us$/) p /= 1000
			else if ($2 !~ /ms$/) p *= 1000 }
		/Non-2xx|Socket errors/ { bad = 1 }
		$1 == "Requests/sec:" { r = $2 }
		END { if (r && !bad) print r, p }'
}

ask_nginx() { ask_wrk "$@"; }
ask_gunicorn() { ask_wrk "$@"; }

ask_postgresql()
{
	timeout 60 "$@" pgbench -n -S -c $conns -T $seconds -h $b_addr \
		-p "$port" -U postgres -l --log-prefix="$dir/pg.$$" postgres |
		sed -n 's/^tps = \([0-9.]*\).*/\1/p' >"$dir/tps"
	cat "$dir/pg.$$".* | awk '{ print $3 / 1000 }' | sort -g | awk '
		{ v[NR] = $1 } END { print v[int(NR * 0.99)] }' |
		paste -d ' ' "$dir/tps" -
	rm -f "$dir/pg.$$".*
}

# timed OPERATIONS COMMAND...: operations/s; these clients know no p99
timed()
{
	local n=$1 began

	shift
	began=$(now)
	timeout 60 "$@" >/dev/null || return
	echo "$((n * 1000 / ($(now) - began))) -"
}

# Each connection stores n values, and gets each of them twice.
ask_memcached()
{
	local n=$((seconds * 4000))

	timed $((n * 3 * conns)) "$@" "$build/t/posix/mc" text \
		--host $b_addr --port "$port" --conns $conns --n $n --max 1024
}

# subscribed N: so many have, to the server of $path, since it began
subscribed()
{
	[ "$(grep -c ' news$' "$dir/mosquitto-$path.err")" -ge "$1" ]
}

# One publishes lines for all but one of the connections.  Sets $began when all
# of these have subscribed.
mosquitto_traffic()
{
	local n=$1 i p subscribers=() all

	shift
	all=$(($(grep -c ' news$' "$dir/mosquitto-$path.err") + conns - 1))
	for ((i = 1; i < conns; i++)); do
		"$@" mosquitto_sub -h $b_addr -p "$port" -q 1 -t news -C "$n" &
		subscribers+=($!)
	done
	wait_for 10 subscribed $all || return
	began=$(now)
	{
		seq "$n"
	} | "$@" mosquitto_pub -h $b_addr -p "$port" -q 1 -t news -l || return
	for p in "${subscribers[@]}"; do
		wait "$p" || return
	done
}

ask_mosquitto()
{
	local n=$((seconds * 6000)) began

	mosquitto_traffic $n timeout 60 "$@" >/dev/null || return
	echo "$((n * conns * 1000 / ($(now) - began))) -"
}

# Processes with a connection each, all at once; p99 is the worst of theirs.
ask_fifty()
{
	local i p clients=() d=$dir/fifty

	rm -rf "$d"
	mkdir "$d"
	for ((i = 0; i < 50; i++)); do
		timeout 60 "$@" "$build/t/posix/load" --host $b_addr \
			--port "$port" --conns 1 --size 100 \
			--seconds $seconds --every $((seconds * 900)) >"$d/$i" &
		clients+=($!)
	done
	for p in "${clients[@]}"; do
		wait "$p" || return
	done
	awk -v s=$seconds '
		$1 == "so-far" && $NF > w { w = $NF }
		$1 == "port" { n += $4 }
		END { print n / s, w / 1000 }' "$d"/*
}

# ---- a row -----------------------------------------------------------------

# Which connections there are to that port, all the time: "ADDRESS:PORT MS"
look()
{
	while :; do
		"${a[@]}" ss -Htn state established "dport = :$1" |
			awk -v t="$(now)" '{ print $3, t }'
		sleep 0.2
	done
}

# Of the connections that look saw for a second or longer: how many there were,
# and how many had as their last word in that log that they are on Tux.  Programs
# open brief ones, too, to ask for settings; none of those counts.
eligible()
{
	awk 'FILENAME == ARGV[1] {
			if (!($1 in first))
				first[$1] = $2
			last[$1] = $2
			next
		}
		/^tux: .* > .* fd / { word[$2] = $0 }
		END { for (c in first)
				if (last[c] - first[c] >= 1000) {
					n++
					k += word[c] ~ / fd [0-9]+: tux(;|$)/
				}
			print n + 0, k + 0 }' "$dir/look.out" "$1"
}

# turn NAME CONTENDER: a line "RATE P99 - -" more in runs.CONTENDER; and, of Tux,
# one in conns
turn()
{
	local path=tux looks

	[ "$2" = tux ] || path=tcp
	port=${ports[$1-$path]}
	on 65533 "$cg_a"
	[ $path = tcp ] || unprivileged 65533 "$cg_a"
	start look look "$port"
	looks=$pid
	"ask_$1" "${a[@]}" "${words[@]}" 2>"$dir/turn.err" |
		awk 'NF == 2 { print $0, "- -" }' >>"$dir/runs.$2"
	end "$looks"
	cat "$dir/turn.err" >>"$dir/$2.log"
	[ $path = tcp ] || eligible "$dir/turn.err" >>"$dir/conns"
}

# Kernel TCP takes a second turn: the control tells how far two measurements of
# the same thing lie apart.
turns()
{
	local i contender

	rm -f "$dir"/runs.* "$dir"/{kernel,tux,control}.log "$dir/conns"
	for ((i = 0; i < rounds; i++)); do
		for contender in kernel tux control; do
			turn "$1" $contender
		done
	done
	if [ "$(cat "$dir"/runs.* | wc -l)" = $((3 * rounds)) ]; then
		read -ra result < <(judge "$dir"/runs.{kernel,control,tux})
	else
		result=(- - - - - - - - "failed: no figures")
	fi
}

row()
{
	printf '  %-11s %8s %6s %4s %7s %7s %6s %7s %7s %9s %11s  %s\n' "$@"
}

# Without an interface that a process took, what is on Tux is on udp.
tier()
{
	if grep -q '^tux: .*: taken' "$1"; then
		echo xdp
	else
		echo udp
	fi
}

# nothing NAME WHY: a row without figures
nothing()
{
	row "$1" - - - - - - - - - - "$2"
	echo "0 0 0 no" >>"$dir/rows"
}

# A row counts in $dir/rows: eligible, on Tux, throughput over TCP's, verdict
program()
{
	local name=$1 needs=${needed[$1]} n k result

	if ! command -v "$needs" >/dev/null; then
		nothing "$name" "absent: no $needs"
		return
	fi
	if ! "serve_$name" tux || ! "serve_$name" tcp; then
		nothing "$name" "failed: no server"
		return
	fi
	turns "$name"
	if [ "${result[8]}" = noise ] && [ -z "$once" ] &&
		[ $SECONDS -le $budget ]; then
		echo "# $name: once more, the control was ${result[3]}" >&2
		turns "$name"
	fi
	[ "${result[8]}" != noise ] || echo "!! $name: failed for noise," \
		"the control was ${result[3]}" >&2
	end "${pids[$name-tux]}"
	end "${pids[$name-tcp]}"
	read -r n k < <(awk '{ n += $1; k += $2 } END { print n + 0, k + 0 }' \
		"$dir/conns")
	[ $n -ge $((${size[$name]:-$conns} * rounds)) ] ||
		result[8]="failed: too few connections"
	row "$name" "$n" "$k" "$(tier "$dir/tux.log")" "${result[0]%.*}" \
		"${result[1]%.*}" "${result[2]}" "${result[3]}" \
		"$(median "$dir/runs.tux" 2)" "${result[4]}" "${result[5]}" \
		"${result[8]}"
	on_tcp "$dir/tux.log" | sed 's/^/      client /'
	echo "$n $k ${result[2]} ${result[8]}" >>"$dir/rows"
}

privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"
exec {out}>&1
trap last_word EXIT
d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"
row program eligible "on Tux" tier tux kernel ratio control p99 p99_ratio \
	p99_control verdict
for name in "${names[@]}"; do
	program "$name"
done
read -r worst tux_share verdict < <(awk '
	{ n += $1; t += $2; if (NR == 1 || $3 < w) w = $3
		if ($4 != "holds") bad = 1 }
	END { s = n ? t / n : 0
		printf "%.2f %.4f %s\n", w, s,
			bad || s < 0.95 ? "failed" : "ok" }' "$dir/rows")
[ "$verdict" = ok ]
