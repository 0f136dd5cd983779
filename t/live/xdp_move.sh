#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# xdp_move - Redis over AF_XDP: connections move, values are right, datagrams of
# others pass, and nothing stays on an interface when it is not needed any more

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/xdp.sh"

values=$build/t/posix/values
load=$build/t/posix/load
probe=$build/t/live/probe
need redis-server redis-cli redis-benchmark "$values" "$load" "$probe"
privilege "$@"
setup
pair

redis server "${tux[@]}" || exit 1
server_pid=$pid
same "no program before the first connection" no \
	"$(none_attached && echo no)"

# ---- they move --------------------------------------------------------------

# bench ADDRESS CONNECTIONS REQUESTS: SET, then GET.  Where all connections shall
# move, requests last for several times what taking the interface does.
bench()
{
	run 60 "${a[@]}" "${tux[@]}" redis-benchmark -h "$1" -p "$port" -q \
		-c "$2" -n "$3" -d 1024 -t set,get >"$dir/bench.out" \
		2>"$dir/bench.err" && ! grep -qi error "$dir/bench.out"
}

check "one connection" bench $b_addr 1 20000
check "many connections" bench $b_addr 50 60000
check "all of them on Tux: $(on_tux "$dir/bench.err")" moved bench 100
check "its frames are all there" balanced bench
same "and none on TCP, but who had no time" "" \
	"$(on_tcp "$dir/bench.err" | grep -v closed)"

one()
{
	run 60 "${a[@]}" "${@:2}" "$values" "$1" --host $b_addr --port "$port" \
		--n 500 --max 300000 2>>"$dir/values.err"
}

check "values are right, written over Tux" one write "${tux[@]}"
check "and read over TCP" one read
check "values are right, read over Tux" one read "${tux[@]}"

redis-server --version | grep -q 'v=[67]' &&
	run 10 "${b[@]}" redis-cli -h $b_addr -p "$port" config set bind \
		"$b_addr fd77::2" >/dev/null
check "IPv6" bench fd77::2 10 60000
check "on Tux: $(on_tux "$dir/bench.err")" moved bench 20

# ---- what is not ours passes -------------------------------------------------

# The very addresses and ports of a connection, but no Tux packet.
own_datagrams()
{
	local from

	from=$(sed -n "s/^tux: $a_addr:\([0-9]*\) > .*: tux\$/\1/p" \
		"$dir/client.err" | head -n 1)
	start hears "${b[@]}" "$probe" listen $b_addr "$port" 2
	wait_for 10 grep -qs ^ready "$dir/hears.out"
	run 10 "${a[@]}" "$probe" send $b_addr "$port" 1000 100 "$from"
	wait "$pid"
	cat "$dir/hears.out"
	grep -q '^got 1000 ' "$dir/hears.out"
}

client client --conns 4 --size 200 --every 100
client_pid=$pid
check "a client moves" wait_for 10 moved client 4
check "others' UDP on the same addresses and ports arrives" own_datagrams
check "the client goes on" goes_on client
stops client

# ---- nothing stays -----------------------------------------------------------

check "off the client's when it exits" wait_for 10 \
	eval '! attached "$ns_a"'
check "off the server's, some seconds later" wait_for 10 none_attached
check "all frames were there" wait_for 10 balanced server

client client --conns 4 --every 100
client_pid=$pid
check "on again with the next client" wait_for 10 moved client 4
same "on both" yes "$(both_attached && echo yes)"
kill -9 "$client_pid"
wait "$client_pid" 2>/dev/null
check "off when the client is killed" wait_for 10 eval '! attached "$ns_a"'

client client --conns 4 --every 100
client_pid=$pid
check "and on" wait_for 10 moved client 4
# A child that outlives its parent must not keep it.
run 10 "${b[@]}" redis-cli -h $b_addr -p "$port" debug sleep 0 >/dev/null
run 10 "${b[@]}" redis-cli -h $b_addr -p "$port" config set \
	rdb-key-save-delay 100000 >/dev/null
run 10 "${b[@]}" redis-cli -h $b_addr -p "$port" bgsave >/dev/null
sleep 0.3
kill -9 "$server_pid"
wait "$server_pid" 2>/dev/null
check "off when the server is killed, in the middle of a save" wait_for 10 \
	eval '! attached "$ns_b"'
end "$client_pid"
check "nothing is left" wait_for 10 none_attached
finish
