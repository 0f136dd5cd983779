#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# interface - bench/interface measures each interface, and leaves nothing
# behind.  What it measures, and whether a busy machine lets it, is not judged

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"

need taskset
privilege "$@"
setup
export TMPDIR=$dir		# its own directory goes in here

# sound LEAST: so many rows of the three, whose parts add up to what each says
# in all
sound()
{
	awk -v least="$1" '
		$1 == "#" || $1 == "interface:" { next }
		{
			off = $4 - $5 - $6 - $7
			if (NF != 7 || $3 <= 0 || $5 <= 0 || $7 <= 0 ||
				off < -1 || off > 1) bad = 1
			if (!seen[$2]++) n++
		}
		END { exit bad || n < least || n > 3 }' "$dir/rows.out"
}

rows()
{
	grep -vc -e '^#' -e '^interface:' "$dir/rows.out"
}

start rows "$src/bench/interface" 64 --runs 1 --seconds 1 \
	--json "$dir/rows.json"
wait "$pid"
rc=$?
last=$(tail -n 1 "$dir/rows.out")
[ $rc != 77 ] || cannot "${last#interface: failed: }"
[ $rc = 0 ] || sed 's/^/# /' "$dir/rows.out" "$dir/rows.err"
# Each run that is none has its reason, and its row is missing.
if [ $rc = 0 ]; then
	same "it is ok" "interface: ok" "$last"
	check "a row for each interface" sound 3
else
	check "it says why not" grep -q '^interface: failed: .' <<<"$last"
	check "the others have a row" sound 1
fi
same "and the same as JSON" "$(rows)" \
	"$(grep -c '"interface": ' "$dir/rows.json")"
same "no namespace is left" 0 "$(ip netns list | grep -c "^tux-$pid-")"
for words in "--runs 0" "--runs" "big" "--fast"; do
	# shellcheck disable=SC2086 # several words
	"$src/bench/interface" $words >"$dir/use.out" 2>&1
	same "$words: wrong use" 2 $?
done
finish
