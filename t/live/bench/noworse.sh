#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# noworse - bench/noworse judges its rows as it says, measures what it names,
# and leaves nothing behind

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../../bench/noworse_verdict.sh"

noworse=$src/bench/noworse
need redis-server redis-benchmark taskset
privilege "$@"
setup
export TMPDIR=$dir		# its own directory goes in here

# ---- arithmetic --------------------------------------------------------------

# judged KERNEL CONTROL TUX: the row of such runs, each "RATE P99 CPU PATH", of
# which there may be several, with commas between
judged()
{
	local c

	for c in kernel control tux; do
		tr ',' '\n' <<<"$1" >"$dir/$c.runs"
		shift
	done
	judge "$dir"/{kernel,control,tux}.runs
}

# verdict RATIO CONTROL [P99-RATIO P99-CONTROL]: only the word
verdict()
{
	judged "$(scaled 1 "${3:+1}")" "$(scaled "$2" "${4:-}")" \
		"$(scaled "$1" "${3:-}")" | awk '{ print $NF }'
}

# The run with so many times that rate, and that p99.
scaled()
{
	awk -v r="$1" -v p="$2" 'BEGIN {
		print r * 1000, (p == "" ? "-" : p * 100), 1, "-" }'
}

same "the columns" \
	"1500 1000 1.500 1.050 0.500 1.100 2.000 0.900 holds" \
	"$(judged "1000 20 1 -" "1050 22 1 -" "1500 10 2 0.9")"
same "are made of medians" \
	"300 100 3.000 1.000 2.000 1.000 1.000 0.500 late" \
	"$(judged "100 5 1 -,1 500 9 -,900 4 0 -" "100 5 1 -,2 1 1 -,101 9 1 -" \
		"300 10 1 0.5,299 1 2 0.1,999 11 0 1")"
same "what a tool does not tell is not judged" \
	"100 100 1.000 1.000 - - 1.000 1.000 holds" \
	"$(judged "100 - 1 -" "100 - 1 -" "100 - 1 1")"

same "5 % less is the same" holds "$(verdict 0.95 1)"
same "more is not" slow "$(verdict 0.949 1)"
same "a control below 1 allows as much" holds "$(verdict 0.86 0.905)"
same "and no more" slow "$(verdict 0.859 0.905)"
same "a control above 1 asks for nothing" holds "$(verdict 0.95 1.09)"
same "a control too low" noise "$(verdict 1 0.899)"
same "a control too high" noise "$(verdict 1 1.101)"
same "at the bounds" "holds holds" "$(echo "$(verdict 1 0.9)" \
	"$(verdict 1 1.1)")"
same "a p99 5 % above is the same" holds "$(verdict 1 1 1.05 1)"
same "more is not" late "$(verdict 1 1 1.051 1)"
same "a control above 1 allows as much" holds "$(verdict 1 1 1.25 1.2)"
same "a control below 1 asks for nothing" holds "$(verdict 1 1 1.04 0.5)"

# The last line for rows "NAME RATIO VERDICT".
summed()
{
	printf '%s\n' "$@" | awk '{ print $1, 1500, 1, 1, $2, 1, 1, 1, 1, 1, $3 }' |
		sum_up
}

same "all rows hold: the least ratio" "ok worst=0.97 name=b" \
	"$(summed "a 2 holds" "b 0.97 holds" "c 1 holds")"
same "some failed: the least of theirs" "failed worst=1.20 name=b" \
	"$(summed "a 0.96 holds" "b 1.2 late" "c 1.3 noise")"
same "before or after one that holds" "failed worst=0.50 name=a" \
	"$(summed "a 0.5 slow" "b 0.4 holds")"
same "a row without a result is the worst" "failed worst=0.00 name=b" \
	"$(summed "a 0.5 slow" "b - broken")"
same "a row that could not run" "incomplete worst=2.00 name=a" \
	"$(summed "a 2 holds" "b - skipped")"
same "does not hide one that failed" "failed worst=0.50 name=a" \
	"$(summed "b - skipped" "a 0.5 slow")"
same "no row at all" incomplete "$(sum_up </dev/null)"

# ---- the command line --------------------------------------------------------

for words in "--runs 0" "--runs" "gopher" "--path fast" "--mtu 77" "--fast"; do
	# shellcheck disable=SC2086 # several words
	"$noworse" $words >"$dir/use.out" 2>&1
	same "wrong use: $words" "2 no" "$? $(grep -q '^usage' "$dir/use.out" ||
		echo no)$(grep -q "^noworse: " "$dir/use.out" && echo no)"
done

# ---- a row -------------------------------------------------------------------

# namespaces_of PID: how many of its network namespaces there are
namespaces_of()
{
	ip netns list | grep -c "^tux-$1-"
}

# sound FILE: one row, whose columns fit together, and the last line and the
# status to it
sound()
{
	awk -v status="$2" '
		$1 == "#" { next }
		$1 == "noworse:" {
			ok = $2 == (verdict == "holds" ? "ok" : "failed")
			ok = ok && status == (verdict == "holds" ? 0 : 1)
			named = $4 == "name=udp-get-1k"
			next
		}
		{
			n++
			verdict = $NF
			off = $5 - $3 / $4
			good = NF == 11 && $1 == "udp-get-1k" && $2 == 9000 &&
				off < 0.01 && off > -0.01 && $6 > 0 &&
				$7 > 0 && $8 > 0 && $9 > 0 && $10 >= 0
		}
		END { exit !(n == 1 && good && ok && named) }' "$1"
}

start row "$noworse" udp-get-1k --mtu 9000 --runs 1 --quick
noworse_pid=$pid
wait "$noworse_pid"
rc=$?
sed 's/^/# /' "$dir/row.out" "$dir/row.err"
check "a row, and what follows from it" sound "$dir/row.out" $rc
same "no namespace is left" 0 "$(namespaces_of "$noworse_pid")"

start stopped "$noworse" udp-get-16k --mtu 1500 --runs 9 --quick
noworse_pid=$pid
wait_for 10 grep -qs ' run 1 of 9' "$dir/stopped.err"
kill "$noworse_pid"
reap "$noworse_pid"
same "ended in the middle, it says so" \
	"noworse: failed: it was interrupted" "$(tail -n 1 "$dir/stopped.out")"
same "and no namespace is left" 0 "$(namespaces_of "$noworse_pid")"
finish
