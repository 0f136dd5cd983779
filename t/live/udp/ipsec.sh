#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ipsec - what IPsec protects or blocks stays on TCP: connections do not move
# where a policy selects them, they come back when one appears, and no datagram
# is on the wire from then on
#
# The policies protect what they select only if there are keys.  There are none,
# so TCP goes in clear where it may, and UDP is dropped where it may not.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

load=$build/t/posix/load
need redis-server redis-cli "$load" "$forwarder" ip nsenter
privilege "$@"
setup
hosts
ip -n "$ns_a" xfrm policy add src $a_addr dst $b_addr dir out 2>/dev/null ||
	cannot "needs IPsec (CONFIG_XFRM_USER)"
ip -n "$ns_a" xfrm policy flush
wire
[ "$io" != xdp ] || try_xdp

# policy HOST DIR FROM TO WORDS...: adds one
policy()
{
	ip -n "$1" xfrm policy add dir "$2" src "$3" dst "$4" "${@:5}"
}

# both WORDS...: the same policy in both directions on both hosts.  TMPL stands
# for a template, which keys would fit if there were some; USE for one that does
# without.
both()
{
	local words=() from to host dir esp w

	for w in "$ns_a out $a_addr $b_addr" "$ns_a in $b_addr $a_addr" \
		"$ns_b out $b_addr $a_addr" "$ns_b in $a_addr $b_addr"; do
		read -r host dir from to <<<"$w"
		esp="tmpl src $from dst $to proto esp mode transport"
		read -ra words <<<"$*"
		words=("${words[@]/#TMPL/$esp level required}")
		words=("${words[@]/#USE/$esp level use}")
		# shellcheck disable=SC2068 # they are words
		policy "$host" "$dir" "$from" "$to" ${words[@]} || return 1
	done
}

none()
{
	ip -n "$ns_a" xfrm policy flush && ip -n "$ns_b" xfrm policy flush
}

# dark: from now on UDP does not pass, but is counted; light: it passes again.
# Sets $count.
dark()
{
	wire
	kill -USR1 "$wire_pid"
}

light()
{
	cut >"$dir/cut"
	counted blackholed
	wire
}

n=4 ends=2

# A client NAME, with $client_pid
client_runs()
{
	client "$1" --conns $n --size 300 --every 50
	client_pid=$pid
}

# How often program NAME has said that IPsec is the reason.
refusals()
{
	grep -c 'tcp, ipsec: ' "$dir/$1.err"
}

refused()
{
	[ "$(refusals "$1")" -gt "$2" ]
}

# stays NAME [server]: under the policies there are, no connection moves, as the
# client says, or the server.  Without policies, an end still asks for the path,
# so datagrams are only counted where both ends have them.
stays()
{
	local by=${2:-$1} before=0

	[ $# = 1 ] || before=$(refusals "$by")
	dark
	client_runs "$1"
	check "$1: says why" wait_for 10 refused "$by" "$before"
	check "$1: works" goes_on "$1"
	sleep 0.5		# for a datagram that should not come
	stops "$1"
	light
	same "$1: never moved" 0 "$(on_tux "$dir/$1.err")"
	[ "$ends" = 1 ] || same "$1: no datagram on the wire" 0 "$count"
	check "$1: over" none
}

# moves NAME: under the policies there are, all connections do
moves()
{
	client_runs "$1"
	check "$1: moves" wait_for 10 moved "$1" $n
	check "$1: works" goes_on "$1"
	stops "$1"
	check "$1: over" none
}

redis server "${tux[@]}" || exit 1
server_pid=$pid

moves "no policy"

# ---- policies that are there before the connection ---------------------------

check "a policy for TCP" both proto tcp USE
stays "TCP protected"
check "a policy for another port" both proto tcp dport 1 USE
moves "another port"
check "a policy that lets pass" both proto tcp
moves "let pass"
ends=1
check "a policy for the port alone" policy "$ns_a" out $a_addr $b_addr \
	proto tcp dport "$port" tmpl src $a_addr dst $b_addr proto esp \
	mode transport level use
stays "one port, at one end"
check "a policy in" policy "$ns_b" in $a_addr $b_addr proto tcp \
	tmpl src $a_addr dst $b_addr proto esp mode transport level use
stays "inwards, at the other end" server
ends=2

# Nothing runs the server's loop while it has no connection.  What has changed
# until the next one comes counts for that: a client that is refused first may
# not ask again.
before=$(refusals server)
kill -STOP "$server_pid"
client_runs "policies gone"
sleep 0.3		# or it connects only when the server goes on
kill -CONT "$server_pid"
check "policies gone: moves" wait_for 10 moved "policies gone" $n
same "policies gone: not refused first" "$before" "$(refusals server)"
stops "policies gone"

if [ "$io" = xdp ]; then
	check "a policy for UDP" both proto udp TMPL
	stays "UDP protected"
	check "a policy that blocks UDP" both proto udp action block
	stays "UDP blocked"
	check "a policy for all" both USE
	stays "all protected"
else
	# The kernel does to datagrams what it does to TCP.
	check "a policy for all" both USE
	moves "all protected"
fi

# ---- policies that appear ----------------------------------------------------

none_on_tux()
{
	[ "$(on_tux_now "$1")" = 0 ]
}

client_runs client
check "a client moves" wait_for 10 moved client $n
check "a policy appears" both proto tcp USE
check "all are back" wait_for 10 none_on_tux client
check "they say why" said ipsec client
# The first seconds are for those that were on their way, or the server's.
for _ in {1..10}; do
	dark
	goes_on client
	sleep 1
	light
	[ "$count" != 0 ] || break
done
same "no datagram on the wire" 0 "$count"
check "the client goes on" goes_on client
check "the policy goes" none
check "all are on Tux again" wait_for 30 all_back client
check "the client goes on" goes_on client
if [ "$io" = xdp ]; then
	check "packets are blocked by default" \
		ip -n "$ns_a" xfrm policy setdefault out block
	check "they are back" wait_for 10 none_on_tux client
	check "they are not any more" \
		ip -n "$ns_a" xfrm policy setdefault out accept
	check "they are on Tux again" wait_for 30 all_back client
fi
stops client
end "$server_pid"
finish
