#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# loss - bench/loss measures all that it says, in virtual time and between two
# hosts, and leaves nothing behind

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"

loss=$src/bench/loss
tux=(env)
need taskset ip nsenter
privilege "$@"
setup
export TMPDIR=$dir		# its own directory goes in here

# sound FILE: nine rows, each with latencies that make sense, and gains
sound()
{
	awk '
		/^#/ || $1 == "loss:" { next }
		NF != 10 || $3 <= 0 || $4 <= 0 || $5 < $4 || $6 < $5 || $7 < $6 ||
			($2 == "kernel-tcp") != ($8 == "-") { bad = 1; print }
		{ n++ }
		END { if (n != 9) print n " rows"
			exit bad || n != 9 }' "$1"
}

# try NAME WORDS...: sets $rc and $last
try()
{
	start "$1" "$loss" "${@:2}" --json "$dir/$1.json"
	loss_pid=$pid
	wait "$pid"
	rc=$?
	last=$(tail -n 1 "$dir/$1.out")
	[ $rc = 0 ] || sed 's/^/# /' "$dir/$1.out" "$dir/$1.err"
}

# In virtual time, what is lost is so for each alike.
try sim --sim --runs 1 --seconds 1
same "simulated: it is ok" "loss: ok" "$last"
check "a row for each" sound "$dir/sim.out"
check "and as JSON" [ "$(grep -c '"where": "sim"' "$dir/sim.json")" = 9 ]
check "without order, 99 % are faster than TCP's under loss" \
	awk '$1 == 1 && $2 == "unordered" { good = $10 > 0 }
		END { exit !good }' "$dir/sim.out"

try live --runs 1 --seconds 0.3 --warm-up 0.2 --rate 2000 --io udp
[ $rc != 77 ] || cannot "${last#loss: failed: }"
same "live: it is ok" "loss: ok" "$last"
check "a row for each" sound "$dir/live.out"
check "and as JSON" [ "$(grep -c '"where": "live"' "$dir/live.json")" = 9 ]
same "no namespace is left" 0 "$(ip netns list | grep -c "^tux-$loss_pid-")"

for words in "--runs 0" "--rate" "--io tcp" "--fast"; do
	# shellcheck disable=SC2086 # several words
	"$loss" $words >"$dir/use.out" 2>&1
	same "wrong use: $words" 2 $?
done
finish
