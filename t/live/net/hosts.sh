# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # the scripts that source it use the names
#
# hosts - two hosts and a wire between them: network namespaces a and b, and m
# in the middle, where t/live/net/forwarder carries every frame
#
#   a: veth0 10.77.0.1/24 -- a0 :m: b0 -- veth0 10.77.0.2/24 :b
#            fd77::1/64                         fd77::2/64
#
# Source it after t/posix/lib.sh, then privilege "$@", setup, hosts, wire.

a_addr=10.77.0.1 b_addr=10.77.0.2 a_addr6=fd77::1 b_addr6=fd77::2
ns_a='' ns_b='' ns_m=''	# what the namespaces are called
a=() m=() b=()		# the words that put a program there
forwarder=$build/t/live/net/forwarder
io=${TUX_TEST_IO:-udp}	# the backend that tuxrun is told to use
wire_pid=

# Whoever is not root is root in a user namespace of their own, where allowed.
privilege()
{
	need ip nsenter
	if ip netns add "tux-try-$$" 2>/dev/null; then
		ip netns del "tux-try-$$"
	elif [ -z "${TUX_UNSHARED:-}" ] && unshare -Urnm true 2>/dev/null; then
		# shellcheck disable=SC2016 # for the other shell
		TUX_UNSHARED=1 exec unshare -Urnm bash -c \
			'mount -t tmpfs tmpfs /run && exec bash "$@"' \
			unshared "$0" "$@"
	else
		cannot "needs the privilege to make network namespaces"
	fi
}

# host NAME: a namespace; prints what it is called.  One of the name is that of
# a process that had this number and was killed.
host()
{
	local ns=tux-$$-$1

	echo "$ns" >>"$dir/namespaces"		# first: it may be killed
	[ ! -e "/run/netns/$ns" ] || ip netns del "$ns"
	ip netns add "$ns" || return 1
	ip -n "$ns" link set lo up
	echo "$ns"
}

# join MIDDLE HOST END ADDRESS [NAME]: the host's NAME (veth0), whose other end is
# in the middle
join()
{
	local name=${5:-veth0}

	ip -n "$2" link add "$name" type veth peer name "$3" netns "$1" &&
		ip -n "$2" addr add "$4/24" dev "$name" &&
		ip -n "$2" link set "$name" gso_max_segs 1 up &&
		ip -n "$1" link set "$3" addrgenmode none up
}

hosts()
{

	ns_a=$(host a) && ns_b=$(host b) && ns_m=$(host m) &&
		join "$ns_m" "$ns_a" a0 $a_addr &&
		join "$ns_m" "$ns_b" b0 $b_addr &&
		ip -n "$ns_a" addr add $a_addr6/64 dev veth0 nodad &&
		ip -n "$ns_b" addr add $b_addr6/64 dev veth0 nodad ||
		cannot "could not make the network namespaces"
	a=(nsenter "--net=/run/netns/$ns_a")
	b=(nsenter "--net=/run/netns/$ns_b")
	m=(nsenter "--net=/run/netns/$ns_m")
	at=("${b[@]}")
	bind=$b_addr
	[ -n "${TUXRUN+set}" ] || tux=("$build/contrib/tuxrun" -i veth0
		--io "$io" -v)
}

wire_up()
{
	grep -qs '^ready' "$dir/wire.out" || ! alive "$wire_pid"
}

# wire OPTIONS...: the forwarder, anew if there is one
wire()
{
	local keep=${pid:-}

	[ -z "$wire_pid" ] || cut
	start wire "${m[@]}" "$forwarder" a0 b0 "$@"
	wire_pid=$pid pid=$keep
	wait_for 10 wire_up
	alive "$wire_pid" || cannot "no forwarder: $(cat "$dir/wire.err")"
}

# Ends the forwarder, and shows what it did.
cut()
{
	end "$wire_pid"
	wire_pid=
	sed 's/^/# /' "$dir/wire.out"
}

# carried_well NAME RC SAID: a case for how t/live/stack/stream_peer has ended.
# That all is late may be why it did not move, or went back.
carried_well()
{
	if [ "$2" = 0 ]; then
		ok "$1"
	elif grep -q -e 'never moved' -e 'went back to TCP' <<<"$3"; then
		not_ok "$1" "$3"
	else
		final "$1" "$3"
	fi
}

# Sets in $count what the wire did to packets, both directions: counted WORD
counted()
{
	count=$(tr ' ' '\n' <"$dir/wire.out" |
		awk -v w="$1" 'hit { n += $1 } { hit = $1 == w }
			END { print n + 0 }')
}

# hub: instead of the forwarder, a bridge in the middle that floods, and a third
# host c at it, which hears all.  Sets $ns_c, $c.
hub()
{
	local port

	ns_c=$(host c) && join "$ns_m" "$ns_c" c0 10.77.0.3 &&
		ip -n "$ns_m" link add hub type bridge ageing_time 0 \
			mcast_snooping 0 || cannot "could not make a bridge"
	for port in a0 b0 c0; do
		ip -n "$ns_m" link set "$port" master hub
	done
	ip -n "$ns_m" link set hub addrgenmode none up
	c=(nsenter "--net=/run/netns/$ns_c")
}

# few_ports FIRST LAST: clients on a get these ports, again and again, at once.
# shellcheck disable=SC2016 # for the other shell
few_ports()
{
	"${a[@]}" sh -c 'cd /proc/sys/net/ipv4 &&
		echo "$1 $2" >ip_local_port_range && echo 1 >tcp_tw_reuse' \
		sh "$1" "$2" || cannot "cannot set the range of ports"
}
