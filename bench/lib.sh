# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # what t/posix/lib.sh and hosts.sh set
#
# lib - what benchmarks between two hosts share; source it after
# t/live/net/hosts.sh

# Those that we may use, one in a line.
processors()
{
	local first last

	sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status | tr ',' '\n' |
		while IFS=- read -r first last; do
			seq "$first" "${last:-$first}"
		done
}

# cable NAME NET: veth NAME from host a, 10.NET.0.1, to host b, 10.NET.0.2
cable()
{
	local q=(numrxqueues 2 numtxqueues 2)

	ip link add "$1" netns "$ns_a" "${q[@]}" type veth \
		peer name "$1" netns "$ns_b" "${q[@]}" &&
		ip -n "$ns_a" addr add "10.$2.0.1/24" dev "$1" &&
		ip -n "$ns_b" addr add "10.$2.0.2/24" dev "$1" &&
		ip -n "$ns_a" link set "$1" up && ip -n "$ns_b" link set "$1" up
}

free_of_xdp()
{
	! ip -n "$ns_a" link show veth0 | grep -q prog/xdp &&
		! ip -n "$ns_b" link show veth0 | grep -q prog/xdp
}
