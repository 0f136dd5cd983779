#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tuxd_fork - servers that accept a connection in one process and serve it in
# another, without privilege, on two hosts

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/cgroups.sh"

heir=$build/t/live/heir
need "$heir"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"
unprivileged 65533 "$cg_a"
client=("${a[@]}" "${words[@]}")
unprivileged 65534 "$cg_b"
server=("${b[@]}" "${words[@]}")
"${words[@]}" true 2>/dev/null || cannot "another user cannot run tuxrun here"

# ---- a child for each connection ---------------------------------------------

# asked NAME CONNECTIONS SERVER-WORDS: starts such a server, and asks it
asked()
{
	free_port
	# shellcheck disable=SC2086 # words
	start serve "${server[@]}" "$heir" serve $b_addr "$port" $3
	server_pid=$pid
	wait_for 5 listening "$port"
	run 60 "${client[@]}" "$heir" ask $b_addr "$port" "$2" 400 \
		>"$dir/ask.out" 2>"$dir/ask.err"
	same "$1: each byte comes back" 0 $?
}

# Without tuxd.
asked "no tuxd" 4 ''
same "no tuxd: none moves" "0 0" \
	"$(on_tux "$dir/ask.err") $(on_tux "$dir/serve.err")"
end "$server_pid"

d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"
asked "a child serves" 16 ''
same "a child serves: all move" "16 16" \
	"$(on_tux "$dir/ask.err") $(on_tux "$dir/serve.err")"
end "$server_pid"

asked "the parent keeps it" 4 keep
same "the parent keeps it: none moves" "0 0" \
	"$(on_tux "$dir/ask.err") $(on_tux "$dir/serve.err")"
end "$server_pid"

# ---- PostgreSQL ----------------------------------------------------------------

postgres()
{
	local bin

	bin=$(pg_config --bindir 2>/dev/null) ||
		bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
	[ -x "$bin/initdb" ] && [ -x "$bin/postgres" ] || return 1
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	"${as[@]}" "$bin/initdb" -N -A trust -U postgres -D "$dir/data" \
		>"$dir/initdb.out" 2>&1 || return 1
	echo "host all all 10.77.0.0/24 trust" >>"$dir/data/pg_hba.conf"
	free_port
	start postgres "${server[@]}" "$bin/postgres" -D "$dir/data" \
		-h $b_addr -p "$port" -k "$dir" -c fsync=off
	server_pid=$pid
	wait_for 20 answers
}

answers()
{
	"${b[@]}" pg_isready -q -h $b_addr -p "$port"
}

bench()
{
	"${a[@]}" "${@:2}" pgbench -h $b_addr -p "$port" -U postgres \
		"${words_bench[@]}" postgres >"$dir/$1.out" 2>"$dir/$1.err"
}

if ! command -v pgbench >/dev/null; then
	skip "PostgreSQL" "needs postgresql"
elif ! postgres; then
	skip "PostgreSQL" "it does not start here"
else
	words_bench=(-i -q)
	bench init || not_ok "PostgreSQL: tables" "$(cat "$dir/init.err")"
	on 65533 "$cg_a"
	words_bench=(-n -S -c 16 -T 3)
	bench select "${words[@]}" "$build/contrib/tuxrun" -v
	same "PostgreSQL, -S: it works" 0 $?
	check "... no transaction fails" \
		grep -q "failed transactions: 0 " "$dir/select.out"
	check "... its backends' connections move" moved select 16
	words_bench=(-n -c 8 -T 3)
	bench tpcb "${words[@]}" "$build/contrib/tuxrun" -v
	same "PostgreSQL, like TPC-B: it works" 0 $?
	check "... its backends' connections move" moved tpcb 8
	sed -n 's/^tps = /# tps /p' "$dir/select.out" "$dir/tpcb.out"

	# A fast shutdown ends the backends in their handlers.
	words_bench=(-n -S -c 16 -T 20)
	bench ends "${words[@]}" "$build/contrib/tuxrun" -v &
	bench_pid=$!
	wait_for 10 moved ends 16
	began=$(now)
	kill -INT "$server_pid"
	wait "$server_pid"
	same "a fast shutdown under load" 0 $?
	wait "$bench_pid"
	check "... ends the clients" [ $(($(now) - began)) -lt 10000 ]
	check "... with its word" grep -q "terminating connection" \
		"$dir/ends.err"
fi

d unload >/dev/null
finish
