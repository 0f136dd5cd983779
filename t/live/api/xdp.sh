#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# xdp - one server of tux.h over AF_XDP, and at the same time clients of
# three kinds: with sockets, with sockets under tuxrun, and of tux.h; each gets
# its bytes, and the server knows which way they came; several threads of the
# server divide the queues of the interface

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

peer=$build/t/live/api/peer
bytes=100000000
need "$peer" ip nsenter
privilege "$@"
setup
pair

# goes NAME WORDS...: a client on host a, in the background
goes()
{
	local name=$1

	shift
	start "$name" "${a[@]}" "$@"
	pids[$name]=$pid
}

# ends CASE NAME: waits for that client
ends()
{
	reap "${pids[$2]}" 120
	same_final "$1" 0 $?
	tail -n 2 "$dir/$2.out" "$dir/$2.err" | sed 's/^/# /'
}

# gone PATTERN: how many connections did the server tell so of?
gone()
{
	grep -c "^gone 0 $1" "$dir/server.out"
}

declare -A pids

# server_of VERB IO INTERFACE: a server, and its port
server_of()
{
	start server "${b[@]}" "$peer" "$1" "$2" "$3" $b_addr
	server=$pid
	wait_for 10 grep -qs '^port ' "$dir/server.out" || cannot "no server"
	port=$(sed -n 's/^port //p' "$dir/server.out")
}

# server_ends CASE
server_ends()
{
	kill -TERM $server
	reap $server
	same "$1: the server ends when told" 0 $?
}

# in_parallel CASE VERB: two threads of a client, to a server like that
in_parallel()
{
	server_of "$2" xdp veth0
	goes parallel "$peer" parallel xdp veth0 $b_addr "$port" 500 64 4 100
	ends "$1: messages" parallel
	wait_for 10 eval '[ "$(gone "")" -ge 100 ]'
	server_ends "$1"
	same "$1: all were answered" 100 "$(gone ".* messages 500 500")"
}

# all_kinds VERB IO INTERFACE: clients of each kind, of a server like that
all_kinds()
{
	server_of "$@"

	goes plain "$peer" plain $b_addr "$port" $bytes
	goes tuxrun "${tux[@]}" "$peer" plain $b_addr "$port" 0
	ends "$1: sockets get every byte" plain
	check "$1: under tuxrun, they move" wait_for 30 moved tuxrun 1
	kill -TERM "${pids[tuxrun]}"
	ends "$1: and get every byte, too" tuxrun
	goes stream "$peer" stream xdp veth0 $b_addr "$port" $bytes
	ends "$1: a stream of tux.h" stream
	goes message "$peer" message xdp veth0 $b_addr "$port" 100000 64 32 1
	ends "$1: messages" message
	goes crowd "$peer" message xdp veth0 $b_addr "$port" 20 64 1 1000
	ends "$1: a thousand connections" crowd
	wait_for 10 eval '[ "$(gone "")" -ge 1004 ]'
	sed -n '1,/messages 100000/p' "$dir/server.out" | sed 's/^/# /'
	sed -n 's/^rate/# messages a second:/p' "$dir/message.out"
	same "$1: each was told gone, once" 1004 "$(gone "")"
	same "$1: one never left TCP" 1 \
		"$(gone "tcp $bytes $bytes tux 0 0 .* not-announced")"
	same "$1: two went on to Tux" 2 \
		"$(gone "tcp [0-9]* [0-9]* tux [1-9][0-9]* [1-9][0-9]* messages 0 0")"
	same "$1: messages were counted" 1 "$(gone ".* messages 100000 100000")"
	same "$1: in the crowd, too" 1000 "$(gone ".* messages 20 20")"
	server_ends "$1"
	check "$1: nothing is left" wait_for 10 none_attached
}

# has_packets NAME LOOP: has it received and sent some?
has_packets()
{
	grep "^loop $2 " "$dir/$1.out" | sed 's/^/# /'
	grep -q "^loop $2 packets [1-9][0-9]* [1-9]" "$dir/$1.out"
}

# some_moved N: at least N connections went to another loop of the server
some_moved()
{
	sed -n 's/^\(loop\|moved\)/# \1/p' "$dir/server.out" "$dir/parallel.out"
	[ "$(sed -n 's/^moved //p' "$dir/server.out")" -ge "$1" ]
}

# loops_share VERB: the first two loops have the packets, the third none
loops_share()
{
	check "$1: the first loop has packets" has_packets server 0
	check "$1: the second, too" has_packets server 1
	check "$1: the third has none" eval '! has_packets server 2'
}

all_kinds serve xdp veth0
# It has three network threads, and the interface two queues: the first thread has the
# packets of the third.
all_kinds threads xdp veth0
loops_share threads
# ... or as many as are busy: three loops are one thread's at first.  The interface is
# not named, but it is the only one.
all_kinds scaled xdp -
loops_share scaled
# An accepted connection goes to the loop that has the queue of its first packet: for half
# of them, that is another loop than accepted them.
in_parallel both two
check "both: connections went to the loop of their packets" some_moved 10
# Each thread of the client sends by a queue of its own.  In the server, one of the queues
# is that of a loop without a thread, which passes packets on.
in_parallel spare spare
check "spare: the client's first loop has packets" has_packets parallel 0
check "spare: the second, too" has_packets parallel 1
wait_for 10 none_attached
# A server that accepts by itself, and leaves the backend to the library.
all_kinds accept auto veth0
finish
