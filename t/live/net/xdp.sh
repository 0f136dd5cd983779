# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # the scripts that source it use the names
#
# xdp - two hosts with nothing between them but a veth, for AF_XDP
#
#   a: veth0 10.77.0.1/24 -- veth0 10.77.0.2/24 :b
#
# Source it after t/live/net/hosts.sh, then privilege "$@", setup, pair.

# cable: the two ends, as many queues on the one as on the other
cable()
{
	ip link add veth0 netns "$ns_a" numrxqueues 2 numtxqueues 2 type veth \
		peer name veth0 netns "$ns_b" numrxqueues 2 numtxqueues 2 &&
		ip -n "$ns_a" addr add $a_addr/24 dev veth0 &&
		ip -n "$ns_b" addr add $b_addr/24 dev veth0 &&
		ip -n "$ns_a" addr add fd77::1/64 dev veth0 nodad &&
		ip -n "$ns_b" addr add fd77::2/64 dev veth0 nodad &&
		ip -n "$ns_a" link set veth0 up && ip -n "$ns_b" link set veth0 up
}

two_hosts()
{
	ns_a=$(host a) && ns_b=$(host b) && cable ||
		cannot "could not make the network namespaces"
	a=(nsenter "--net=/run/netns/$ns_a")
	b=(nsenter "--net=/run/netns/$ns_b")
	at=("${b[@]}")
	bind=$b_addr
}

pair()
{
	two_hosts
	tux=("$build/contrib/tuxrun" -i veth0 --io xdp -v)
	try_xdp
}

# attached NS: is there an XDP program on its veth0?
attached()
{
	ip -n "$1" link show veth0 2>/dev/null | grep -q 'prog/xdp'
}

both_attached()
{
	attached "$ns_a" && attached "$ns_b"
}

none_attached()
{
	! attached "$ns_a" && ! attached "$ns_b"
}

# A program that takes the interface at once shows whether that works here.
try_xdp()
{
	start try "${b[@]}" "${tux[@]}" --attach=start true
	wait "$pid" || cannot "needs AF_XDP: $(tail -n 1 "$dir/try.err")"
	redis try "${tux[@]}" --attach=start || exit 1
	wait_for 10 attached "$ns_b" ||
		cannot "needs AF_XDP, which does not work here"
	end "$pid"
}

# said WORD NAME: has a connection of program NAME given that reason?
said()
{
	grep -qs "tcp, $1: " "$dir/$2.err"
}

# moved NAME N: at least so many of its connections are, or were, on Tux
moved()
{
	[ "$(on_tux "$dir/$1.err")" -ge "$2" ]
}

# balanced NAME: program NAME has counted its frames at least once, they were all
# there each time, and none was on the way
balanced()
{
	grep -E '^tux: [^ ]*: (given back|still taken), ' "$dir/$1.err" |
		tee "$dir/count" | sed 's/^/# /'
	[ -s "$dir/count" ] &&
		! grep -qv ' held [0-9]* built [01] sent 0 missing 0,' "$dir/count"
}

# How many connections of NAME were last heard of on Tux.
on_tux_now()
{
	awk '/^tux: .* > .*: tux(;|$)/ { on[$2] = 1 }
		/^tux: .* > .*: tcp, / { on[$2] = 0 }
		END { for (c in on) k += on[c]; print k + 0 }' "$dir/$1.err"
}

# all_back NAME: all $n
all_back()
{
	[ "$(on_tux_now "$1")" = "$n" ]
}

# client NAME WORDS...: t/posix/load on host a, in the background
client()
{
	local name=$1

	shift
	start "$name" "${a[@]}" "${tux[@]}" "$load" --host $b_addr \
		--port "$port" "$@"
}

# udp_port PID WORDS...: of the loop of that process, on the host of the WORDS
udp_port()
{
	local pid=$1

	shift
	"$@" ss -Hulnp | sed -n "s/.*:\([0-9]*\) .*pid=$pid,.*/\1/p" | head -n 1
}

# How many answers the client NAME has had.
answers()
{
	awk '/^(so-far|port) / { n = $4 } END { print n + 0 }' "$dir/$1.out"
}

answered()
{
	[ "$(answers "$1")" -gt "$2" ]
}

goes_on()
{
	wait_for 10 answered "$1" "$(answers "$1")"
}

# Where processors are busy, TUX_PATH=auto leaves connections on TCP.  So other
# work on the host must not count, as far as privilege goes: sched(7), The
# autogroup feature.
undisturbed()
{
	{ echo -20 >/proc/self/autogroup; } 2>/dev/null
}

# stops NAME: ends the client whose pid is $client_pid; no connection had ended,
# no answer was wrong
stops()
{
	kill "$client_pid"
	reap "$client_pid"
	same_final "$1: all answers were right" 0 $?
	same "$1: no connection ended" 0 "$(grep -c ^ended "$dir/$1.out")"
}
