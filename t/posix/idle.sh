#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# idle - who has nothing to do costs nothing: a server with 200 connected
# clients (TUX_TEST_CONNS) on Tux, and those clients, use less than 1 % of a core

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

conns=${TUX_TEST_CONNS:-200} pings=$((100000 / conns))
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

# Times that its threads have gone to sleep so far.
naps()
{
	cat "/proc/$1"/task/*/status |
		awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n + 0 }'
}

# sleeps PID: does it use less than 1 % of a core?  A process that spins, or
# wakes all the time, does so in none of ten seconds.  Other work on the machine
# makes what an idle process does more expensive, but not in each of them.
sleeps()
{
	local try before used naps

	for try in {1..10}; do
		before=$(cpu "$1") naps=$(naps "$1")
		sleep 1		# in which a process that is busy shows it
		used=$(($(cpu "$1") - before))
		echo "$used us and $(($(naps "$1") - naps)) naps in 1 s"
		[ "$before" -gt 0 ] && [ $used -lt 10000 ] && return
	done
	return 1
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
check "all of them move to Tux" wait_for 30 all_moved
check "the server sleeps when they are quiet" sleeps "$server"
check "so do the clients" sleeps "$clients"
end "$clients"
check "the server sleeps when they have gone" sleeps "$server"
finish
