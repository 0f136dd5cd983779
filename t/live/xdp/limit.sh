#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# limit - bursts near the limit: both ends move, or neither touches its
# interface; also where the ends have different MTUs

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

turns=$build/t/posix/turns
need redis-server redis-cli "$turns"
privilege "$@"
setup
pair
undisturbed
export TUX_PATH=auto

# value NAME LENGTH
value()
{
	head -c "$2" /dev/zero | tr '\0' x |
		run 10 "${b[@]}" redis-cli -h $b_addr -p "$port" -x set "$1" \
			>"$dir/set"
}

# asks COUNT NAME: on one connection, whose values are right
asks()
{
	[ "$(run 120 "${a[@]}" "${tux[@]}" "$turns" "$b_addr:$port" "$1" "$2" \
		2>"$dir/asks.err")" -gt 0 ]
}

# begin HERE THERE: a server, with these MTUs of the two ends
begin()
{
	ip -n "$ns_a" link set veth0 mtu "$1"
	ip -n "$ns_b" link set veth0 mtu "$2"
	redis server "${tux[@]}" || exit 1
	server_pid=$pid
	# With an MTU of 1500 the limit is 3578 bytes.
	value below 3200
	value beyond 4000
}

for mtus in '1500 1500' '9000 1500' '1500 9000'; do
	# shellcheck disable=SC2086 # two words
	begin $mtus
	check "$mtus: answers beyond the limit" asks 3000 beyond
	check "$mtus: no interface is taken for them" none_attached
	check "$mtus: answers below the limit" asks 20000 below
	start mover "${a[@]}" "${tux[@]}" redis-cli -h $b_addr -p "$port" \
		-r -1 -i 0.05 get below
	check "$mtus: they move" wait_for 20 moved mover 1
	end "$pid"
	end "$server_pid"
	check "$mtus: nothing is left" wait_for 10 none_attached
done
finish
