#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# passed - servers without privilege that accept connections in one process
# and send them to others, by SCM_RIGHTS, on two hosts

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"

fork_server=$build/t/live/tuxd/fork_server
passed_server=$build/t/live/tuxd/passed_server
need "$fork_server" "$passed_server" "$build/t/live/tuxd/peer" \
	"$build/t/posix/lent"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"
on 65534 "$cg_b"
bare=("${b[@]}" "${words[@]}")		# a server without Tux
unprivileged 65533 "$cg_a"
client=("${a[@]}" "${words[@]}")
unprivileged 65534 "$cg_b"
server=("${b[@]}" "${words[@]}")
"${words[@]}" true 2>/dev/null || cannot "another user cannot run tuxrun here"

# served WORDS...: a server, which WORDS start
served()
{
	free_port
	start serve "${@//@PORT@/$port}"
	server_pid=$pid
	wait_for 10 listening "$port"
}

# on_both: connections that moved, at the client's end and at the server's,
# whichever process said so there
on_both()
{
	cat "$dir/serve.err" "$dir/work.err" >"$dir/both.err"
	echo "$(on_tux "$dir/ask.err") $(on_tux "$dir/both.err")"
}

on_both_are()
{
	[ "$(on_both)" = "$1" ]
}

# said_n REASON: connections for which the server has given it
said_n()
{
	grep -c "tcp, $1" "$dir/serve.err"
}

said_n_is()
{
	[ "$(said_n "$1")" = "$2" ]
}

# says NAME N REASON: the server, of N connections; when they end, or before
says()
{
	wait_for 10 said_n_is "$3" "$2"
	same "$1" "$2" "$(said_n "$3")"
}

# asked NAME CONNECTIONS MOVED [AT-SERVER]: so many, of which MOVED move
asked()
{
	rm -f "$dir/moved"
	start ask "${client[@]}" "$fork_server" ask $b_addr "$port" "$2" 400 \
		"$dir/moved"
	wait_for 10 on_both_are "$3 ${4:-$3}"
	: >"$dir/moved"
	reap "$pid" 70
	same_final "$1: each byte comes back" 0 $?
	same "$1: $3 of $2 move" "$3 ${4:-$3}" "$(on_both)"
}

workers=("${server[@]}" "$passed_server" serve $b_addr @PORT@)
: >"$dir/work.err"

if without_tuxd "no tuxd"; then
	served "${workers[@]}" 2
	asked "no tuxd" 4 0
	says "... and the workers say why" 4 no-tuxd
	end "$server_pid"
fi

d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"

served "${workers[@]}" 2
asked "sent to workers" 16 16
end "$server_pid"

# Where the processors are busy, the default path is TCP.
TUX_PATH=auto served "${workers[@]}" 2
TUX_PATH=auto run 60 "${client[@]}" "$fork_server" ask $b_addr "$port" 16 400 \
	>"$dir/ask.out" 2>"$dir/ask.err"
same_final "sent to workers, by default: each byte comes back" 0 $?
wait_for 10 all_settled 16 "$dir/ask.err" "$dir/serve.err"
same "sent to workers, by default: all move, or processors are busy" 16 \
	"$(settled "$dir/ask.err" "$dir/serve.err")"
echo "# moved at the client and the server: $(on_both)"
end "$server_pid"

served "${workers[@]}" 1 0 keep
asked "the sender keeps it" 4 0
end "$server_pid"

# They have moved when they are sent, and go back to TCP.  The server learns.
served "${workers[@]}" 1 100
asked "answered by the sender first" 4 4
says "... and at the worker, they stay on TCP" 4 not-owner
says "... and the sender says that they were sent" 4 passed
asked "the next ones" 4 4 8
says "... and not before they are sent" 8 passed
end "$server_pid"

# strangers WORDS...: a worker under tuxrun, and a sender, by WORDS, that has no
# ancestor there in common with it
strangers()
{
	start work "${server[@]}" "$passed_server" work "$dir/work.sock"
	work_pid=$pid
	wait_for 10 test -S "$dir/work.sock"
	served "$@" "$passed_server" send $b_addr @PORT@ "$dir/work.sock"
}

strangers "${server[@]}"
asked "sent to a stranger" 8 8
end "$server_pid"
end "$work_pid"
rm "$dir/work.sock"

strangers "${bare[@]}"
asked "sent by a program without Tux" 4 0
check "... which announces nothing" wait_for 10 said not-announced work
end "$server_pid"
end "$work_pid"

# The primary of a cluster accepts, and sends each connection to a worker.
if command -v node >/dev/null && command -v wrk >/dev/null; then
	cat >"$dir/cluster.js" <<-E
		const cluster = require("cluster"), http = require("http");
		if (cluster.isPrimary) {
			cluster.fork();
			cluster.fork();
		} else {
			http.createServer((ask, answer) => answer.end("ok"))
				.listen(process.argv[2], "$b_addr");
		}
	E
	served "${server[@]}" node "$dir/cluster.js" @PORT@
	unprivileged 65533 "$cg_a"
	browse 8 move_at_both wrk serve 8
	same "a cluster of Node.js: all move" "8 8" \
		"$(on_tux "$dir/wrk.err") $(on_tux "$dir/serve.err")"
	check_final "... and work" sh -c 'grep -q "Requests/sec" "$1" &&
		! grep -q "Socket errors\|Non-2xx" "$1"' sh "$dir/wrk.out"
	end "$server_pid"
else
	skip "a cluster of Node.js" "needs node and wrk"
fi

# on_loopback NAME PATH [half]
on_loopback()
{
	TUX_PATH=$2 run 300 "${server[@]}" -i lo "$build/t/posix/lent" \
		"${@:3}" >"$dir/lent.out" 2>"$dir/lent.err"
	check_final "$1" sh -c 'cat "$1"; exit "$0"' $? "$dir/lent.out"
}
on_loopback "messages that go astray" tux
on_loopback "half-closed by its sender" tux half
check "... it is not claimed" grep -q "tcp, passed" "$dir/lent.err"

d unload >/dev/null
finish
