#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# attacker - other users of both hosts bind UDP at the numbers of a connection's TCP
# ports, and write to the loops at its ends, before it moves: they get nothing, and
# the connections move and are right

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

load=$build/t/posix/load
attacker=$build/t/live/net/attacker
need redis-server redis-cli setpriv "$load" "$attacker"
privilege "$@"
setup
pair

first=20000 last=20015	# the ports that clients get; of UDP, the attackers hold
half=20007		# the lower half
# shellcheck disable=SC2016 # for the other shell
"${a[@]}" sh -c 'echo "$1 $2" >/proc/sys/net/ipv4/ip_local_port_range' \
	sh $first $last || cannot "cannot set the range of ports"
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups
	--bounding-set=-all --inh-caps=-all)

ready()
{
	grep -qs ^ready "$dir/$1.out"
}

# On the server's host: on its port.
there()
{
	start there "${b[@]}" "${nobody[@]}" "$attacker" $b_addr "$port" \
		"$port" $a_addr "$client_port" "$client_udp" 0
	there_pid=$pid
	check "a user of the server's host holds its port" \
		wait_for 10 ready there
}

# On the client's host: on ports that it may get.
here()
{
	start here "${a[@]}" "${nobody[@]}" "$attacker" $a_addr $first $half \
		$b_addr "$port" "$server_udp" 1
	here_pid=$pid
	check "a user of the client's host holds ports" wait_for 10 ready here
}

# thousands NAME: of packets that this attacker has sent
thousands()
{
	grep -c '^much sent ' "$dir/$1.out"
}

sent_more()
{
	[ "$(thousands "$1")" -gt "$2" ]
}

client_port= client_udp=
connected()
{
	client_port=$("${a[@]}" ss -Htn "dport = :$port" | head -n 1 |
		awk '{ sub(".*:", "", $4); print $4 }')
	client_udp=$(udp_port "$client_pid" "${a[@]}")
	[ -n "$client_port" ] && [ -n "$client_udp" ]
}

# moves NAME ATTACKER...: a server and its clients, which move and stay.  The
# server is stopped until the attack is under way; the kernel goes on for it.
moves()
{
	local name=$1 attack

	redis server "${tux[@]}" || exit 1
	server_pid=$pid
	server_udp=$(udp_port "$server_pid" "${b[@]}")
	kill -STOP "$server_pid"
	start "$name" "${a[@]}" "${tux[@]}" --attach=start "$load" \
		--host $b_addr --port "$port" --conns 3 --size 500 --every 1
	client_pid=$pid
	check "$name: connected" wait_for 10 connected
	connected		# here, not in a shell of its own
	shift
	for attack; do
		"$attack"
		check "$name: the attack $attack is under way" \
			wait_for 10 sent_more "$attack" 0
	done
	kill -CONT "$server_pid"
	check "$name: the client's connections move" wait_for 10 moved "$name" 3
	check "$name: and the server's" wait_for 10 moved server 3
	for attack; do
		check "$name: the attack $attack goes on" \
			wait_for 10 sent_more "$attack" "$(thousands "$attack")"
	done
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

# ended NAME PID: that attacker has worked, for nothing
ended()
{
	local status

	kill "$2"
	reap "$2"
	status=$?
	read -r _ hellos _ numbered _ sent < <(grep ^hellos "$dir/$1.out")
	echo "# $1: hellos ${hellos:=} numbered ${numbered:=} sent ${sent:=}"
	check "$1: it did much" [ $status = 0 -a "$sent" -gt 100 ]
	same_final "$1: nothing came to another user" "0 0" "$hellos $numbered"
}

moves one there
ended there "$there_pid"
hold one

moves two here
ended here "$here_pid"
hold two

moves three there here
ended there "$there_pid"
ended here "$here_pid"
hold three
finish
