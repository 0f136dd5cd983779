#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# fork - servers that accept a connection in one process and serve it in
# another, without privilege, on two hosts

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"

fork_server=$build/t/live/tuxd/fork_server
need "$fork_server" "$build/t/live/tuxd/peer" "$build/t/posix/heirs"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"
unprivileged 65533 "$cg_a"
client=("${a[@]}" "${words[@]}")
unprivileged 65534 "$cg_b"
server=("${b[@]}" "${words[@]}")
"${words[@]}" true 2>/dev/null || cannot "another user cannot run tuxrun here"

# ---- a child for each connection ---------------------------------------------

# asked NAME CONNECTIONS SERVER-WORDS MOVE: starts such a server, and asks it
# until so many have moved
asked()
{
	free_port
	# shellcheck disable=SC2086 # words
	start serve "${server[@]}" "$fork_server" serve $b_addr "$port" $3
	server_pid=$pid
	wait_for 10 listening "$port"
	rm -f "$dir/moved"
	start ask "${client[@]}" "$fork_server" ask $b_addr "$port" "$2" 400 \
		"$dir/moved"
	wait_for 10 move_at_both ask serve "$4"
	: >"$dir/moved"
	reap "$pid" 70
	same_final "$1: each byte comes back" 0 $?
}

# moved_n NAME N: so many of its connections have, at each end
moved_n()
{
	wait_for 10 move_at_both ask serve "$2"
	same "$1" "$2 $2" "$(on_tux "$dir/ask.err") $(on_tux "$dir/serve.err")"
}

if without_tuxd "no tuxd"; then
	asked "no tuxd" 4 '' 0
	moved_n "no tuxd: none moves" 0
	end "$server_pid"
fi

d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"
asked "a child serves" 16 '' 16
moved_n "a child serves: all move" 16
end "$server_pid"

asked "the parent keeps it" 4 keep 0
moved_n "the parent keeps it: none moves" 0
end "$server_pid"

run 300 "${server[@]}" -i lo "$build/t/posix/heirs" counted \
	>"$dir/heirs.out" 2>"$dir/heirs.err"
check_final "on loopback, processes that are killed, or ran another program" \
	sh -c 'cat "$1"; exit "$0"' $? "$dir/heirs.out"

d unload >/dev/null
finish
