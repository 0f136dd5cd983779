#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# kill - kill -9 of a client and of a server at full load over AF_XDP: the
# other side sees its connections end, goes on, and serves the next; and nothing
# stays on an interface.  TUX_TEST_NET may lose packets; then
# it takes what TCP takes.

set -u
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../../posix/lib.sh"

load=$build/t/posix/load
values=$build/t/posix/values
conns=50
: "${TUX_TEST_NET:=pair}"
if [ "$TUX_TEST_NET" = pair ]; then
	patience=20	# seconds until the other side knows
	moving=$conns	# connections on Tux, at least
else
	# A SYN that was lost is repeated without the announcement.
	patience=60 moving=$((conns / 2))
fi
need redis-server redis-cli "$load" "$values" "$build/t/live/net/forwarder"
scene "$@"

clients()
{
	run 20 "${a[@]}" redis-cli -h "$bind" -p "$port" info clients |
		tr -d '\r' | sed -n 's/^connected_clients://p'
}

# redis-cli itself is one of them
nobody_there()
{
	[ "$(clients)" = 1 ]
}

# dies SIGNAL PID: by that signal, which is no crash
dies()
{
	kill "-$1" "$2"
	check_final "killed by $1: it ends" wait_for 30 no_more "$2"
	kill -KILL "$2" 2>/dev/null
	wait "$2" 2>/dev/null
}

# Whoever is or was on TCP lost the announcement, or very many packets.
only_lost()
{
	on_tcp "$dir/$1.err" | tee "$dir/reasons"
	! grep -qv -e not-announced -e path-stalled "$dir/reasons"
}

free_of()
{
	! attached "$1"
}

all_ended()
{
	[ "$(grep -c ^ended "$dir/$1.out")" = $conns ]
}

# works NAME: a client whose connections move, and get their answers
works()
{
	client "$1" --conns $conns --size 1000 --every 100
	client_pid=$pid
	check "$1: on Tux" wait_for 20 moved "$1" "$moving"
	check "$1: and why not" only_lost "$1"
	check "$1: gets answers" goes_on "$1"
}

client_dies()
{
	works "to be killed by $1"
	dies "$1" "$client_pid"
	check "the client is dead, $1: its interface is free" \
		wait_for 10 free_of "$ns_a"
	check "the server sees $conns ends" wait_for $patience nobody_there
	works "after $1"
	stops "after $1"
}

server_dies()
{
	works "whose server dies"
	dies KILL "$server_pid"
	check "the server is dead: its interface is free" \
		wait_for 10 free_of "$ns_b"
	check "its client sees $conns ends" wait_for $patience \
		all_ended "whose server dies"
	reap "$client_pid"
	same_final "and had right answers only" 0 $?
	check "nothing is left" wait_for 10 none_attached
}

# Longer than the other end waits for packets, and than it tries without: each
# goes on in the end, and a late machine makes it only longer.
stands_still()
{
	works "whose server stops"
	kill -STOP "$server_pid"
	sleep 3
	kill -CONT "$server_pid"
	check "the server stopped for 3 s: it goes on" \
		goes_on "whose server stops"
	kill -STOP "$client_pid"
	sleep 3
	kill -CONT "$client_pid"
	check "the client stopped for 3 s: it goes on" \
		goes_on "whose server stops"
	stops "whose server stops"
}

redis server "${tux[@]}" || exit 1
server_pid=$pid
client_dies KILL
if [ "$TUX_TEST_NET" = pair ]; then
	client_dies ABRT
	stands_still
fi
server_dies
finish
