#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# load - bench/load tells the truth: about latency while a server stands still,
# about wrong answers, about connections that end, and about CPU

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"

load=$build/bench/load
need "$load" "$build/bench/echo"
setup

# Words for bench/load; its last line goes to load.out.  Sets $rc.
ask()
{
	run 60 "$load" --port "$port" "$@" >"$dir/load.out" 2>"$dir/load.err"
	rc=$?
}

# field NAME: of its last line
field()
{
	tail -n 1 "$dir/load.out" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# holds NAME TEST VALUE: compares as awk does
holds()
{
	check "$1 $2 $3, it is $(field "$1")" awk -v a="$(field "$1")" \
		-v b="$3" "BEGIN { exit !(a != \"\" && a $2 b) }"
}

serve server "$build/bench/echo" --host 127.0.0.1 --port @PORT@ || exit 1
server=$pid

ask --connections 5 --in-flight 3 --requests 3000 --size 100 --warm-up 0.1 \
	--cpu-of "$server"
same "a closed loop ends well" "0 0" "$rc $(field errors)"
holds ops ">=" 3000
holds rate ">" 0
holds p50 "<=" "$(field p99)"
holds p99 "<=" "$(field max)"
holds cpu ">" 0
holds cpu_all ">" "$(field cpu)"

# Of 300 questions that are due in 1.5 seconds, at least a fifth is due while
# the server stands still for 0.4, though but one connection waits.
kill -STOP "$server"
start load "$load" --port "$port" --rate 200 --requests 300 --warm-up 0
wait_for 10 grep -qs ^measuring "$dir/load.out"
sleep 0.4
kill -CONT "$server"
reap "$pid" 60
same "an open loop ends well" "0 0" "$? $(field errors)"
holds p99 ">=" 200000
holds ops ">=" 300

# The rate is held whatever the number of connections.
ask --connections 7 --rate 500 --seconds 2 --warm-up 0
same "... with more connections, too" "0 0" "$rc $(field errors)"
if thorough; then
	holds rate ">=" 400
	holds rate "<=" 600
fi

start going "$load" --port "$port" --warm-up 0 --go "$dir/go" --seconds 0.1
sleep 0.3		# in which it could
same "it does not measure before it is told" "" "$(cat "$dir/going.out")"
: >"$dir/go"
reap "$pid"
same "and then it does" 0 $?

ask --protocol redis-set --connections 3 --seconds 10 --warm-up 0
same "wrong answers are errors" 1 $rc
holds errors ">=" 3

start gone "$load" --port "$port" --seconds 300
wait_for 10 grep -qs ^measuring "$dir/gone.out"
end "$server"
reap "$pid"
same "it ends when all connections have" 1 $?
same "and says so" 1 "$(grep -o 'errors=[1-9]' "$dir/gone.out" | wc -l)"
ask --seconds 1
same "no server is a failure" 1 $rc

for words in "--size 0" "--protocol gopher" "--rate 0" "--seconds x" "more"; do
	# shellcheck disable=SC2086 # several words
	ask $words
	same "wrong use: $words" 2 $rc
done
finish
