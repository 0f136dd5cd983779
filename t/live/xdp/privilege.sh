#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# privilege - a program that gives up its privilege keeps the connections
# that it has on Tux, and says why new ones stay on TCP

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

program=$build/t/live/xdp/privilege
need redis-server redis-cli setpriv "$program"
privilege "$@"
setup
pair

redis server "${tux[@]}" || exit 1
server_pid=$pid

# gives_up NAME HOW: the program with one connection on Tux, behind SIGUSR1
gives_up()
{
	start "$1" "${a[@]}" "${tux[@]}" "$program" $b_addr "$port" "$2"
	client_pid=$pid
	check "$1: on Tux" wait_for 10 moved "$1" 1
	kill -USR1 "$client_pid"
}

# What the first connection of NAME was last said to be.
first()
{
	awk '/^tux: .* > .*: / && (!c || $2 == c) { c = $2; said = $7 }
		END { print said }' "$dir/$1.err"
}

# Longer than the stack takes to look after its program, which it does once a
# second; a late machine makes it only longer.
stays()
{
	sleep 3
	check "$1: works" goes_on "$1"
	same "$1: the first is on Tux" tux "$(first "$1")"
	same "$1: nothing was given back" 0 "$(grep -c 'given back' "$dir/$1.err")"
}

# ---- as before Linux 5.19 ----------------------------------------------------

gives_up denied bpf
check "denied: the second says why" wait_for 10 said no-privilege denied
stays denied
same "denied: it is told once" 1 "$(grep -c '^tux: veth0: the process has ' \
	"$dir/denied.err")"
kill "$client_pid"
reap "$client_pid"
same_final "denied: all answers were right" 0 $?
end "$server_pid"
wait_for 10 none_attached
redis server "${tux[@]}" || exit 1
server_pid=$pid

# ---- as it is ----------------------------------------------------------------

settled()
{
	said no-privilege user || moved user 2
}

if setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
	gives_up user user
	check "user: the second moves, or says why" wait_for 20 settled
	stays user
	kill "$client_pid"
	reap "$client_pid"
	same_final "user: all answers were right" 0 $?
else
	skip "another user" "there is none here"
fi
end "$server_pid"
finish
