#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# compare - bench/compare makes its hosts, measures over all there is, and
# leaves nothing behind.  What it measures, and whether a busy machine lets it,
# is not judged

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"

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

# sound LEAST MOST: so many rows, each with a rate, latencies, CPU, and the
# ratio of the rates, however slow one of them was
sound()
{
	awk -v least="$1" -v most="$2" '
		$1 == "#" || $1 == "compare:" { next }
		$2 == "kernel" { kernel = $3 }
		{ off = kernel > 0 ? $8 - $3 / kernel : 1 }
		NF != 9 || $3 <= 0 || $4 <= 0 || $5 < $4 || $6 < $5 ||
			$7 <= 0 || off < -0.01 || off > 0.01 { bad = 1; print }
		{ n++ }
		END { if (n < least || n > most) print n " rows"
			exit bad || n < least || n > most }' "$dir/rows.out"
}

rows()
{
	grep -vc -e '^#' -e '^compare:' "$dir/rows.out"
}

start rows "$compare" echo-64-1x32 memcached-get-50 --runs 1 --seconds 0.5 \
	--warm-up 0.2 --json "$dir/rows.json"
compare_pid=$pid
wait "$compare_pid"
rc=$?
last=$(tail -n 1 "$dir/rows.out")
[ $rc != 77 ] || cannot "${last#compare: failed: }"
[ $rc = 0 ] || sed 's/^/# /' "$dir/rows.out" "$dir/rows.err"
# Each run that is none has its reason, and its row is missing.
if [ $rc = 0 ]; then
	same "it is ok" "compare: ok" "$last"
	check "a row for each" sound 11 11
else
	check "it says why not" grep -q '^compare: failed: .' <<<"$last"
	check "the others have a row" sound 1 11
fi
same "and the same as JSON" "$(rows)" "$(grep -c '"name": ' "$dir/rows.json")"
same "no namespace is left" 0 "$(namespaces_of "$compare_pid")"

start stopped "$compare" idle --runs 9
compare_pid=$pid
wait_for 10 grep -qs '^#' "$dir/stopped.out"
sleep 0.5		# it is in the middle, but on a late machine
kill "$compare_pid"
reap "$compare_pid"
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
