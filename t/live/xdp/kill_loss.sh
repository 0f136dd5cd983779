#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# kill_loss - kill.sh where packets get lost, 1 in 100 and 1 in 10,
# TCP's too: the other side may see the ends later, but sees them all
#
# The kernel sends no reset of TCP twice.  If a question has arrived, and the server
# dies before it has read it, the client waits for ever if the reset is lost, with Tux or without.  So resets are spared.

set -o pipefail
here=$(dirname "${BASH_SOURCE[0]}")
for loss in 0.01 0.1; do
	echo "# --- loss $loss"
	# Two programs' cases are counted one by one, not by the last word.
	TUX_TEST_IO=xdp \
		TUX_TEST_NET="wire --seed 1 --loss $loss --spare-resets" \
		"$here/kill.sh" "$@" |
		grep --line-buffered -v ' skipped$' || exit
done
