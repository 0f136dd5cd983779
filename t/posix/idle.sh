#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# idle - who has nothing to do costs nothing: a server with 200 connected
# clients (TUX_TEST_CONNS) on Tux, and those clients, use less than 1 % of a core

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

conns=${TUX_TEST_CONNS:-200} pings=$((100000 / conns)) seconds=3
load=$build/t/posix/load
need redis-server memcached "$load"
scene "$@"

# Time on a CPU of all threads so far, in microseconds; the second way counts
# in ticks of 10 ms.
cpu()
{
	if [ -e "/proc/$1/schedstat" ]; then
		cat "/proc/$1"/task/*/schedstat |
			awk '{ ns += $1 } END { printf "%.0f\n", ns / 1000 }'
	else
		awk '{ print ($14 + $15) * 10000 }' "/proc/$1/stat"
	fi
}

# sleeps PID: does it use less than 1 % of a core?
sleeps()
{
	local before used

	before=$(cpu "$1")
	sleep $seconds
	used=$(($(cpu "$1") - before))
	echo "$used us in $seconds s"
	[ "$before" -gt 0 ] && [ $used -lt $((seconds * 10000)) ]
}

ready()
{
	grep -qs '^ready' "$dir/clients.out"
}

all_moved()
{
	[ "${tux[0]}" = env ] || [ "$(on_tux "$dir/clients.err")" = $conns ]
}

redis server "${tux[@]}" || exit 1
server=$pid
check "a server that nobody called sleeps" sleeps "$server"

start clients "${a[@]}" "${tux[@]}" "$load" --host $bind --port "$port" \
	--conns $conns --pings $pings
clients=$pid
check "$conns clients connect and are served" wait_for 60 ready
check "all of them move to Tux" wait_for 10 all_moved
sleep 1
check "the server sleeps when they are quiet" sleeps "$server"
check "so do the clients" sleeps "$clients"
kill "$clients"
wait "$clients" 2>/dev/null
sleep 1
check "the server sleeps when they have gone" sleeps "$server"
finish
