#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# figures - bench/figures --quick measures, and writes JSON and a page with a plot for
# each figure; it leaves nothing behind, also when it is interrupted.  What it measures
# is not judged

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"

figures=$src/bench/figures
need taskset perl "$build/contrib/tuxkv/tuxkv"
privilege "$@"
setup
export TMPDIR=$dir		# its own directory goes in here

# left_by PID: namespaces of processes that have ended, and its directories in memory
left_by()
{
	local ns

	for ns in /run/netns/tux-*-*; do
		[[ $ns =~ /tux-([0-9]+)- ]] && [ ! -d "/proc/${BASH_REMATCH[1]}" ] &&
			echo "$ns"
	done
	grep -ls "^$1 " /dev/shm/tux-figures.*/owner
}

# its_program_has_hosts PID: of the benchmark that it runs for a figure
its_program_has_hosts()
{
	local child

	for child in $(pgrep -P "$1"); do
		ip netns list | grep -q "^tux-$child-b" && return
	done
	return 1
}

# What it wrote, if each run was one.
whole()
{
	check "JSON is whole" perl -MJSON::PP -e '
		my $all = decode_json(join "", <STDIN>);
		exit !(@{$all->{points}} && $all->{machine}{kernel} &&
			$all->{15}{3498})' <"$dir/f.json"
	same "a section for each figure" "14 15 17" \
		"$(grep -o '<section id="f[0-9]*' "$dir/f.html" |
			grep -o '[0-9]*$' | paste -sd ' ')"
	check "... with plots" [ "$(grep -c '^</svg>' "$dir/f.html")" -ge 12 ]
}

start rows "$figures" 14 15 17 --quick --json "$dir/f.json" --html "$dir/f.html"
figures_pid=$pid
wait "$figures_pid"
rc=$?
last=$(tail -n 1 "$dir/rows.out")
[[ $last != "figures: failed: needs "* ]] || cannot "${last#figures: failed: }"
[ $rc = 0 ] || sed 's/^/# /' "$dir/rows.out" "$dir/rows.err"
# On a busy machine, a run may be none; then it says which.
if [ $rc = 0 ]; then
	same "it is ok" "figures: ok" "$last"
	whole
else
	check "it says why not" grep -q '^figures: failed: .' <<<"$last"
fi
same "nothing is left" "" "$(left_by "$figures_pid")"

# What a script starts in the background ignores SIGINT, unless it is told otherwise.
start cut env --default-signal=INT "$figures" 15 --quick
figures_pid=$pid
wait_for 20 its_program_has_hosts "$figures_pid"
kill -INT "$figures_pid"
reap "$figures_pid"
check "an interrupt ends it" grep -q '^figures: failed: it was interrupted' \
	"$dir/cut.out"
same "and leaves nothing" "" "$(left_by "$figures_pid")"

finish
