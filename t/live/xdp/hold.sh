#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# hold - the interface is given back when the connections are gone, and
# taken again for the next.  How long it is held, so that a peer that connects
# and closes again and again does not have it taken as often, is in
# t/unit/afxdp/paths

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

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
check "first: given back in the end" wait_for 30 given_back
visits second
same "second: it is taken again" 2 "$(takes)"
end "$server_pid"
check "nothing is left" wait_for 10 none_attached
finish
