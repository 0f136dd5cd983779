#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# links - what happens to an interface happens to the way over it: the
# connections go on over TCP, say why, and come back to Tux

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

load=$build/t/posix/load
meter=$build/contrib/tcpmeter
need redis-server redis-cli "$load" "$meter"
privilege "$@"
setup
pair

redis server "${tux[@]}" || exit 1
server_pid=$pid
n=4

begin()
{
	client "$1" --conns $n --size 300 --every 100
	client_pid=$pid
	check "$1: on Tux" wait_for 10 all_back "$1"
}

# returns NAME WHY: it had said why, and is on Tux again, and never stood still
returns()
{
	check "$1: said why" wait_for 10 said "$2" "$1"
	check "$1: back on Tux" wait_for 40 all_back "$1"
	check "$1: goes on" goes_on "$1"
	stops "$1"
}

begin "link down"
ip -n "$ns_a" link set veth0 down
check "link down: it is said" wait_for 10 said link-down "link down"
ip -n "$ns_a" link set veth0 up
ip -n "$ns_a" addr add fd77::1/64 dev veth0 nodad 2>/dev/null
returns "link down" link-down

# ---- the program is taken off ------------------------------------------------

# A server that goes on gives it back after a hold, which takes some seconds.
if thorough; then
	check "before: given back" wait_for 60 none_attached
else
	end "$server_pid"
	check "before: nothing is attached" wait_for 10 none_attached
	redis server "${tux[@]}" || exit 1
	server_pid=$pid
fi
"$build/t/live/net/links" | sort >"$dir/links.before"
begin detached
"$build/t/live/net/links" | sort | comm -13 "$dir/links.before" - |
	xargs "$build/t/live/net/links" >"$dir/links.out"
check "detached: it is noticed" wait_for 10 said detached detached
check "detached: works meanwhile" goes_on detached
check "detached: attached again" wait_for 30 both_attached
returns detached detached

# ---- the other end has another card ------------------------------------------

begin "new address"
ip -n "$ns_b" link set veth0 address 02:00:00:00:77:02
ip -n "$ns_a" neigh flush dev veth0
check "new address: goes on" goes_on "new address"
check "new address: on Tux" wait_for 40 all_back "new address"
stops "new address"

# ---- the interface goes, and another one of its name comes -------------------

begin removed
ip -n "$ns_a" link del veth0
check "removed: it is said" wait_for 10 said no-interface removed
check "removed: at the server, too" wait_for 10 said no-interface server
check "removed: a new one" cable
returns removed no-interface

# ---- no way home -------------------------------------------------------------

# As if it had not answered; the kernel asks again, and it does.
begin "no neighbour"
ip -n "$ns_a" neigh change $b_addr dev veth0 nud failed
returns "no neighbour" no-neighbour

end "$server_pid"
check "nothing is left" wait_for 10 none_attached
finish
