#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# memcached - four worker threads, both protocols, with Tux on either side

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mc=$build/t/posix/mc
need memcached "$mc"
setup

user=()
[ "$(id -u)" != 0 ] || user=(-u nobody)

# server NAME WORDS...
server()
{
	serve "$@" memcached "${user[@]}" -l 127.0.0.1 -p @PORT@ -U 0 -t 4 \
		-m 1024
}

# client LOG PROTOCOL SEED WORDS...
client()
{
	local log=$1 protocol=$2 seed=$3

	shift 3
	run 60 "$@" "$mc" "$protocol" --port "$port" --seed "$seed" \
		2>"$dir/err" && rc=0 || rc=$?
	grep '^tux: ' "$dir/err" >>"$dir/$log.log"
	grep -v '^tux: ' "$dir/err"
	return $rc
}

moved()
{
	on_tcp "$dir/$1.log"
	[ "$(on_tux "$dir/$1.log")" -ge "$2" ]
}

threads()
{
	[ "$(ls "/proc/$pid/task" | wc -l)" -gt 4 ]
}

server tuxed "${tux[@]}" || exit 1
check "it has its workers" threads
check "Tux server, plain client, text" client plain text 1
check "Tux server, plain client, binary" client plain binary 2
check "Tux server, Tux client, text" client both text 3 "${tux[@]}"
check "Tux server, Tux client, binary" client both binary 4 "${tux[@]}"
if [ "${tux[0]}" = env ]; then
	skip "the connections moved" "runs without tuxrun"
else
	check "the connections moved" moved both 16
fi
start busy "${tux[@]}" "$mc" binary --port "$port" --seed 5 --n 3000 --max 2000
busy=$pid
check "plain and Tux clients at a time" client plain text 6
wait "$busy"
same "the Tux one was right too" 0 $?

if [ "${tux[0]}" = env ]; then
	skip "two threads for the network" "runs without tuxrun"
else
	server threads "${tux[@]}" -m threads=2 || exit 1
	check "two threads for the network, text" \
		client two text 7 "${tux[@]}"
	check "two threads for the network, binary" \
		client two binary 8 "${tux[@]}" -m threads=2
	check "the connections moved" moved two 16
fi

server plain || exit 1
check "plain server, Tux client, text" client one text 1 "${tux[@]}"
check "plain server, Tux client, binary" client one binary 2 "${tux[@]}"
finish
