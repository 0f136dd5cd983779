#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tax - bench/tax measures each call in each state, and leaves nothing behind.
# What it measures, and whether a busy machine lets it, is not judged

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"

tax=$src/bench/tax
need "$build/bench/calls"
setup
export TMPDIR=$dir		# its own directory goes in here

# sound: each row has its columns, and a verdict that there is
sound()
{
	awk '
		$1 == "#" || $1 == "tax:" { next }
		NF != 6 || $NF !~ /^(holds|dear|noise|-)$/ { bad = 1 }
		$NF != "noise" && $2 <= 0 { bad = 1 }
		{ n++ }
		END { exit bad || !n }' "$dir/rows"
}

mapfile -t rows < <("$build/bench/calls" --list)
check "there are rows" [ ${#rows[@]} -gt 10 ]
run 600 "$tax" --runs 1 >"$dir/rows" 2>"$dir/err"
rc=$?
check "each is sound" sound
same "each in four states, three of them without a thread, too" \
	$((${#rows[@]} * 7)) \
	"$(grep -cv -e '^#' -e '^tax:' "$dir/rows")"
case $rc in
0) word=ok ;;
1) word=failed ;;
*) word=incomplete ;;
esac
check "the last line says how it ended" \
	grep -q "^tax: $word" <<<"$(tail -n 1 "$dir/rows")"
for words in "--runs 0" "--state odd" "--threads" "none" "--fast"; do
	# shellcheck disable=SC2086 # several words
	"$tax" $words >"$dir/use.out" 2>&1
	same "$words: wrong use" 2 $?
done
same "no directory is left" 0 \
	"$(find "$dir" -mindepth 1 -maxdepth 1 -name 'tux-tax.*' | wc -l)"
finish
