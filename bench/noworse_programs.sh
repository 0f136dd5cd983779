# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # what bench/noworse uses and sets
#
# noworse_programs - the programs that the rows of bench/noworse run
#
# For each KIND: needs_KIND prints the commands that it needs, servers_KIND
# starts its servers, client_KIND runs its client through measure() and sets
# $rate and $p99 from what that printed.  The arguments of the row are in
# "${args[@]}".

# The Debian package that has command $1.
package_of()
{
	case $1 in
	nginx) echo nginx-light ;;
	ab) echo apache2-utils ;;
	redis-benchmark) echo redis-tools ;;
	mariadbd | mariadb-install-db) echo mariadb-server ;;
	node) echo nodejs ;;
	*) echo "$1" ;;
	esac
}

# ---- what the tools print ---------------------------------------------------

# word NAME FILE: the value in the last "NAME=value"
word()
{
	tr ' ' '\n' <"$2" | sed -n "s/^$1=//p" | tail -n 1
}

# In Mb/s.
read_iperf()
{
	rate=$(awk '/"sum_received"/ { here = 1 }
		here && /"bits_per_second"/ { print $2 / 1e6; exit }' \
		"$dir/client.out")
	p99=-
}

# "test","rps","avg","min","p50","p95","p99","max", in ms
read_redis()
{
	read -r rate p99 < <(tail -n 1 "$dir/client.out" | tr -d '"' |
		awk -F , '$2 > 0 { print $2, $7 }')
}

read_wrk()
{
	! grep -q '^ *Non-2xx' "$dir/client.out" || return
	read -r rate p99 < <(awk '
		$1 == "99%" { p = $2 + 0
			if ($2 ~ /[0-9]us$/) p /= 1000
			if ($2 ~ /[0-9]s$/) p *= 1000 }
		$1 == "Requests/sec:" { print $2, p }' "$dir/client.out")
}

# The file has "PERCENTAGE,MS" in a line.
read_ab()
{
	rate=$(awk '/^(Failed|Non-2xx)/ && $3 > 0 { exit }
		/^Requests per second:/ { print $4 }' "$dir/client.out")
	p99=$(awk -F , '$1 == 99 { print $2 }' "$dir/ab.csv")
}

read_sysbench()
{
	rate=$(sed -n 's/.*transactions: .*(\(.*\) per sec.*/\1/p' \
		"$dir/client.out")
	p99=$(awk '/99th percentile:/ { print $3 }' "$dir/client.out")
}

# The tree's own programs, of which $1 wrote.
read_own()
{
	rate=$(word rate "$dir/$1.out")
	p99=$(word p99 "$dir/$1.out")
}

# ---- bulk: iperf3 ------------------------------------------------------------

needs_iperf()
{
	echo iperf3
}

servers_iperf()
{
	up iperf "${server_with[@]}" iperf3 -s -1 -B "$bind" -p "$port"
}

# iperf_words [WORDS...]: sets $words
iperf_words()
{
	words=(iperf3 -J -c "$bind" -p "$port" -t "$seconds" "$@")
	[ "$omit" = 0 ] || words+=(-O "$omit")
}

client_iperf()
{
	iperf_words -P "${args[@]}"
	measure "${words[@]}" && read_iperf
}

# ---- Redis: COMMAND SIZE CONNECTIONS PIPELINE [WORDS...] ---------------------

needs_redis()
{
	echo redis-server redis-benchmark
	[[ " ${args[*]} " != *" --tls "* ]] || echo openssl
}

# A certificate that signs itself, for the rows with TLS.
certificate()
{
	[ -e "$dir/tls.crt" ] || openssl req -x509 -newkey ec -nodes -days 2 \
		-pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=noworse \
		-keyout "$dir/tls.key" -out "$dir/tls.crt" 2>/dev/null
}

servers_redis()
{
	local words=(redis-server --bind "$bind" --save '' --appendonly no
		--dir "$dir" --protected-mode no)

	if [[ " ${args[*]} " = *" --tls "* ]]; then
		certificate
		words+=(--port 0 --tls-port "$port" --tls-auth-clients no
			--tls-cert-file "$dir/tls.crt"
			--tls-key-file "$dir/tls.key"
			--tls-ca-cert-file "$dir/tls.crt")
	else
		words+=(--port "$port")
	fi
	up redis "${server_with[@]}" "${words[@]}" && fill_redis
}

# The one key that redis-benchmark asks for.  From the server's own host, so
# that the connection is none of those that are measured.
fill_redis()
{
	redis_words set "${args[1]}" 1 1 "${args[@]:4}"
	run 10 "${at[@]}" "${words[@]}" -n 1 >/dev/null 2>&1
}

# redis_words COMMAND SIZE CONNECTIONS PIPELINE [WORDS...]: sets $words
redis_words()
{
	words=(redis-benchmark -h "$bind" -p "$port" --csv -t "$1" -d "$2"
		-c "$3" -P "$4" "${@:5}")
	[[ " $* " != *" --tls "* ]] || words+=(--cacert "$dir/tls.crt")
}

# redis-benchmark runs for a number of requests, not for a time.  The number
# comes from this contender's last run.  A run that was much too short does not
# count: it shows the beginning of connections more than anything else.
client_redis()
{
	local try n least=$((20 * args[2] * args[3]))

	for try in 1 2 3 4; do
		n=${requests[$contender]:-$least}
		redis_words "${args[@]}"
		measure "${words[@]}" -n "$n" && read_redis || return
		requests[$contender]=$(aim "$least")
		if awk -v n="$n" -v r="$rate" -v s="$redis_seconds" \
			'BEGIN { exit n / r < s / 2 }'; then break; fi
	done
}

# aim LEAST: as many requests as fill the time at this rate
aim()
{
	awk -v r="$rate" -v s="$redis_seconds" -v least="$1" 'BEGIN {
		n = int(r * s)
		print (n > least ? n : least) }'
}

# ---- Redis, on the cores that the scheduler finds: the same words ------------

needs_untied()
{
	needs_redis
}

servers_untied()
{
	local on_server=()

	servers_redis
}

client_untied()
{
	local on_client=(nsenter "--net=/run/netns/$ns_a")

	client_redis
}

# ---- nginx: FILE CONNECTIONS [tls|close], by wrk; FILE CONNECTIONS, by ab ----

needs_web()
{
	echo nginx wrk
	[ "${args[2]:-}" != tls ] || echo openssl
}

needs_ab()
{
	echo nginx ab
}

web_files()
{
	[ ! -d "$dir/www" ] || return
	mkdir "$dir/www"
	head -c 1024 /dev/zero >"$dir/www/1k"
	head -c 102400 /dev/zero >"$dir/www/100k"
}

servers_web()
{
	local listen="$bind:$port" tls=''

	web_files
	if [ "${args[2]:-}" = tls ]; then
		certificate
		listen+=" ssl"
		tls="ssl_certificate $dir/tls.crt;
			ssl_certificate_key $dir/tls.key;"
	fi
	cat >"$dir/nginx.conf" <<-END
	user root;
	daemon off;
	master_process off;
	pid $dir/nginx.pid;
	error_log stderr;
	events { worker_connections 4096; }
	http {
		access_log off;
		sendfile on;
		tcp_nopush on;
		client_body_temp_path $dir/body;
		proxy_temp_path $dir/proxy;
		fastcgi_temp_path $dir/fastcgi;
		uwsgi_temp_path $dir/uwsgi;
		scgi_temp_path $dir/scgi;
		server { listen $listen backlog=4096; root $dir/www; $tls }
	}
	END
	up nginx "${server_with[@]}" nginx -e stderr -c "$dir/nginx.conf"
}

servers_ab()
{
	servers_web
}

# wrk_words URL CONNECTIONS [WORDS...]: sets $words
wrk_words()
{
	words=(wrk -t 1 -c "$2" -d "${seconds}s" --latency "${@:3}" "$1")
}

client_web()
{
	local more=() scheme=http

	case ${args[2]:-} in
	close) more=(-H "Connection: close") ;;
	tls) scheme=https ;;
	esac
	wrk_words "$scheme://$bind:$port/${args[0]}" "${args[1]}" "${more[@]}"
	measure "${words[@]}" && read_wrk
}

