# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # shared with contrib/demo
#
# demo_net - where the demo's client and servers are, and who counts for them
#
# Over AF_XDP: two hosts made of network namespaces, with two cables between
# them, or with --pushdown three.  Kernel TCP has one of its own, that no XDP
# program ever comes near, for that would take its segmentation offload away.
# Each server over Tux has one, because two processes cannot share an interface.
#
#   a: veth0 10.77.0.1 -- veth0 10.77.0.2 :b    Tux
#   a: veth1 10.78.0.1 -- veth1 10.78.0.2 :b    kernel TCP
#   a: veth2 10.79.0.1 -- veth2 10.79.0.2 :b    Tux, the server linked with it
#
# Over UDP: this host, and loopback.

declare -A address=([tux]=127.0.0.1 [tcp]=127.0.0.1)
declare -A link=([linked]=veth2 [tux]=veth0 [tcp]=veth1)
from=()			# the words that put a program on the client's host
pinned=

# ---- two hosts --------------------------------------------------------------

# cable NAME NET: with as many queues at the one end as at the other
cable()
{
	local q=(numrxqueues 2 numtxqueues 2)

	ip link add "$1" netns "$ns_a" "${q[@]}" type veth \
		peer name "$1" netns "$ns_b" "${q[@]}" &&
		ip -n "$ns_a" addr add "10.$2.0.1/24" dev "$1" &&
		ip -n "$ns_b" addr add "10.$2.0.2/24" dev "$1" &&
		ip -n "$ns_a" link set "$1" up && ip -n "$ns_b" link set "$1" up
}

make_hosts()
{
	command -v ip >/dev/null && command -v nsenter >/dev/null &&
		ns_a=$(host a) && ns_b=$(host b) && cable veth0 77 &&
		cable veth1 78 &&
		{ [ "$first" != linked ] || cable veth2 79; }
}

# takes_xdp HOST LINK
takes_xdp()
{
	ip -n "$1" link show "$2" | grep -q prog/xdp
}

# Does AF_XDP work?  A server that takes the interface at once shows it.
try_xdp()
{
	redis try "${tux[@]}" --attach=start &&
		wait_for 10 takes_xdp "$ns_b" veth0 && kill "$pid" &&
		wait "$pid"
	! takes_xdp "$ns_b" veth0
}

# Sets $why_not if it cannot be had.
two_hosts()
{
	why_not="no privilege to make network namespaces"
	make_hosts 2>>"$dir/hosts.err" || return
	from=(nsenter "--net=/run/netns/$ns_a")
	at=(nsenter "--net=/run/netns/$ns_b")
	address=([linked]=10.79.0.2 [tux]=10.77.0.2 [tcp]=10.78.0.2)
	bind=${address[tux]}
	tux=("$build/contrib/tuxrun" -i veth0 --io xdp -v)
	tux_linked=("$build/contrib/tuxrun" -i veth2 --io xdp -v)
	why_not="AF_XDP does not work here"
	[ -x "$build/contrib/linkmeter" ] && try_xdp >"$dir/try" 2>&1
}

this_host()
{
	from=() at=()
	address=([tux]=127.0.0.1 [tcp]=127.0.0.1)
	tux=("$build/contrib/tuxrun" -i lo --io udp -v)
}

# Sets the words that put the server on the second core, the client on the
# first.
pin()
{
	local list core last

	mapfile -t list < <(sed -n 's/^Cpus_allowed_list:\t//p' \
		/proc/self/status | tr ',' '\n' |
		while IFS=- read -r core last; do
			seq "$core" "${last:-$core}"
		done)
	on_client=() on_server=()
	[ ${#list[@]} -ge 2 ] && command -v taskset >/dev/null || return
	on_client=(taskset -c "${list[0]}")
	on_server=(taskset -c "${list[1]}")
	pinned="server on core ${list[1]}, client on core ${list[0]}"
}

# ---- who counts -------------------------------------------------------------

# What TCP carries for Tux is counted on the link.  Kernel TCP is asked for its
# own figures: to count its packets would slow it down.
meter_words()
{
	if [ "$io" = xdp ] && [ "$1" != tcp ]; then
		meter_is=("${from[@]}" "$build/contrib/linkmeter" "${link[$1]}")
	else
		meter_is=("${at[@]}" "$build/contrib/tcpmeter" "${ports[$1]}")
	fi
}

# start_meter NAME WORDS...: sets $pid
start_meter()
{
	start "$@"
	wait_for 10 grep -qs ^ready "$dir/$1.out" ||
		give_up "no $1: $(cat "$dir/$1.err")"
}

# The packets of PATH so far: on its link, or UDP of this host.
packets()
{
	if [ "$io" = udp ]; then
		awk '/^Udp: [0-9]/ { print $5 }' /proc/net/snmp
		return
	fi
	ip -n "$ns_a" -s link show "${link[$1]}" | awk '
		hit { n += $2 } { hit = /^ *[RT]X: / } END { print n }'
}

# Kernel TCP has what it needs: segmentation offload, and no XDP on its link.
check_tcp_link()
{
	[ "$io" = xdp ] || return
	start_meter offload "${from[@]}" "$build/contrib/linkmeter" veth1
	kill "$pid"
	wait "$pid"
	grep -q 'tso=on' "$dir/offload.out" ||
		wrong "kernel TCP's link is without segmentation offload"
	! takes_xdp "$ns_a" veth1 && ! takes_xdp "$ns_b" veth1 ||
		wrong "there is XDP on kernel TCP's link"
}
