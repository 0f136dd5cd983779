#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# xdp_hold - a peer that connects and closes again and again does not have the
# interface taken and given back as often

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/xdp.sh"

load=$build/t/posix/load
need redis-server redis-cli "$load"
privilege "$@"
setup
pair

redis server "${tux[@]}" || exit 1
server_pid=$pid

# visits NAME: a client whose connection moves, and which goes
visits()
{
	client "$1" --conns 1 --every 100
	client_pid=$pid
	check "$1: moves" wait_for 10 moved "$1" 1
	end "$client_pid"
}

given_back()
{
	! attached "$ns_b"
}

# How often the server has taken the interface.
takes()
{
	grep -c '^tux: veth0: taken' "$dir/server.err"
}

visits first
check "first: given back soon" wait_for 10 given_back
visits second
sleep 9
same "second: not as soon" no "$(given_back && echo yes || echo no)"
visits third
same "third: it was still there" 2 "$(takes)"
check "third: given back in the end" wait_for 14 given_back
visits fourth
same "fourth: it is taken again" 3 "$(takes)"
end "$server_pid"
finish
