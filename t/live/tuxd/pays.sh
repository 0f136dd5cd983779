#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# pays - under tuxd, what a process without privilege pays for a connection
# that cannot move, and for an idle one that has moved: sockets, descriptors,
# threads and memory

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"

fork_server=$build/t/live/tuxd/fork_server
process_cost=$build/t/live/tuxd/process_cost
need "$fork_server" "$process_cost"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"
unprivileged 65533 "$cg_a"
client=("${a[@]}" "${words[@]}")
"${words[@]}" true 2>/dev/null || cannot "another user cannot run tuxrun here"
d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"

# asked WORDS...: what a client pays that has asked @server, with WORDS for
# `process_cost`
asked()
{
	free_port
	start serve "${server[@]}" "$fork_server" serve $b_addr "$port"
	server_pid=$pid
	wait_for 10 listening "$port"
	run 60 "${client[@]}" "$process_cost" $b_addr "$port" "$@" \
		>"$dir/pays.out" 2>"$dir/pays.err"
	same_final "it works" 0 $?
	end "$server_pid"
	read -r sockets fds threads kb <"$dir/pays.out"
	echo "# $sockets sockets, $fds descriptors, $threads threads, $kb KB"
}

on 65534 "$cg_b"
server=("${b[@]}" "${words[@]}")
asked
same "a peer without Tux: one socket, three descriptors" "1 3" "$sockets $fds"
same "... no thread" 0 "$threads"
check "... 24 KB at most" [ "$kb" -le 24 ]

unprivileged 65534 "$cg_b"
server=("${b[@]}" "${words[@]}")
asked 2000
same "a peer with Tux: it moves" 1 "$(on_tux "$dir/pays.err")"
same "... with the same socket, and one thread" "1 1" "$sockets $threads"

export TUX_PATH=tcp
asked 2000
same "where all is to stay on TCP: nothing" "0 0 0" "$sockets $fds $threads"

d unload >/dev/null
finish
