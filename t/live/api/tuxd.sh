#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tuxd - programs of tux.h that leave the backend to the library, without
# privilege: under tuxd their connections move over UDP, with a key; without it
# they stay on TCP

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"

peer=$build/t/live/api/peer
bytes=20000000
need "$peer"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"
on 65533 "$cg_a"
client=("${a[@]}" "${words[@]}")
on 65534 "$cg_b"
server=("${b[@]}" "${words[@]}")
"${words[@]}" "$peer" 2>/dev/null
[ $? = 2 ] || cannot "another user cannot run the programs here"

# serve VERB: a server, which accepts by itself or not
serve()
{
	start server "${server[@]}" "$peer" "$1" auto veth0 $b_addr
	server_pid=$pid
	wait_for 10 grep -qs '^port ' "$dir/server.out" || cannot "no server"
	port=$(sed -n 's/^port //p' "$dir/server.out")
}

# ask NAME: a client of tux.h, which goes on until some bytes went over Tux
ask()
{
	run 60 "${client[@]}" "$peer" stream auto veth0 $b_addr "$port" $bytes \
		>"$dir/stream.out" 2>"$dir/stream.err"
	same_final "$1: a stream moves, and has every byte" 0 $?
	run 60 "${client[@]}" "$peer" message auto veth0 $b_addr "$port" 1000 \
		64 8 20 >"$dir/message.out" 2>"$dir/message.err"
	same_final "$1: messages of 20 connections" 0 $?
	check "$1: no program on an interface" none_attached
}

both()
{
	serve "$1"
	ask "$1"
	wait_for 10 eval '[ "$(grep -c "^gone 0 " "$dir/server.out")" = 21 ]'
	same "$1: each was told gone, once" 21 \
		"$(grep -c '^gone 0 ' "$dir/server.out")"
	# Its end comes in time, with the loop that tuxd's programs feed.
	kill -TERM "$server_pid"
	reap "$server_pid"
	same "$1: the server ends when told" 0 $?
}

d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"
both serve
both accept

# One that never had a connection ends as well.
serve accept
kill -TERM "$server_pid"
reap "$server_pid"
same "a server without connections ends when told" 0 $?
d unload >/dev/null

if without_tuxd "without tuxd"; then
	serve accept
	start plain "${client[@]}" "$peer" plain $b_addr "$port" $bytes
	reap "$pid" 60
	same "without tuxd: every byte" 0 $?
	kill -TERM "$server_pid"
	reap "$server_pid"
	same "... over TCP, for lack of privilege" 1 \
		"$(grep -c '^gone 0 tcp .* tux 0 0 .* no-privilege' \
			"$dir/server.out")"
fi
finish
