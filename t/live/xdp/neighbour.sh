#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# neighbour - bulk of another program on the link, over the kernel's TCP, has
# an interface to itself that connections on Tux gain little from; afterwards
# they have it again
#
# How much traffic is bulk, and for how long the interface is left to it, is in
# t/unit/afxdp/paths and t/unit/policy/give_way.  The rates are in thorough runs
# only.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

load=$build/t/posix/load peer=$build/t/live/api/peer
need redis-server redis-cli iperf3 ss "$load" "$peer"
privilege "$@"
setup
pair
undisturbed
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

# bulk NAME WORDS...: a neighbour's, in the background, until it is ended
bulk()
{
	start "$1" "${a[@]}" iperf3 -c $b_addr -t 3600 -f m -i 1 \
		--forceflush "${@:2}"
	bulk_pid=$pid
}

# rate NAME SECOND: waits for that second of it; sets $rate, Mb/s, the median of the
# five seconds up to it
rate()
{
	wait_for 30 grep -qs " $2\.[0-9]*-" "$dir/$1.out"
	rate=$(awk -v s="$2" '$3 ~ /^[0-9.]+-/ && $3 + 0 > s - 5 && $3 + 0 <= s {
		print int($7) }' "$dir/$1.out" | sort -n | sed -n 3p)
}

left_to_others()
{
	grep -q '^tux: veth0: left to other programs' "$dir/$1.err"
}

# ---- a busy connection and a trickle ----

beside_a_trickle()
{
	client busy --conns 8
	client_pid=$pid
	check "busy: moves" wait_for 10 moved busy 8
	bulk trickle -b 40M
	rate trickle 5
	end "$bulk_pid"
	check "busy: still attached" both_attached
	same "busy: stays" 8 "$(on_tux_now busy)"
	stops busy
}

if thorough; then
	bulk alone
	rate alone 5
	alone=$rate
	end "$bulk_pid"
	beside_a_trickle
fi

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
check "slow: moves" wait_for 20 moved slow $n
check "slow: attached" wait_for 10 both_attached
bulk neighbour
check "slow: detached during the bulk" wait_for 10 none_attached
check "slow: says so" left_to_others server
check "slow: gives the reason" wait_for 10 said gives-way slow
check "slow: goes on over TCP" counts_on slow
slow late
late_pid=$pid
check "late: the server gives the reason" wait_for 20 gave_reason server 2
check "late: goes on" counts_on late
end "$late_pid"
same_final "late: all answers were right" 0 "$(wrong late)"
if thorough; then
	check "slow: the interface is the neighbour's" none_attached
	rate neighbour 10
	check "neighbour: as without Tux ($rate of $alone Mb/s)" \
		[ "$((10 * ${rate:-0}))" -gt "$((6 * ${alone:-1000000}))" ]
fi
end "$bulk_pid"
check "slow: attached again after the bulk" wait_for 40 both_attached
check "slow: returns" wait_for 30 all_back slow
check "slow: goes on over Tux" counts_on slow
end "$client_pid"
same_final "slow: all answers were right" 0 "$(wrong slow)"

end "$server_pid"

# ---- a program of tux.h, whose connections have gone, and bulk ----

start api "${b[@]}" "$peer" serve xdp veth0 $b_addr auto
api_pid=$pid
wait_for 10 grep -qs '^port ' "$dir/api.out" || cannot "no server"
port=$(sed -n 's/^port //p' "$dir/api.out")

# asks COUNT: so many messages; sets $pid
asks()
{
	start asker "${a[@]}" "$peer" message xdp veth0 $b_addr "$port" \
		"$1" 64 1 1
}

asks 1000
reap "$pid"
same "tux.h: messages over Tux" 0 $?
asks 1000000000
check "tux.h: attached" wait_for 10 attached "$ns_b"
end "$pid"
bulk second
check "tux.h: detached" wait_for 10 none_attached
end "$bulk_pid"
end "$api_pid"

end "$sink_pid"
grep -h '^tux: veth0: ' "$dir"/*.err | sed 's/^/# /'
finish
