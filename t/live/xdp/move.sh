#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# move - Redis over AF_XDP: connections move, values are right, datagrams of
# others pass, and nothing stays on an interface when it is not needed any more

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

values=$build/t/posix/values
load=$build/t/posix/load
probe=$build/t/live/net/probe
need redis-server redis-cli redis-benchmark "$values" "$load" "$probe"
privilege "$@"
setup
pair

redis server "${tux[@]}" || exit 1
server_pid=$pid
same "no program before the first connection" no \
	"$(none_attached && echo no)"

# ---- they move --------------------------------------------------------------

# bench ADDRESS CONNECTIONS REQUESTS: SET, then GET.  They may be over before
# the connections have moved.
bench()
{
	run 120 "${a[@]}" "${tux[@]}" redis-benchmark -h "$1" -p "$port" -q \
		-c "$2" -n "$3" -d 1024 -t set,get >"$dir/bench.out" \
		2>"$dir/bench.err" && ! grep -qi error "$dir/bench.out"
}

# all_move NAME N: a client with so many connections, until all have moved
all_move()
{
	client "$1" --conns "$2" --size 1000 --every 100
	client_pid=$pid
	check "$1: all of them on Tux" wait_for 20 moved "$1" "$2"
	check "$1: they go on" goes_on "$1"
	stops "$1"
	check_final "$1: its frames are all there" balanced "$1"
	same "$1: and none on TCP" "" "$(on_tcp "$dir/$1.err" | grep -v closed)"
}

check "one connection" bench $b_addr 1 20000
check "many connections" bench $b_addr 50 20000
all_move many 50

one()
{
	run 120 "${a[@]}" "${@:2}" "$values" "$1" --host $b_addr \
		--port "$port" --n 500 --max 300000 2>>"$dir/values.err"
}

check_final "values are right, written over Tux" one write "${tux[@]}"
check_final "and read over TCP" one read
check_final "values are right, read over Tux" one read "${tux[@]}"

redis-server --version | grep -q 'v=[67]' &&
	run 10 "${b[@]}" redis-cli -h $b_addr -p "$port" config set bind \
		"$b_addr fd77::2" >/dev/null
check "IPv6" bench fd77::2 10 20000
b_addr=fd77::2 all_move IPv6 10

# ---- what is not ours passes -------------------------------------------------

# The very addresses and ports of a connection, but no Tux packet.
own_datagrams()
{
	local from

	from=$(sed -n "s/^tux: $a_addr:\([0-9]*\) > .*: tux\$/\1/p" \
		"$dir/client.err" | head -n 1)
	start hears "${b[@]}" "$probe" listen $b_addr "$port" 10 1000
	wait_for 10 grep -qs ^ready "$dir/hears.out"
	# Slow enough for a queue of 256 frames, even on a machine that is late.
	run 60 "${a[@]}" "$probe" send $b_addr "$port" 1000 500 "$from"
	wait "$pid"
	cat "$dir/hears.out"
	grep -q '^got 1000 distinct 1000 doubled 0 .* wrong 0$' "$dir/hears.out"
}

client client --conns 4 --size 200 --every 100
client_pid=$pid
check "a client moves" wait_for 10 moved client 4
check "others' UDP on the same addresses and ports arrives" own_datagrams
check "the client goes on" goes_on client
stops client

# ---- nothing stays -----------------------------------------------------------

# off HOST: has its interface no program any more?
off()
{
	! attached "$1"
}

# given_back NAME: that program has counted its frames
given_back()
{
	grep -qs '^tux: [^ ]*: given back, ' "$dir/$1.err"
}

check "off the client's when it exits" wait_for 10 off "$ns_a"
check "off the server's, some seconds later" wait_for 60 off "$ns_b"
check "which says so" wait_for 10 given_back server
check_final "all frames were there" balanced server

client client --conns 4 --every 100
client_pid=$pid
check "on again with the next client" wait_for 10 moved client 4
check "on both" wait_for 10 both_attached
kill -9 "$client_pid"
reap "$client_pid"
check "off when the client is killed" wait_for 10 off "$ns_a"

client client --conns 4 --every 100
client_pid=$pid
check "and on" wait_for 10 moved client 4
# A child that outlives its parent must not keep it.
ask()
{
	run 10 "${b[@]}" redis-cli -h $b_addr -p "$port" "$@"
}

saves()
{
	ask info persistence | grep -q '^rdb_bgsave_in_progress:1'
}

ask debug sleep 0 >/dev/null
ask config set rdb-key-save-delay 100000 >/dev/null
ask bgsave >/dev/null
check "it saves" wait_for 10 saves
kill -9 "$server_pid"
reap "$server_pid"
check "off when the server is killed, in the middle of a save" wait_for 10 \
	off "$ns_b"
end "$client_pid"
check "nothing is left" wait_for 10 none_attached
finish
