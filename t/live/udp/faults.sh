#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# faults - a network that loses, delays, doubles, reorders and corrupts may make
# Redis over Tux slower, never wrong and never stuck
#
#   faults.sh [--full]
#
# --full: 100,000 values each way on the wire with faults of 1 % as well.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"

values=$build/t/posix/values
load=$build/t/posix/load
meter=$build/contrib/tcpmeter
need redis-server redis-cli "$values" "$load" "$meter" "$forwarder"
privilege "$@"
setup
hosts

full=
[ "${1:-}" != --full ] || full=yes
n=$(thorough && echo 300 || echo 150) max=300000 seed=0
modes=(epoll edge block poll select)

# one VERB HOW: with the mode that goes with the seed
one()
{
	local how=() rc

	[ "$2" = plain ] || how=("${tux[@]}")
	run 180 "${a[@]}" "${how[@]}" "$values" "$1" --host $b_addr \
		--port "$port" --n $n --max $max --seed $seed \
		--mode "${modes[seed % 5]}" 2>"$dir/err"
	rc=$?
	grep '^tux: ' "$dir/err" >>"$dir/client.log"
	grep -v '^tux: ' "$dir/err"
	return $rc
}

both_ways()
{
	one write tux && one read plain && one del tux &&
		one write plain && one read tux && one del plain
}

# The same with twice as many, until there were enough for some to go over Tux.
until_moved()
{
	local n=$n tries

	for ((tries = 1; tries <= 5; tries++)); do
		both_ways || return
		[ "${tux[0]}" != env ] && ! moved || return 0
		((n *= 2))
	done
}

# right NAME: values both ways, and at least some went over Tux
right()
{
	((seed += 1))
	: >"$dir/client.log"
	check_final "$1: values are right, seed $seed" until_moved
	[ "${tux[0]}" = env ] && return
	check "$1: and went over Tux" moved
}

# 100 times 1,000 values of up to 1 MB, written over Tux and read over TCP, and
# as many the other way round
all_values()
{
	local i n=1000 max=1048576

	: >"$dir/client.log"
	for ((i = 1; i <= 100; i++)); do
		((seed += 1))
		check_final "1 %: values right, part $i of 100, seed $seed" \
			both_ways
	done
	check "1 %: they went over Tux" moved
}

moved()
{
	on_tcp "$dir/client.log"
	[ "$(on_tux "$dir/client.log")" -gt 0 ]
}

# ---- a bad network ------------------------------------------------------------

wire
redis server "${tux[@]}" || exit 1
right "a good wire"

wire --seed 1 --loss 0.01 --dup 0.01 --reorder 0.02 --corrupt 0.01 \
	--delay 100 --jitter 200 --udp-only
right "faults on UDP, 1 %"
[ -z "$full" ] || all_values
wire --seed 2 --loss 0.1 --dup 0.05 --reorder 0.1 --corrupt 0.05 \
	--delay 100 --jitter 500 --udp-only
right "faults on UDP, 10 %"
wire --seed 3 --loss 0.01 --dup 0.01 --reorder 0.01 --corrupt 0.01 --delay 100
right "faults on everything, 1 %"
wire --seed 4 --rate 20000000 --delay 1000 --udp-only
right "a slow and long wire for UDP"
wire --seed 5 --rate 20000000 --delay 5000
right "a slow and long wire for all"

# ---- no way for UDP -----------------------------------------------------------

wire --seed 6 --loss 1 --udp-only
((seed += 1))
: >"$dir/client.log"
check_final "UDP is blocked: values are right, over TCP" both_ways
if [ "${tux[0]}" != env ]; then
	start silent "${a[@]}" "${tux[@]}" "$load" --host $b_addr \
		--port "$port" --conns 2
	check "and the reason is named" wait_for 20 grep -qs \
		'tcp, peer-silent:' "$dir/silent.err"
	end "$pid"
fi

# ---- it goes in the middle, and comes back -------------------------------------

ready()
{
	grep -qs '^ready' "$dir/load.out"
}

answers()
{
	awk '/^(so-far|port) / { n = $4 } END { print n + 0 }' "$dir/load.out"
}

tcp_bytes()
{
	tail -n 1 "$dir/meter.out" | tr ' ' '\n' |
		awk -F = '/^(in|out)=/ { n += $2 } END { printf "%.0f\n", n }'
}

# Sets $asked, answers in so many seconds, and $tcp, bytes on TCP for each.
watch_for()
{
	local was_asked was_tcp

	was_asked=$(answers) was_tcp=$(tcp_bytes)
	sleep "$1"
	asked=$(($(answers) - was_asked))
	tcp=$((($(tcp_bytes) - was_tcp) / (asked > 0 ? asked : 1)))
	echo "# $asked answers, $tcp bytes of TCP for each"
}

back_on_tux()
{
	watch_for 0.5
	[ "$asked" -gt 0 ] && [ $tcp -lt 200 ]
}

back_on_tcp()
{
	watch_for 0.5
	[ "$asked" -gt 0 ] && [ $tcp -gt 1000 ]
}

blackhole()
{
	wire --delay 50 --udp-only
	start meter "${b[@]}" "$meter" "$port" 100
	start load "${a[@]}" "${tux[@]}" "$load" --host $b_addr --port "$port" \
		--conns 10 --size 1000 --every 100
	load_pid=$pid
	check "a client runs" wait_for 10 ready
	check "over Tux" wait_for 10 back_on_tux
	kill -USR1 "$wire_pid"
	check "a blackhole: it goes on, over TCP" wait_for 10 back_on_tcp
	kill -USR1 "$wire_pid"
	check "the blackhole ends: back on Tux" wait_for 15 back_on_tux
	same "no connection ended" 0 "$(grep -c ^ended "$dir/load.out")"
	kill "$load_pid"
	reap "$load_pid"
	same_final "all answers were right" 0 $?
}

if [ "${tux[0]}" = env ]; then
	skip "a blackhole" "runs without tuxrun"
else
	blackhole
fi
cut
finish
