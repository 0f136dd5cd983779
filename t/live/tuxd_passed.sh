#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tuxd_passed - servers without privilege that accept connections in one process
# and send them to others, by SCM_RIGHTS, on two hosts

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/cgroups.sh"

heir=$build/t/live/heir
porter=$build/t/live/porter
need "$heir" "$porter" "$build/t/posix/lent"
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

# said_tux: connections that moved at the server's end, whichever process said so
said_tux()
{
	cat "$dir/serve.err" "$dir/work.err" >"$dir/both.err"
	on_tux "$dir/both.err"
}

# asked NAME CONNECTIONS MOVED [AT-SERVER]: so many, of which MOVED move
asked()
{
	run 60 "${client[@]}" "$heir" ask $b_addr "$port" "$2" 400 \
		>"$dir/ask.out" 2>"$dir/ask.err"
	same "$1: each byte comes back" 0 $?
	same "$1: $3 of $2 move" "$3 ${4:-$3}" \
		"$(on_tux "$dir/ask.err") $(said_tux)"
}

workers=("${server[@]}" "$porter" serve $b_addr @PORT@)
: >"$dir/work.err"

served "${workers[@]}" 2
asked "no tuxd" 4 0
end "$server_pid"

d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"

served "${workers[@]}" 2
asked "sent to workers" 16 16
end "$server_pid"

# Where the processors are busy, the default path is TCP.
TUX_PATH=auto served "${workers[@]}" 2
TUX_PATH=auto run 60 "${client[@]}" "$heir" ask $b_addr "$port" 16 400 \
	>"$dir/ask.out" 2>"$dir/ask.err"
same "sent to workers, by default: each byte comes back" 0 $?
same "sent to workers, by default: all move, or processors are busy" 16 \
	$(($(on_tux "$dir/serve.err") + $(grep -c cpu-busy "$dir/serve.err")))
end "$server_pid"

served "${workers[@]}" 1 0 keep
asked "the sender keeps it" 4 0
end "$server_pid"

# They have moved when they are sent, and go back to TCP.  The server learns.
served "${workers[@]}" 1 30
asked "answered by the sender first" 4 4
same "... and at the worker, they stay on TCP" 4 \
	"$(grep -c 'tcp, not-owner' "$dir/serve.err")"
asked "the next ones" 4 4 8
same "... and not before they are sent" 4 \
	"$(grep -c 'tcp, pinned' "$dir/serve.err")"
end "$server_pid"

# strangers WORDS...: a worker under tuxrun, and a sender, by WORDS, that has no
# ancestor there in common with it
strangers()
{
	start work "${server[@]}" "$porter" work "$dir/work.sock"
	work_pid=$pid
	wait_for 10 test -S "$dir/work.sock"
	served "$@" "$porter" send $b_addr @PORT@ "$dir/work.sock"
}

strangers "${server[@]}"
asked "sent to a stranger" 8 8
end "$server_pid"
end "$work_pid"
rm "$dir/work.sock"

strangers "${bare[@]}"
asked "sent by a program without Tux" 4 0
check "... which announces nothing" \
	grep -q "tcp, not-announced" "$dir/work.err"
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
	"${client[@]}" wrk -t 1 -c 8 -d 3 "http://$b_addr:$port/" \
		>"$dir/wrk.out" 2>"$dir/wrk.err"
	same "a cluster of Node.js: all move" "8 8" \
		"$(on_tux "$dir/wrk.err") $(on_tux "$dir/serve.err")"
	check "... and work" sh -c 'grep -q "Requests/sec" "$1" &&
		! grep -q "Socket errors\|Non-2xx" "$1"' sh "$dir/wrk.out"
	end "$server_pid"
else
	skip "a cluster of Node.js" "needs node and wrk"
fi

# on_loopback NAME PATH [half]
on_loopback()
{
	TUX_PATH=$2 run 60 "${server[@]}" -i lo "$build/t/posix/lent" \
		"${@:3}" >"$dir/lent.out" 2>"$dir/lent.err"
	check "$1" sh -c 'cat "$1"; exit "$0"' $? "$dir/lent.out"
}
on_loopback "messages that go astray" tux
on_loopback "half-closed by its sender" tux half
check "... it is not claimed" grep -q "tcp, not-owner" "$dir/lent.err"

d unload >/dev/null
finish
