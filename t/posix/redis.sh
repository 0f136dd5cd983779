#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# redis - what people do with Redis, with Tux at the client, at the server, and
# at both

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

. "$(dirname "${BASH_SOURCE[0]}")/redis_suite.sh"
setup

# ---- servers that are clients, and demons -----------------------------------

in_step()
{
	info_is replication master_link_status up &&
		[ "$(plain debug digest)" = "$1" ]
}

replica()
{
	local master digest

	how="Tux master, Tux replica"
	redis master "${tux[@]}" || exit 1
	master=$port
	plain config set repl-diskless-sync-delay 0 >/dev/null
	# Over TCP: data to be copied, and data that is copied as it comes.
	redis-benchmark -p "$master" -t set -r 5000 -n 20000 -d 500 -q \
		>"$dir/fill.out"
	redis copy "${tux[@]}" || exit 1
	plain replicaof 127.0.0.1 "$master" >/dev/null
	digest=$(redis-cli -p "$master" debug digest)
	check_final "$how: full synchronisation" wait_for 20 in_step "$digest"
	redis-benchmark -p "$master" -t set,lpush -r 5000 -n 20000 -d 500 -q \
		>"$dir/fill.out"
	digest=$(redis-cli -p "$master" debug digest)
	check_final "$how: the stream" wait_for 20 in_step "$digest"
	plain shutdown nosave
	port=$master plain shutdown nosave
}

# It forks before it opens its sockets, and its parent goes.
demon()
{
	how="demon"
	with=("${tux[@]}")
	free_port
	run 60 "${tux[@]}" redis-server --port "$port" --bind 127.0.0.1 \
		--save '' --dir "$dir" --daemonize yes --logfile demon.log \
		--pidfile demon.pid >/dev/null 2>&1
	check "demon: listens" wait_for 10 listening "$port"
	asks "ping" PONG ping
	check_final "demon: serves" run 60 "${tux[@]}" redis-benchmark -p "$port" \
		-t get -n 20000 -q
	asks "SHUTDOWN" "" shutdown nosave
	check "demon: ends" wait_for 10 gone_file "$dir/demon.pid"
}

gone_file()
{
	[ ! -e "$1" ]
}

suite "Tux client, plain server" "${tux[*]}" ""
suite "plain client, Tux server" "" "${tux[*]}"
suite "Tux client, Tux server" "${tux[*]}" "${tux[*]}"
if [ "${tux[0]}" = env ]; then
	skip "threads of their own" "runs without tuxrun"
else
	suite "both with a thread for it" "${tux[*]} -m threads=1" \
		"${tux[*]} -m threads=1"
fi
replica
demon
finish
