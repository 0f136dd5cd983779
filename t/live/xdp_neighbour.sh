#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# xdp_neighbour - bulk of another program on the link, over the kernel's TCP, has
# an interface to itself that connections on Tux gain little from; afterwards
# they have it again

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/xdp.sh"

load=$build/t/posix/load peer=$build/t/live/api_peer
need redis-server redis-cli iperf3 ss "$load" "$peer"
privilege "$@"
setup
pair
export TUX_PATH=auto

redis server "${tux[@]}" || exit 1
server_pid=$pid
start sink "${b[@]}" iperf3 -s -B $b_addr
sink_pid=$pid

sink_up()
{
	"${b[@]}" ss -Hltn "sport = :5201" | grep -q .
}

wait_for 10 sink_up || cannot "iperf3 does not listen"

# bulk NAME SECONDS: a neighbour's, in the background
bulk()
{
	start "$1" "${a[@]}" iperf3 -c $b_addr -t "$2" -f m -i 1
	bulk_pid=$pid
}

# rate NAME SECOND: Mb/s in that second of it
rate()
{
	awk -v s="$2" '$3 ~ "^" s "[.]" { print int($7); exit }' "$dir/$1.out"
}

left_to_others()
{
	grep -q '^tux: veth0: left to other programs' "$dir/$1.err"
}

bulk alone 3
wait "$bulk_pid"
alone=$(rate alone 1)

# ---- a busy connection and a trickle ----

client busy --conns 8
client_pid=$pid
check "busy: moves" wait_for 10 moved busy 8
start trickle "${a[@]}" iperf3 -c $b_addr -t 5 -b 40M
wait "$pid"
check "busy: still attached" both_attached
same "busy: stays" 8 "$(on_tux_now busy)"
stops busy

# ---- a slow connection and bulk ----

# A counter of its own: each answer is one more than the one before.
slow()
{
	start "$1" "${a[@]}" "${tux[@]}" redis-cli -h $b_addr -p "$port" \
		-r -1 -i 0.05 incr "$1"
}

counted_on()
{
	[ "$(wc -l <"$dir/$1.out")" -gt "$2" ]
}

counts_on()
{
	wait_for 10 counted_on "$1" "$(wc -l <"$dir/$1.out")"
}

# How many answers of NAME are not the ones expected.
wrong()
{
	awk '$1 != NR { n++ } END { print n + 0 }' "$dir/$1.out"
}

# gave_reason NAME N: for so many of its connections
gave_reason()
{
	[ "$(grep -c 'tcp, gives-way: ' "$dir/$1.err")" -ge "$2" ]
}

n=1
slow slow
client_pid=$pid
check "slow: moves" wait_for 10 moved slow $n
check "slow: attached" both_attached
bulk neighbour 12
check "slow: detached soon" wait_for 10 none_attached
check "slow: says so" left_to_others server
check "slow: gives the reason" wait_for 10 said gives-way slow
check "slow: goes on over TCP" counts_on slow
slow late
late_pid=$pid
check "late: the server gives the reason" wait_for 10 gave_reason server 2
same "late: stays on TCP" 0 "$(on_tux_now late)"
check "late: goes on over TCP" counts_on late
end "$late_pid"
check "slow: the interface is the neighbour's" none_attached
wait "$bulk_pid"
rate=$(rate neighbour 10)
check "neighbour: as without Tux ($rate of $alone Mb/s)" \
	[ "$((10 * rate))" -gt "$((6 * ${alone:-1000000}))" ]
check "slow: attached again" wait_for 20 both_attached
check "slow: returns" wait_for 15 all_back slow
check "slow: goes on over Tux" counts_on slow
end "$client_pid"
same "slow: all answers were right" 0 "$(wrong slow)"

end "$server_pid"

# ---- a program of tux.h, whose connections have gone, and bulk ----

start api "${b[@]}" "$peer" serve xdp veth0 $b_addr auto
api_pid=$pid
wait_for 10 grep -qs '^port ' "$dir/api.out" || cannot "no server"
"${a[@]}" "$peer" message xdp veth0 $b_addr \
	"$(sed -n 's/^port //p' "$dir/api.out")" 1000 64 1 1 >"$dir/asker.out"
same "tux.h: messages over Tux" 0 $?
check "tux.h: attached" attached "$ns_b"
bulk second 4
check "tux.h: detached soon" wait_for 10 none_attached
wait "$bulk_pid"
end "$api_pid"

end "$sink_pid"
grep -h '^tux: veth0: ' "$dir"/*.err | sed 's/^/# /'
finish