client_ab()
{
	rm -f "$dir/ab.csv"
	measure ab -q -r -t "$seconds" -n 500000 -c "${args[1]}" \
		-e "$dir/ab.csv" "http://$bind:$port/${args[0]}" && read_ab
}

# ---- Node: CONNECTIONS -------------------------------------------------------

needs_node()
{
	echo node wrk
}

servers_node()
{
	cat >"$dir/server.js" <<-END
	const body = Buffer.alloc(1024, 'x');
	require('http').createServer((req, res) => res.end(body))
		.listen($port, '$bind');
	END
	up node "${server_with[@]}" node "$dir/server.js"
}

client_node()
{
	wrk_words "http://$bind:$port/" "${args[0]}"
	measure "${words[@]}" && read_wrk
}

# ---- MariaDB: THREADS --------------------------------------------------------

needs_mariadb()
{
	echo mariadbd mariadb-install-db sysbench
}

# No privileges are looked up: the namespace has no other users.
mariadb_words()
{
	words=(mariadbd --no-defaults --user=root --datadir="$dir/mysql"
		--socket="$dir/mysql.sock" --pid-file="$dir/mysql.pid"
		--skip-grant-tables --skip-name-resolve
		--innodb-buffer-pool-size=64M "$@")
}

# sysbench_words COMMAND [WORDS...]: sets $words
sysbench_words()
{
	words=(sysbench oltp_point_select --mysql-user=root --tables=1
		--table-size=10000 "${@:2}" "$1")
}

