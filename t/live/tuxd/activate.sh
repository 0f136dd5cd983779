#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# activate - a server without privilege whose listener another program has
# made, which has no Tux: systemd-socket-activate

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"

fork_server=$build/t/live/tuxd/fork_server
passed_server=$build/t/live/tuxd/passed_server
need systemd-socket-activate "$fork_server" "$passed_server"
late=$(uname -r | awk -F. '{ print ($1 > 6 || ($1 == 6 && $2 >= 12)) }')
[ "$late" = 1 ] || cannot "this kernel cannot add a callback to a listener"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"
unprivileged 65533 "$cg_a"
client=("${a[@]}" "${words[@]}")
"${words[@]}" true 2>/dev/null || cannot "another user cannot run tuxrun here"
d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"

# activates WORDS...: the program WORDS, under tuxrun, will get the listener
activates()
{
	free_port
	on 65534 "$cg_b"
	start serve "${b[@]}" "${words[@]}" systemd-socket-activate \
		-E TUX_PATH -l "$b_addr:$port" "$build/contrib/tuxrun" -v "$@"
	server_pid=$pid
	wait_for 10 listening "$port"
}

# asks NAME CONNECTIONS
asks()
{
	run 60 "${client[@]}" "$fork_server" ask $b_addr "$port" "$2" 400 \
		>"$dir/ask.out" 2>"$dir/ask.err"
	same_final "$1: each byte comes back" 0 $?
}

# The first connection starts the server, so its handshake was over before.
activates "$passed_server" inherited
asks "the first connection" 1
same "the first connection: on TCP" "0 0" \
	"$(on_tux "$dir/ask.err") $(on_tux "$dir/serve.err")"
asks "the next ones" 8
wait_for 10 move_at_both ask serve 8
same "the next ones: all move" "8 8" \
	"$(on_tux "$dir/ask.err") $(on_tux "$dir/serve.err")"
end "$server_pid"

# A master whose workers accept.
if command -v gunicorn >/dev/null && command -v wrk >/dev/null; then
	cat >"$dir/hello.py" <<-E
		def app(environ, start):
		    start("200 OK", [("Content-Length", "2")])
		    return [b"ok"]
	E
	activates gunicorn -w 2 -k gthread --threads 8 --keep-alive 60 \
		--log-level critical --chdir "$dir" hello:app
	"${client[@]}" wrk -t 1 -c 2 -d 1 "http://$b_addr:$port/" \
		>"$dir/wrk.out" 2>&1
	check "gunicorn: the first connections work" \
		grep -q "Requests/sec" "$dir/wrk.out"
	unprivileged 65533 "$cg_a"
	browse 8 moved wrk 8
	same "gunicorn: the next ones move" 8 "$(on_tux "$dir/wrk.err")"
	check_final "... and work" sh -c 'grep -q "Requests/sec" "$1" &&
		! grep -q "Socket errors\|Non-2xx" "$1"' sh "$dir/wrk.out"
	end "$server_pid"
else
	skip "gunicorn" "needs gunicorn and wrk"
fi

d unload >/dev/null
finish
