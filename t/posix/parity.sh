#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# parity - random calls come out under Tux as they do over kernel TCP
#
# The scripts are those of the first seeds, and in a thorough run those from a
# random seed on.  TUX_TEST_SEED and TUX_TEST_CALLS are another first seed and
# another number of calls.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

calls=4000 seed=1
! thorough || calls=20000 seed=$((RANDOM << 15 | RANDOM))
calls=${TUX_TEST_CALLS:-$calls}
seed=${TUX_TEST_SEED:-$seed}
need "$build/t/posix/parity"
setup

echo "# from seed $seed"
said=$(run 500 "$build/t/posix/parity" --calls "$calls" --from "$seed" \
	"${tux[@]}" 2>"$dir/players.err" | tee "$dir/said")
same_final "no call differs, and kernel TCP is like itself" ", 0 differences" \
	"$(sed -n '$s/^parity: [0-9]* calls//p' <<<"$said")"
check "a third of the calls fall on sockets on Tux" awk -v calls="$calls" '
	/ calls on Tux$/ { n = $(NF - 3) }
	END { print n, "of", calls; exit n < calls / 3 }' "$dir/said"
check "each kind of call is made" awk '
	/^listen / { seen = 1; if (/ 0(,|$)/) exit 1 }
	END { exit !seen }' "$dir/said"
sed 's/^/# /' "$dir/said"

# differed_once SEED OPTION...: it does not any more
differed_once()
{
	said=$(run 120 "$build/t/posix/parity" "${@:2}" --from "$1" \
		"${tux[@]}" 2>"$dir/players.err")
	same_final "seed $1" ", 0 differences" \
		"$(sed -n '$s/^parity: [0-9]* calls//p' <<<"$said")"
}

for seed in 4455 7654423 7654514 7654918 144080738 \
	544476949 544476986 946732107; do
	differed_once $seed --first --calls 180
done
for seed in 100200015 140400090 83001662 89000312 90300675 239028039; do
	differed_once $seed --calls 1
done
finish
