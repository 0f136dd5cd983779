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

# left_by PID: namespaces, and directories in memory, that are of this process
left_by()
{
	ip netns list | grep "^tux-$1-"
	grep -ls "^$1 " /dev/shm/tux-figures.*/owner
}

start rows "$figures" 14 15 17 --quick --json "$dir/f.json" --html "$dir/f.html"
figures_pid=$pid
wait "$figures_pid"
rc=$?
last=$(tail -n 1 "$dir/rows.out")
[ $rc != 77 ] || cannot "${last#figures: failed: }"
[ $rc = 0 ] || sed 's/^/# /' "$dir/rows.out" "$dir/rows.err"
# On a busy machine, a run may be none; then it says which.
if [ $rc = 0 ]; then
	same "it is ok" "figures: ok" "$last"
else
	check "it says why not" grep -q '^figures: failed: .' <<<"$last"
fi
check "JSON is whole" perl -MJSON::PP -e '
	my $all = decode_json(join "", <STDIN>);
	exit !(@{$all->{points}} && $all->{machine}{kernel} && $all->{15}{3498})
	' <"$dir/f.json"
same "a section for each figure" "14 15 17" \
	"$(grep -o '<section id="f[0-9]*' "$dir/f.html" | grep -o '[0-9]*$' |
		paste -sd ' ')"
check "... with plots" [ "$(grep -c '^</svg>' "$dir/f.html")" -ge 12 ]
same "nothing is left" "" "$(left_by "$figures_pid")"

start cut "$figures" 14 --quick
figures_pid=$pid
wait_for 20 grep -qs YCSB "$dir/cut.out"
kill -INT "$figures_pid"
reap "$figures_pid"
check "an interrupt ends it" grep -q '^figures: failed: it was interrupted' \
	"$dir/cut.out"
same "and leaves nothing" "" "$(left_by "$figures_pid")"

finish