# A table, once for all rows.
mariadb_table()
{
	[ ! -e "$dir/mysql.made" ] || return 0
	run 60 mariadb-install-db --no-defaults --user=root \
		--datadir="$dir/mysql" --skip-test-db \
		--auth-root-authentication-method=normal >/dev/null 2>&1
	mariadb_words --skip-networking
	start table "${words[@]}" --init-file=<(:)
	servers+=("$pid")
	wait_for 30 test -S "$dir/mysql.sock" || return
	run 10 mariadb-admin --no-defaults -S "$dir/mysql.sock" \
		create sbtest >/dev/null 2>&1
	sysbench_words prepare --mysql-socket="$dir/mysql.sock"
	run 30 "${words[@]}" >/dev/null && : >"$dir/mysql.made"
	stop_servers
	[ -e "$dir/mysql.made" ]
}

servers_mariadb()
{
	mariadb_table || return
	mariadb_words --bind-address="$bind" --port="$port"
	up mariadb "${server_with[@]}" "${words[@]}"
}

client_mariadb()
{
	sysbench_words run --mysql-host="$bind" --mysql-port="$port" \
		--mysql-ssl=off --threads="${args[0]}" --time="$seconds" \
		--percentile=99
	measure "${words[@]}" && read_sysbench
}

# ---- Memcached: SIZE CONNECTIONS ---------------------------------------------

needs_memcached()
{
	echo memcached
}

servers_memcached()
{
	up memcached "${server_with[@]}" memcached -u root -U 0 -t 1 -c 4096 \
		-l "$bind" -p "$port"
}

client_memcached()
{
	measure "$build/bench/load" --host "$bind" --port "$port" \
		--protocol memcached-get --size "${args[0]}" \
		--connections "${args[1]}" --seconds "$seconds" \
		--warm-up 0.2 && read_own client
}

# ---- a bulk flow beside an interactive one, in the same two processes --------

needs_beside()
{
	echo redis-server
}

servers_beside()
{
	up redis "${server_with[@]}" redis-server --bind "$bind" \
		--port "$port" --save '' --appendonly no --dir "$dir" \
		--protected-mode no
}

client_beside()
{
	measure "$build/bench/beside" --host "$bind" --port "$port" \
		--seconds "$seconds" --warm-up 0.3 && read_own client
}

# ---- a neighbour's bulk over the kernel: idle|busy ---------------------------

needs_neighbour()
{
	echo iperf3 redis-server
}

# The neighbour's server runs without tuxrun, whatever the contender is.
servers_neighbour()
{
	servers_beside && redis_port=$port && next_port &&
		up iperf iperf3 -s -1 -B "$bind" -p "$port"
}

# As long as iperf3 runs, one connection is silent, or four are asked 5000
# questions per second.  The rate is the neighbour's; the p99 is that of the
# connections which may be on Tux.
client_neighbour()
{
	local words load asks=(--connections 1 --quiet 60)

	[ "${args[0]}" = idle ] || asks=(--connections 4 --rate 5000
		--seconds $((seconds + omit)))
	start load "${on_client[@]}" "${client_with[@]}" "$build/bench/load" \
		--host "$bind" --port "$redis_port" --protocol redis-get \
		--size 1024 --warm-up 0.5 "${asks[@]}"
	load=$pid
	sleep 0.8
	wait_for 2 settled "$load"
	iperf_words
	measure_plain "${words[@]}" && read_iperf
	[ "${args[0]}" != idle ] || kill "$load"
	wait "$load" 2>/dev/null
	[ "${args[0]}" = idle ] || p99=$(word p99 "$dir/load.out")
}

# The neighbour's client, without tuxrun.
measure_plain()
{
	local client_with=()

	measure "$@"
}

# settled PID: it has warmed up
settled()
{
	[ "${args[0]}" = idle ] || grep -qs ^measuring "$dir/load.out" ||
		! alive "$1"
}
