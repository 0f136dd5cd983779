#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# examples - contrib/examples do what they say, over UDP sockets on this host

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"

tux=(env)
need "$build/contrib/examples/message_server"
setup
export TUX_UDP=lo

# serves NAME: a server of that name; sets $port and $server
serves()
{
	mkfifo "$dir/$1.in"
	start "$1" bash -c 'exec "$1" 127.0.0.1 0 <"$2"' server \
		"$build/contrib/examples/$1" "$dir/$1.in"
	server=$pid
	exec 9>"$dir/$1.in"		# its standard input, open
	wait_for 10 grep -qs '^port ' "$dir/$1.out"
	port=$(sed -n 's/^port //p' "$dir/$1.out")
}

# says NAME WORD...: what a client of that name prints
says()
{
	local name=$1

	shift
	run 60 "$build/contrib/examples/$name" 127.0.0.1 "$port" "$@"
}

words=(one "two and a half" three)
want=$(printf '%s\n' "${words[@]}")

# A server of the program's own, which takes what it has accepted.
serves attach_server
same_final "attach: every word comes back" "$want" \
	"$(says stream_client "${words[@]}")"
exec 9>&-
reap "$server"
same "attach: it ends with its input" 0 $?
same "attach: it was told of the end" 1 \
	"$(grep -c '^gone: done' "$dir/attach_server.out")"

for kind in message stream; do
	serves ${kind}_server
	same_final "$kind: every word comes back" "$want" \
		"$(says ${kind}_client "${words[@]}")"
	same_final "$kind: and again" "$want" \
		"$(says ${kind}_client "${words[@]}")"
	kill -TERM "$server"
	reap "$server"
	same "$kind: the server ends when told" 0 $?
	same "$kind: it was told of both ends" 2 \
		"$(grep -c '^gone: done' "$dir/${kind}_server.out")"
done

for loop in epoll libevent; do
	[ -x "$build/contrib/examples/${loop}_server" ] || {
		skip "$loop" "not built"
		continue
	}
	serves ${loop}_server
	same_final "$loop: every word comes back" "$want" \
		"$(says message_client "${words[@]}")"
	exec 9>&-
	reap "$server"
	same "$loop: it ends with its input" 0 $?
done

same "a client that is refused says so" "message_client: Connection refused" \
	"$(port=1 says message_client word 2>&1 | grep -v '^tux: ')"
finish
