#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# attacker - other users of both hosts bind the UDP addresses of connections,
# before these move, and get nothing: the connections move and are right

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/xdp.sh"

load=$build/t/posix/load
attacker=$build/t/live/attacker
need redis-server redis-cli setpriv "$load" "$attacker"
privilege "$@"
setup
pair

first=20000 last=20007	# the ports that clients get
# shellcheck disable=SC2016 # for the other shell
"${a[@]}" sh -c 'echo "$1 $2" >/proc/sys/net/ipv4/ip_local_port_range' \
	sh $first $last || cannot "cannot set the range of ports"
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups
	--bounding-set=-all --inh-caps=-all)

ready()
{
	grep -qs ^ready "$dir/$1.out"
}

greeted()
{
	grep -qs ^hello$ "$dir/$1.out"
}

# On the server's host: on its port.  The server is stopped until a HELLO has
# come; the kernel goes on for it, but attaches nothing.
there()
{
	kill -STOP "$server_pid"
	start there "${b[@]}" "${nobody[@]}" "$attacker" $b_addr "$port" \
		"$port" $a_addr 0
	there_pid=$pid
	check "a user of the server's host holds its port" \
		wait_for 5 ready there
}

# On the client's host: on all ports that it may get.
here()
{
	start here "${a[@]}" "${nobody[@]}" "$attacker" $a_addr $first $last \
		$b_addr "$port"
	here_pid=$pid
	check "a user of the client's host holds its ports" \
		wait_for 5 ready here
}

serves()
{
	redis server "${tux[@]}" || exit 1
	server_pid=$pid
}

# moves NAME ATTACKER: clients under attack, which move and stay
moves()
{
	start "$1" "${a[@]}" "${tux[@]}" --attach=start "$load" \
		--host $b_addr --port "$port" --conns 3 --size 500 --every 1
	client_pid=$pid
	if [ -n "$2" ]; then
		check "HELLOs come to somebody else" wait_for 5 greeted "$2"
		kill -CONT "$server_pid"
	fi
	check "$1: the client's connections move" wait_for 10 moved "$1" 3
	check "$1: and the server's" wait_for 10 moved server 3
	sleep 1
}

# hold NAME: the attackers have ended, and nothing has happened
hold()
{
	check "$1: they go on" goes_on "$1"
	stops "$1"
	same "$1: the client's never left Tux" "" \
		"$(on_tcp "$dir/$1.err" | grep -v closed)"
	same "$1: nor did the server's" "" \
		"$(on_tcp "$dir/server.err" | grep -v closed)"
	end "$server_pid"
}

# ended NAME PID: sets $numbered to what that attacker has had.
ended()
{
	local status

	kill "$2"
	wait "$2"
	status=$?
	read -r _ hellos _ numbered _ sent < <(grep ^hellos "$dir/$1.out")
	echo "# $1: hellos ${hellos:=} numbered ${numbered:=} sent ${sent:=}"
	check "$1: it did much" [ $status = 0 -a "$sent" -gt 100 ]
}

serves
there
moves one there
ended there "$there_pid"
same "but no numbered packet" 0 "$numbered"
hold one

serves
here
moves two ''
ended here "$here_pid"
same "no numbered packet came to somebody else" 0 "$numbered"
hold two

# They also hear each other, so what came to them tells nothing.
serves
there
here
moves three there
ended there "$there_pid"
ended here "$here_pid"
hold three
finish
