#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# parity - random calls come out under Tux as they do over kernel TCP

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

calls=${TUX_TEST_CALLS:-20000}
need "$build/t/posix/parity"
setup

said=$(run 170 "$build/t/posix/parity" --calls "$calls" "${tux[@]}" \
	2>"$dir/players.err" | tee "$dir/said")
same "no call differs, and kernel TCP is like itself" ", 0 differences" \
	"$(sed -n '$s/^parity: [0-9]* calls//p' <<<"$said")"
check "a third of the calls fall on sockets on Tux" awk -v calls="$calls" '
	/ calls on Tux$/ { n = $(NF - 3) }
	END { print n, "of", calls; exit n < calls / 3 }' "$dir/said"
check "each kind of call is made" awk '
	/^listen / { seen = 1; if (/ 0(,|$)/) exit 1 }
	END { exit !seen }' "$dir/said"
sed 's/^/# /' "$dir/said"
finish
