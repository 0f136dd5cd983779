#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# calls - what the kernel's calls do, seen by programs that know it well: as a
# check of themselves, and on both drivers under Tux

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

programs=(bytes options whole bare block ends family spawned churn closing
	pollset handlers heirs sandbox shallow signals clock epoll_level epoll_edge epoll_end
	epoll_nest epoll_plain epoll_threads epoll_crowd poll_plain polled uring)

# try NAME DRIVER WORDS...: starts the program of that name, under WORDS.
try()
{
	local name="$1, $2" quiet=()

	# What it starts must not move its connections, and nothing else may.
	[ "$1" != spawned ] || quiet=("${calm[@]}")

	# The subshell exits, also where a signal has ended the program: bash may
	# forget a job that a signal ended before `wait -n` returns it.
	(cd "$dir" && timeout -k 5 300 "${quiet[@]}" "${@:3}" "$build/t/posix/$1"
		exit $?) \
		>"$dir/$name.out" 2>"$dir/$name.err" </dev/null &
	tried[$!]=$name
	[ ${#tried[@]} -lt 6 ] || judge
}

# Waits for one of what was started.
judge()
{
	local name rc pid

	wait -n -p pid "${!tried[@]}"
	rc=$?
	name=${tried[pid]}
	unset "tried[pid]"
	cases_of "$name" $rc
}

tried=()		# by process
need "${programs[@]/#/$build/t/posix/}"
setup
calmly
# Six at a time: most of them sleep most of the time.
for p in "${programs[@]}"; do
	try "$p" "kernel" env
	try "$p" "inline" "${tux[@]}" -m inline
	try "$p" "thread" "${tux[@]}" -m threads=1
done

# What addresses have to do with, over IPv6, and over IPv4 with a listener of
# IPv6.
for family in 6 46; do
	export PAIR_FAMILY=$family
	try bytes "inline, family $family" "${tux[@]}" -m inline
	try closing "inline, family $family" "${tux[@]}" -m inline
done
while [ ${#tried[@]} -gt 0 ]; do judge; done
finish
