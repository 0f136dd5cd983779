#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# forwarder - does the wire between two hosts do what it is told, and no more?
# Without Tux: numbered UDP datagrams, and values over TCP.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"

probe=$build/t/live/net/probe
values=$build/t/posix/values
n=10000
need redis-server taskset "$probe" "$values" "$forwarder"
privilege "$@"
setup
hosts

# A process that moves to the other CPU overtakes itself on a veth.
stay=(taskset -c "$(sed -n 's/^Cpus_allowed_list:\t\([0-9]*\).*/\1/p' \
	/proc/self/status)")
m+=("${stay[@]}")

listens()
{
	grep -qs ^ready "$dir/probe.out"
}

# measure SECONDS [N]: sets $got, $distinct ... to what arrived of n datagrams,
# until N have, or none has for so long
measure()
{
	local listener

	start probe "${b[@]}" "$probe" listen $b_addr 4000 "$@"
	listener=$pid
	wait_for 10 listens
	"${a[@]}" "${stay[@]}" "$probe" send $b_addr 4000 $n 20
	wait "$listener"
	read -r _ got _ distinct _ doubled _ late _ wrong \
		< <(grep ^got "$dir/probe.out")
	echo "# got $got distinct $distinct doubled $doubled late $late \
wrong $wrong"
}

# between NAME LOW HIGH GOT
between()
{
	check "$1: $4, of $2 to $3" [ "$4" -ge "$2" -a "$4" -le "$3" ]
}

round_trip()
{
	run 120 "${a[@]}" "$values" write --host $b_addr --port "$port" \
		--n 300 --max 200000 &&
		run 120 "${a[@]}" "$values" read --host $b_addr \
			--port "$port" --n 300 --max 200000
}

wire
measure 10 $n
same "a good wire loses nothing" $n "$distinct"
same "and changes nothing" "0 0" "$doubled $wrong"
same "and keeps the order" 0 "$late"

wire --seed 3 --loss 0.02 --dup 0.03 --reorder 0.05 --corrupt 0.04 --udp-only
measure 5
between "lost, of $n" $((n * 15 / 1000)) $((n * 70 / 1000)) \
	$((n - distinct))
between "doubled" $((n * 25 / 1000)) $((n * 35 / 1000)) "$doubled"
between "late" $((n * 35 / 1000)) $((n * 55 / 1000)) "$late"
between "with a wrong bit" $((n * 30 / 1000)) $((n * 45 / 1000)) "$wrong"
redis server || exit 1
check_final "TCP passes unharmed" round_trip
cut
counted unharmed
check "all of it" [ "$count" -gt 1000 ]

wire --loss 0.01 --delay 500 --jitter 500 --reorder 0.01
check_final "TCP gets over 1 % loss on everything" round_trip
cut
counted lost
check "there was some: $count packets" [ "$count" -gt 5 ]

wire
kill -USR1 "$wire_pid"
measure 2		# for one that should not come
same "a blackhole lets no UDP through" 0 "$got"
check_final "but TCP" round_trip
kill -USR1 "$wire_pid"
measure 10 $n
same "and ends" $n "$distinct"
finish
