#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# xdp - the library alone over AF_XDP, between two hosts, also in builds
# with a sanitizer: bytes are right, and all frames are there in the end; those
# who do not read hold none of them, nor up the others

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

stream_peer=$build/t/live/stack/stream_peer
tux=(env)
need "$stream_peer" ip nsenter
privilege "$@"
setup
two_hosts

# carried CONNS THREADS [STUCK]: by a server and a client
carried()
{
	local server client

	rm -f "$dir/server.out"		# the last one's port
	start server "${b[@]}" "$stream_peer" serve $b_addr "$1" "$2"
	server=$pid
	wait_for 10 grep -qs '^port ' "$dir/server.out" || return 1
	port=$(sed -n 's/^port //p' "$dir/server.out")
	start client "${a[@]}" "$stream_peer" move $b_addr "$port" "$@"
	wait "$pid"
	client=$?
	[ $client = 0 ] || kill "$server"
	wait "$server"
	server=$?
	cat "$dir"/server.{out,err} "$dir"/client.{out,err}
	[ $client != 77 ] || return 77
	[ $client = 0 ] && [ $server = 0 ]
}

# carries NAME CONNS THREADS [STUCK]: a case
carries()
{
	local said rc

	said=$(carried "${@:2}")
	rc=$?
	[ $rc != 77 ] || cannot "needs AF_XDP: ${said##*cannot: }"
	carried_well "$1" $rc "$said"
}

carries "one connection, inline" 1 0
carries "several, inline" 4 0
carries "several, with a thread" 4 1

# took: how many milliseconds those not stuck needed in the last carried()
took()
{
	sed -n 's/^took \(.*\) ms/\1/p' "$dir/client.out"
}

carries "one, with a thread" 1 1
alone=$(took)
carries "one beside fifteen that nobody reads, who read at last" 16 1 15
echo "# in $(took) ms, alone in $alone"
! thorough || check "it is not held up" [ "$(took)" -le $((5 * alone + 1000)) ]
check "nothing is left" wait_for 10 none_attached
finish
