#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# loss - bench/loss measures all that it says, in virtual time and between two
# hosts, and leaves nothing behind.  What it measures between hosts, and whether
# a busy machine lets it, is not judged

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"

loss=$src/bench/loss
tux=(env)
need taskset ip nsenter
privilege "$@"
setup
export TMPDIR=$dir		# its own directory goes in here

# sound FILE [LEAST]: nine rows, or so many at least, each with latencies that
# make sense, and gains
sound()
{
	awk -v least="${2:-9}" '
		/^#/ || $1 == "loss:" { next }
		NF != 10 || $3 <= 0 || $4 <= 0 || $5 < $4 || $6 < $5 || $7 < $6 ||
			($2 == "kernel-tcp") != ($8 == "-") { bad = 1; print }
		{ n++ }
		END { if (n < least || n > 9) print n " rows"
			exit bad || n < least || n > 9 }' "$1"
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
# Each run that is none has its reason, and its row is missing.
if [ $rc = 0 ]; then
	same "live: it is ok" "loss: ok" "$last"
	check "a row for each" sound "$dir/live.out"
else
	check "live: it says why not" grep -q '^loss: failed: .* % ' <<<"$last"
	check "the others have a row" sound "$dir/live.out" 1
fi
same "and as JSON" "$(grep -c '^[0-9]' "$dir/live.out")" \
	"$(grep -c '"where": "live"' "$dir/live.json")"
same "no namespace is left" 0 "$(ip netns list | grep -c "^tux-$loss_pid-")"

for words in "--runs 0" "--rate" "--io tcp" "--fast"; do
	# shellcheck disable=SC2086 # several words
	"$loss" $words >"$dir/use.out" 2>&1
	same "wrong use: $words" 2 $?
done
finish
