# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034 # names of lib.sh and of its users
#
# duel - a client on one core asks a server on another
#
# Two hosts have two cables between them: veth1 for kernel TCP, which no XDP program ever
# sees, and veth0 for AF_XDP.
#
# Source it after bench/lib.sh.  The script sets:
#   mtu            of both cables
#   seconds warmup that each run is measured, and before that
#   contender      the name of the contender; with one that begins with "tux-",
#                  connections have to be on Tux
#   conns          connections of the client
# and may set:
#   limit          seconds that a client may take to begin
#   move_limit     seconds that connections may take to move to Tux
#   amid           a command that runs while the client measures

limit=120 move_limit=30

# ---- hosts and cores -------------------------------------------------------

set_mtu()
{
	local ns

	mtu=$1
	for ns in "$ns_a" "$ns_b"; do
		ip -n "$ns" link set veth0 mtu "$mtu" &&
			ip -n "$ns" link set veth1 mtu "$mtu" ||
			cannot "could not set the MTU to $mtu"
	done
}

make_hosts()
{
	ns_a=$(host a) && ns_b=$(host b) && cable veth0 77 && cable veth1 78 &&
		set_mtu "$mtu" ||
		cannot "could not make the network namespaces"
	at=(nsenter "--net=/run/netns/$ns_b")
}

# Sets the words that put the client and the server on a core each.
pin()
{
	local list core last

	mapfile -t list < <(processors)
	[ ${#list[@]} -ge 2 ] || cannot "needs two cores"
	on_client=(nsenter "--net=/run/netns/$ns_a" taskset -c "${list[0]}")
	server_core=${list[1]}
	on_server=(taskset -c "$server_core")
	cpu_of=()
	for core in "${list[@]:0:2}"; do
		last=$(pid_of "ksoftirqd/$core")
		cpu_of+=(${last:+--cpu-of "$last"})
	done
}

pid_of()
{
	local p

	for p in /proc/[0-9]*; do
		[ "$(cat "$p/comm" 2>/dev/null)" != "$1" ] ||
			echo "${p#/proc/}"
	done
}

raw_ready()
{
	ip -n "$ns_b" link show veth0 | grep -q prog/xdp || ! alive "$server"
}

# The limit: AF_XDP with nothing above it.
start_raw()
{
	start server "${at[@]}" "${on_server[@]}" "$build/bench/raw" --server \
		--interface veth0 --local 10.77.0.2 --peer 10.77.0.1 --spin
	server=$pid
	wait_for 10 raw_ready && alive "$server"
}

# Does AF_XDP work here?  The server of the limit shows it.
try_xdp()
{
	start_raw || cannot "needs AF_XDP: $(tail -n 1 "$dir/server.err")"
	stop_server
}

stop_server()
{
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	wait_for 10 free_of_xdp
}

# linked SERVER DIRECTORY: sets $built: where it is linked with libtux, or is built
# now.  If that fails, sets $why.
linked()
{
	built=${2:-$dir/$1}/$1
	[ -n "$2" ] || TUX_BUILD=$build "$src/contrib/$1/build" "$dir/$1" \
		>"$dir/build.log" 2>&1 && return
	why="cannot build $1: $(grep -m 1 -E 'error:|\*\*\*' "$dir/build.log" ||
		tail -n 1 "$dir/build.log")"
	return 1
}

# ---- was it what it says? --------------------------------------------------

# field NAME: of what the client printed
field()
{
	tr ' ' '\n' <"$dir/client.out" | sed -n "s/^$1=//p" | tail -n 1
}

# Segments that the client's kernel has sent.
segments()
{
	nsenter "--net=/run/netns/$ns_a" awk '/^Tcp: [0-9]/ { print $12 }' \
		/proc/net/snmp
}

# How many connections were last heard of on Tux.
stayed_on_tux()
{
	awk '/^tux: .* > .*: tux$/ { on[$2] = 1 }
		/^tux: .* > .*: tcp, / { on[$2] = 0 }
		END { for (c in on) n += on[c]; print n + 0 }' "$dir/client.err"
}

# What libtux says, and what the kernel knows: each connection is on Tux in the
# end, and TCP did not carry the operations.
really_tux()
{
	local n ops

	n=$(field moved)
	[ -n "$n" ] || n=$(stayed_on_tux)
	if [ "$n" -lt "$conns" ]; then
		echo "$n of $conns connections on Tux: $(on_tcp \
			"$dir/client.err" | head -n 1)"
		return 1
	fi
	ops=$(field ops)
	if [ "$segments" -gt $((10 * conns + ops / 100)) ]; then
		echo "TCP sent $segments segments for $ops operations"
		return 1
	fi
}

# ---- the client ------------------------------------------------------------

measuring()
{
	grep -qs ^measuring "$dir/client.out" || ! alive "$client"
}

all_on_tux()
{
	[ "$(stayed_on_tux)" -ge "$conns" ] || ! alive "$client"
}

# What is measured is Tux, not the way there: the client goes on warming up
# until all its connections have moved, and a moment more.  A client that has the
# library linked in waits by itself.
let_go()
{
	[[ $contender != tux-* || " $* " = *" --transport "* ]] ||
		wait_for $move_limit all_on_tux
	sleep 0.1
	: >"$dir/go"
}

# play_client WORDS...: the client, to its end, in the background and waited for, so
# that signals are heard.  Sets $segments: how many TCP sent while it measured.  "--go
# $dir/go" should be among the words.  Returns its status.
play_client()
{
	local before rc

	rm -f "$dir/go"
	start client "${on_client[@]}" "$@"
	client=$pid
	let_go "$@"
	wait_for $limit measuring
	before=$(segments)
	[ -z "${amid:-}" ] || $amid
	wait "$client"
	rc=$?
	segments=$(($(segments) - before))
	return $rc
}
