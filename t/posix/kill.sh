#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# kill - kill -9 of a client and of a server at full load: the other side sees
# its connections end, and goes on with others.  A process that is only stopped
# for a while loses nothing.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

load=$build/t/posix/load
need redis-server redis-cli redis-benchmark "$load"
setup

says()
{
	grep -q "$2" "$dir/$1.out"
}

clients()
{
	redis-cli -p "$1" info clients | tr -d '\r' |
		sed -n 's/^connected_clients://p'
}

# at_most PORT N; redis-cli itself is one of them
at_most()
{
	[ "$(clients "$1")" -le $(($2 + 1)) ]
}

at_least()
{
	[ "$(clients "$1")" -ge $(($2 + 1)) ]
}

# answers NAME PORT: how many so far
answers()
{
	awk -v p="$2" '/^(so-far|port) / && $2 == p { n = $4 }
		END { print n + 0 }' "$dir/$1.out"
}

answered()
{
	[ "$(answers "$1" "$2")" -gt "$3" ]
}

# goes_on NAME PORT: answers still come
goes_on()
{
	wait_for 10 answered "$1" "$2" "$(answers "$1" "$2")"
}

kill_9()
{
	kill -9 "$1"
	reap "$1"
}

moved()
{
	[ "${tux[0]}" = env ] || [ "$(on_tux "$dir/$1.err")" -ge "$2" ]
}

none_ended()
{
	! grep "^ended $2 " "$dir/$1.out"
}

# ended NAME PORT N: N of its connections to PORT
ended()
{
	[ "$(grep -c "^ended $2 " "$dir/$1.out")" = "$3" ]
}

part()
{
	echo "# --- $1"
}

client_dies()
{
	redis server "${tux[@]}" || exit 1
	server=$pid
	start steady "${tux[@]}" "$load" --port "$port" --conns 10 --every 100
	steady=$pid
	start victim "${tux[@]}" redis-benchmark -p "$port" -c 50 -d 1024 \
		-n 100000000 -t set,get -q
	victim=$pid
	check "60 clients are there" wait_for 20 at_least "$port" 60
	check "and on Tux" wait_for 10 moved victim 50
	sleep 1			# bytes are on their way, but on a late machine
	kill_9 "$victim"
	check_final "the server sees 50 ends" wait_for 10 at_most "$port" 10
	check "it serves the others" goes_on steady "$port"
	check_final "none of those ended" none_ended steady "$port"
	check "it takes new ones" run 60 "${tux[@]}" redis-benchmark \
		-p "$port" -c 50 -n 20000 -t get -q
	end "$steady"
	end "$server"
}

server_dies()
{
	local one other one_pid killed last

	redis one "${tux[@]}" || exit 1
	one=$port one_pid=$pid
	redis other "${tux[@]}" || exit 1
	other=$port
	start both "${tux[@]}" "$load" --port "$one" --port "$other" \
		--conns 20 --size 1000 --every 100
	check "a client of two servers" wait_for 20 says both ready
	check "is on Tux with both" wait_for 10 moved both 40
	sleep 1			# as above
	killed=$(now)
	kill_9 "$one_pid"
	check_final "it sees all 20 end" wait_for 10 ended both "$one" 20
	last=$(awk '/^ended/ { t = $3 } END { printf "%.0f", t }' \
		"$dir/both.out")
	echo "# the last one after $((last - killed)) ms"
	! thorough || check "... within a second" [ $((last - killed)) -le 1000 ]
	check "it goes on with the other server" goes_on both "$other"
	check_final "of whose connections none ended" none_ended both "$other"
	kill "$pid"
	reap "$pid"
	same_final "its answers were right" 0 $?
}

benchmark_sees_it()
{
	redis server "${tux[@]}" || exit 1
	server=$pid
	start bench "${tux[@]}" redis-benchmark -p "$port" -c 50 -d 1024 \
		-n 100000000 -t get -q
	check "redis-benchmark runs" wait_for 20 at_least "$port" 50
	sleep 1			# they have moved, but on a late machine
	kill_9 "$server"
	check_final "it ends when its server does" wait_for 10 no_more "$pid"
}

server_stops()
{
	redis server "${tux[@]}" || exit 1
	server=$pid
	start patient "${tux[@]}" "$load" --port "$port" --conns 10 \
		--size 1000 --every 100
	check "a client runs" wait_for 20 says patient ready
	# A stop of 3 s is longer than an end waits for packets, and on a late
	# machine it is longer still.  The load has to end, at any time.
	sleep 1
	kill -STOP "$server"
	sleep 3
	kill -CONT "$server"
	check "3 s later it goes on" goes_on patient "$port"
	check_final "on the same connections" none_ended patient "$port"
	kill -STOP "$pid"
	sleep 2
	check "a client is stopped: others are served" run 60 "${tux[@]}" \
		redis-benchmark -p "$port" -c 10 -n 20000 -t get -q
	kill -CONT "$pid"
	check "it goes on, too" goes_on patient "$port"
	kill "$pid"
	reap "$pid"
	same_final "its answers were right" 0 $?
	end "$server"
}

part "a client dies"
client_dies
part "a server dies"
server_dies
part "a server dies, and its client gives up"
benchmark_sees_it
part "a server stops, and a client"
server_stops
finish
