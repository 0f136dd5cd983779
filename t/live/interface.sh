#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# interface - bench/interface measures each interface, and leaves nothing behind

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"

need taskset
privilege "$@"
setup
export TMPDIR=$dir		# its own directory goes in here

# A row for each, whose parts add up to what it says in all.
sound()
{
	awk '
		$1 == "#" || $1 == "interface:" { next }
		{
			off = $4 - $5 - $6 - $7
			if (NF != 7 || $3 <= 0 || $5 <= 0 || $7 <= 0 ||
				off < -1 || off > 1) bad = 1
			if (!seen[$2]++) n++
		}
		END { exit bad || n != 3 }' "$dir/rows.out"
}

has_json()
{
	[ "$(grep -c '"interface": ' "$dir/rows.json")" = 3 ]
}

start rows "$src/bench/interface" 64 --runs 1 --seconds 1 \
	--json "$dir/rows.json"
wait "$pid"
rc=$?
last=$(tail -n 1 "$dir/rows.out")
[ $rc != 77 ] || cannot "${last#interface: failed: }"
same "it is ok" "interface: ok" "$last"
[ $rc = 0 ] || sed 's/^/# /' "$dir/rows.out" "$dir/rows.err"
check "a row for each interface" sound
check "and the same as JSON" has_json
same "no namespace is left" 0 "$(ip netns list | grep -c "^tux-$pid-")"
for words in "--runs 0" "--runs" "big" "--fast"; do
	# shellcheck disable=SC2086 # several words
	"$src/bench/interface" $words >"$dir/use.out" 2>&1
	same "$words: wrong use" 2 $?
done
finish
