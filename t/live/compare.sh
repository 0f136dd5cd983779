#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# compare - bench/compare makes its hosts, measures over all there is, and
# leaves nothing behind

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"

compare=$src/bench/compare
need redis-server memcached taskset
privilege "$@"
setup
export TMPDIR=$dir		# its own directory goes in here

# namespaces_of PID: how many of its network namespaces there are
namespaces_of()
{
	ip netns list | grep -c "^tux-$1-"
}

# sound N: so many rows, each with a rate, latencies, CPU, and the ratio of the
# rates, however slow one of them was
sound()
{
	awk -v want="$1" '
		$1 == "#" || $1 == "compare:" { next }
		$2 == "kernel" { kernel = $3 }
		{ off = kernel > 0 ? $8 - $3 / kernel : 1 }
		NF != 9 || $3 <= 0 || $4 <= 0 || $5 < $4 || $6 < $5 ||
			$7 <= 0 || off < -0.01 || off > 0.01 { bad = 1; print }
		{ n++ }
		END { if (n != want) print n " rows"
			exit bad || n != want }' "$dir/rows.out"
}

has_json()
{
	[ "$(grep -c '"name": ' "$dir/rows.json")" = "$1" ] &&
		grep -q '"contender": "tux-inline", "rate": [1-9]' \
			"$dir/rows.json"
}

start rows "$compare" echo-64-1x32 memcached-get-50 --runs 1 --seconds 0.5 \
	--warm-up 0.2 --json "$dir/rows.json"
compare_pid=$pid
wait "$compare_pid"
rc=$?
last=$(tail -n 1 "$dir/rows.out")
[ $rc != 77 ] || cannot "${last#compare: failed: }"
same "it is ok" "compare: ok" "$last"
[ $rc = 0 ] || sed 's/^/# /' "$dir/rows.out" "$dir/rows.err"
check "a row for each" sound 11
check "and the same as JSON" has_json 11
same "no namespace is left" 0 "$(namespaces_of "$compare_pid")"

start stopped "$compare" idle --runs 9
compare_pid=$pid
wait_for 10 grep -qs '^#' "$dir/stopped.out"
sleep 0.5
kill "$compare_pid"
wait "$compare_pid"
same "ended in the middle, it says so" \
	"compare: failed: it was interrupted" "$(tail -n 1 "$dir/stopped.out")"
same "and no namespace is left" 0 "$(namespaces_of "$compare_pid")"

for words in "--runs 0" "--runs" "gopher" "--seconds x" "--fast"; do
	# shellcheck disable=SC2086 # several words
	"$compare" $words >"$dir/use.out" 2>&1
	same "wrong use: $words" "2 no" "$? $(grep -q '^usage' "$dir/use.out" ||
		echo no)$(grep -q "^compare: " "$dir/use.out" && echo no)"
done
finish
