#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# mtu - packets are as long as interface and frame allow, follow the MTU when
# it changes, and leave the jumbo frames of others alone

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

load=$build/t/posix/load
values=$build/t/posix/values
need redis-server redis-cli "$load" "$values"
privilege "$@"
setup
pair

redis server "${tux[@]}" || exit 1
server_pid=$pid
n=4

# mtu HERE THERE: of the two ends
mtu()
{
	ip -n "$ns_a" link set veth0 mtu "$1" &&
		ip -n "$ns_b" link set veth0 mtu "$2"
}

# What the server's end has received, "BYTES FRAMES".
received()
{
	ip -n "$ns_b" -s link show dev veth0 |
		awk 'hit { print $1, $2; exit } /RX:/ { hit = 1 }'
}

frames()
{
	received | awk '{ print $2 }'
}

# many_since FRAMES: have so many come since that number?
many_since()
{
	[ "$(frames)" -ge $(($1 + 1000)) ]
}

# Sets $mean: of the length of the next thousand frames, with the header of
# Ethernet.
measure()
{
	local before after

	read -ra before < <(received)
	wait_for 10 many_since "${before[1]}"
	read -ra after < <(received)
	mean=$(((after[0] - before[0]) / (after[1] - before[1] + 1)))
	echo "$mean bytes a frame"
}

# longer than the MTU of 1500 lets them be?
longer()
{
	measure
	[ "$mean" -gt 1514 ]
}

shorter()
{
	! longer && [ "$mean" -gt 0 ]
}

# longer than one frame, or packet, of Tux?
long()
{
	measure
	[ "$mean" -gt 3512 ]
}

begin()
{
	client "$1" --conns $n --size 30000 --every 100
	client_pid=$pid
	check "$1: on Tux" wait_for 10 all_back "$1"
}

# Is the client NAME where it was, and does it get answers?
well()
{
	wait_for 20 all_back "$1" && goes_on "$1"
}

# ---- one frame ---------------------------------------------------------------

check "MTU 3498" mtu 3498 3498
begin 3498
check "3498: packets of more than 1500 bytes" wait_for 10 longer
stops 3498

# ---- more than a frame -------------------------------------------------------

# Plain TCP beside it, by an address that nobody under Tux uses.
others()
{
	run 120 "${a[@]}" "$values" "$1" --host $b_addr --port "$plain_port" \
		--n 100 --max 300000 2>>"$dir/values.err"
}

# Has TCP a segment size that needs jumbo frames?
jumbo()
{
	"${b[@]}" ss -tin "sport = :$plain_port" | grep -q 'mss:89[0-9][0-9]'
}

tux_port=$port
redis plain || exit 1
plain_pid=$pid plain_port=$port port=$tux_port

check "MTU 9000" mtu 9000 9000
begin 9000
check "9000: the program is on it" both_attached
check "9000: packets of more than 1500 bytes" wait_for 10 longer
check "9000: but not longer than a frame" eval '! long'
stops 9000
client 9000b --conns 1 --every 100 --pings 100	# and then it is silent
client_pid=$pid
check "9000: one on Tux meanwhile" wait_for 10 moved 9000b 1
start reader "${a[@]}" "$load" --host $b_addr --port "$plain_port" --conns 1 \
	--size 60000 --every 100
reader_pid=$pid
check "9000: TCP of others has jumbo frames" wait_for 10 jumbo
check "9000: and works" goes_on reader
check "9000: which arrive as such" wait_for 10 long
end "$reader_pid"
check_final "9000: their values are right, written" others write
check_final "9000: their values are right, read" others read
stops 9000b
end "$plain_pid"

# ---- it changes --------------------------------------------------------------

begin changes
check "changes: long packets first" wait_for 10 longer
check "1500 all at once" mtu 1500 1500
check "1500: all on Tux" well changes
check "1500: with short packets" wait_for 10 shorter
check "3498 again" mtu 3498 3498
check "3498: all on Tux" well changes
check "3498: with long packets" wait_for 10 longer
check "too small" mtu 300 300
check "300: back on TCP" wait_for 10 said mtu changes
check "300: goes on" goes_on changes
check "1500 again" mtu 1500 1500
check "1500: all on Tux" well changes
stops changes

end "$server_pid"
finish
