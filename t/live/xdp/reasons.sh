#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# reasons - where AF_XDP cannot be had, programs run as ever, over TCP, and
# say why

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

load=$build/t/posix/load
need redis-server redis-cli redis-benchmark setpriv "$load"
privilege "$@"
setup
pair

redis server "${tux[@]}" || exit 1
server_pid=$pid

# Runs a client NAME with WORDS before tuxrun; it works, and gives reason WHY.
stays()
{
	local name=$1 why=$2

	shift 2
	start "$name" "${a[@]}" "$@" "${tux[@]}" "$load" --host $b_addr \
		--port "$port" --conns 2 --size 100 --every 100
	client_pid=$pid
	check "$name: says why" wait_for 10 said "$why" "$name"
	check "$name: works" goes_on "$name"
	stops "$name"
	check "$name: never moved" [ "$(on_tux "$dir/$name.err")" = 0 ]
}

# goes NAME: a client of which all connections move
goes()
{
	client "$1" --conns 2 --size 100 --every 100
	client_pid=$pid
	check "$1: moves" wait_for 10 moved "$1" 2
	check "$1: works" goes_on "$1"
	stops "$1"
}

# ---- privilege ---------------------------------------------------------------

stays "without privilege" no-privilege \
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all

# ---- another process ---------------------------------------------------------

client owner --conns 2 --every 100
owner_pid=$pid
check "the first process has the interface" wait_for 10 moved owner 2
stays "the second" interface-busy
check "the first goes on" goes_on owner
client_pid=$owner_pid
stops owner

# all_said WORD NAME N: have all N connections of program NAME given that reason?
# A connection before them, on which redis-benchmark asks for the configuration, may
# have given it, too.
all_said()
{
	[ "$(grep -cs "tcp, $1: " "$dir/$2.err")" -ge "$3" ]
}

# The second process of the server's host: the client hears it from that, of each
# connection, although it asks for many in one datagram.
b_left()
{
	! attached "$ns_b"
}

second_server()
{
	local holder_pid second_pid crowd_pid

	end "$server_pid"
	check "the server's interface is free" wait_for 10 b_left
	redis holder "${tux[@]}" --attach=start || exit 1
	holder_pid=$pid
	redis second "${tux[@]}" || exit 1
	second_pid=$pid
	stays "at a second server" interface-busy
	start crowd "${a[@]}" "${tux[@]}" redis-benchmark -h $b_addr \
		-p "$port" -c 20 -t get -q -n 2000000000
	crowd_pid=$pid
	check "it says so of each connection" \
		wait_for 10 all_said interface-busy crowd 20
	end "$crowd_pid"
	end "$second_pid"
	end "$holder_pid"
	check "the server's interface is free again" wait_for 10 b_left
	redis server "${tux[@]}" || exit 1
	server_pid=$pid
}

second_server

# ---- somebody else's program -------------------------------------------------

# A program of nobody we know: it passes everything.
cat >"$dir/other.c" <<'END'
#define SEC(name) __attribute__((section(name), used))
SEC("xdp") int other(void *ctx) { (void)ctx; return 2; }
char gpl[] SEC("license") = "GPL";
END
clang=$(command -v "${CLANG:-clang}") &&
	"$clang" -target bpf -O2 -c -o "$dir/other.o" "$dir/other.c"
if [ -e "$dir/other.o" ] && ip -n "$ns_a" link set veth0 xdp obj \
	"$dir/other.o" sec xdp 2>/dev/null; then
	stays "a foreign program" foreign-xdp
	check "which is still there" eval \
		'ip -n "$ns_a" link show veth0 | grep -q "name other"'
	ip -n "$ns_a" link set veth0 xdp off
else
	skip "a foreign program" "needs clang, and iproute2 with libbpf"
fi

# ---- MTU ---------------------------------------------------------------------

# The server may keep its end for longer.
left()
{
	! attached "$ns_a"
}

mtu()
{
	wait_for 10 left
	ip -n "$ns_a" link set veth0 mtu "$1" &&
		ip -n "$ns_b" link set veth0 mtu "$2"
}

check "MTU 3498" mtu 3498 3498
goes "one frame"
check "MTU 3498 here, 1500 there" mtu 3498 1500
goes "the smaller one"
check "MTU 300" mtu 300 300
stays "too short" mtu
check "MTU 1500" mtu 1500 1500
goes "as ever"

# ---- zero copy ---------------------------------------------------------------

# client NAME MODE: moves; a veth cannot do without copying
copies()
{
	tux=("$build/contrib/tuxrun" -i veth0 --io xdp -v "--zero-copy=$2")
	goes "$1"
	check "$1: it copies" grep -q '^tux: veth0: taken, queues 2 zerocopy 0,' \
		"$dir/$1.err"
	wait_for 10 left
}

