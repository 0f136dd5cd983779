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

# all_moved LOG SEED WORDS...: 16 connections of the log have moved, in the end:
# a client may be done before the last of its connections has
all_moved()
{
	local try

	for try in 1 2 3 4 5; do
		! moved "$1" 16 || return 0
		client "$1" text "$2$try" "${@:3}" || return
	done
	moved "$1" 16
}

threads()
{
	[ "$(ls "/proc/$pid/task" | wc -l)" -gt 4 ]
}

server tuxed "${tux[@]}" || exit 1
check "it has its workers" threads
check_final "Tux server, plain client, text" client plain text 1
check_final "Tux server, plain client, binary" client plain binary 2
check_final "Tux server, Tux client, text" client both text 3 "${tux[@]}"
check_final "Tux server, Tux client, binary" client both binary 4 "${tux[@]}"
if [ "${tux[0]}" = env ]; then
	skip "the connections move" "runs without tuxrun"
else
	check "the connections move" all_moved both 3 "${tux[@]}"
fi
start busy "${tux[@]}" "$mc" binary --port "$port" --seed 5 --n 3000 --max 2000
busy=$pid
check_final "plain and Tux clients at a time" client plain text 6
reap "$busy" 60
same_final "the Tux one was right too" 0 $?

if [ "${tux[0]}" = env ]; then
	skip "two threads for the network" "runs without tuxrun"
else
	server threads "${tux[@]}" -m threads=2 || exit 1
	check_final "two threads for the network, text" \
		client two text 7 "${tux[@]}"
	check_final "two threads for the network, binary" \
		client two binary 8 "${tux[@]}" -m threads=2
	check "the connections move" all_moved two 7 "${tux[@]}"
fi

server plain || exit 1
check_final "plain server, Tux client, text" client one text 1 "${tux[@]}"
check_final "plain server, Tux client, binary" client one binary 2 "${tux[@]}"
finish