refused()
{
	grep -c 'zero copy was refused' "$dir/$1.err"
}

copies "zero copy, if the driver has it" auto
same "which says that it does not" 0 "$(refused "zero copy, if the driver has it")"
copies "zero copy, in any case" on
same "which is refused" 1 "$(refused "zero copy, in any case")"

# ---- another interface -------------------------------------------------------

ip -n "$ns_a" link add other0 type veth peer name other1
ip -n "$ns_a" link set other0 up
tux=("$build/contrib/tuxrun" -i other0 --io xdp -v)
stays "another interface" other-interface

# ---- a route that encapsulates -----------------------------------------------

# An address of b that a reaches by segment routing: TCP works.  The MTU of 300
# took IPv6 away.
segments()
{
	local all

	for all in all veth0; do
		"${b[@]}" bash -c "echo 1 >/proc/sys/net/ipv6/conf/$all/seg6_enabled" ||
			return 1
	done
	ip -n "$ns_a" addr replace fd77::1/64 dev veth0 nodad &&
		ip -n "$ns_b" addr replace fd77::2/64 dev veth0 nodad &&
		ip -n "$ns_b" addr add fd78::2/128 dev veth0 nodad &&
		ip -n "$ns_a" route add fd78::2/128 encap seg6 mode inline \
			segs fd77::2 dev veth0
}

# A server at that address, and a client
by_segments()
{
	local b_addr=fd78::2 bind=fd78::2 port segments_pid

	tux=("$build/contrib/tuxrun" -i veth0 --io xdp -v)
	redis segments "${tux[@]}" || exit 1
	segments_pid=$pid
	stays "a route that encapsulates" encapsulated
	end "$segments_pid"
}

if segments 2>/dev/null; then
	by_segments
else
	skip "a route that encapsulates" "needs segment routing in the kernel"
fi

# ---- a driver without XDP ----------------------------------------------------

ip -n "$ns_a" link add link veth0 name soft0 type macvlan mode bridge &&
	ip -n "$ns_a" addr add 10.77.1.1/24 dev soft0 &&
	ip -n "$ns_a" link set soft0 up &&
	ip -n "$ns_b" addr add 10.77.1.2/24 dev veth0 || not_ok "a macvlan"
run 10 "${b[@]}" redis-cli -h $b_addr -p "$port" config set bind \
	"$b_addr 10.77.1.2" >/dev/null
tux=("$build/contrib/tuxrun" -i soft0 --io xdp -v)
b_addr=10.77.1.2
stays "a driver without XDP" no-driver

# ---- an interface that stands for others -------------------------------------

# bundle KIND: an interface of that kind named whole0 on host a, with part0 as
# its part, which leads to part0 on host b
bundle()
{
	ip -n "$ns_a" link add whole0 type "$1" 2>/dev/null || return
	ip link add part0 netns "$ns_a" numrxqueues 2 numtxqueues 2 type veth \
		peer name part0 netns "$ns_b" numrxqueues 2 numtxqueues 2 &&
		ip -n "$ns_a" link set part0 master whole0 &&
		ip -n "$ns_a" link set part0 up &&
		ip -n "$ns_a" link set whole0 up &&
		ip -n "$ns_b" link set part0 up &&
		ip -n "$ns_a" addr add 10.77.2.1/24 dev whole0 &&
		ip -n "$ns_b" addr add 10.77.2.2/24 dev part0 ||
		not_ok "could not make a $1"
}

nothing_attached()
{
	! ip -n "$ns_a" link show | grep -q 'prog/xdp'
}

end "$server_pid"
bind=10.77.2.2 b_addr=10.77.2.2
for kind in bridge bond; do
	bundle $kind || {
		skip "a $kind" "this kernel has none"
		continue
	}
	redis server "$build/contrib/tuxrun" -i part0 --io xdp || exit 1
	server_pid=$pid
	for part in whole0 part0; do
		tux=("$build/contrib/tuxrun" -i $part --io xdp -v)
		[ $kind$part != bridgepart0 ] || continue
		# Whatever it takes, it takes before it runs the program.
		start taker "${a[@]}" "${tux[@]}" --attach=start sleep 1
		wait "$pid"
		same "$part of a $kind: not taken" 0 \
			"$(grep -c ': taken' "$dir/taker.err")"
	done
	tux=("$build/contrib/tuxrun" -i whole0 --io xdp -v)
	stays "a $kind" bundled
	check "a $kind: nothing was attached" nothing_attached
	end "$server_pid"
	ip -n "$ns_a" link del part0
	ip -n "$ns_a" link del whole0
done
finish
