# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# tally - what the logs of tests say: how many cases passed, why others did not,
# and whether a test that failed may run once more
#
# contrib/check sources it.  A log is that of automake's parallel tests: what
# the program said, and in its last line how it ended.

: "${top:?contrib/check sets it}"
expected_skips="always machine"	# kinds of t/skips

# count NAME LOG RESULT: prints "PASSED FAILED SKIPPED" for a program that ended
# with automake's RESULT.  A case that was skipped counts as failed unless
# t/skips expects it.
count()
{
	awk -v name="$1" -v res="$3" -v kinds="$expected_skips" '
	function expected(reason,   i) {
		for (i = 1; i <= n_skips; i++)
			if (name ~ test[i] && reason ~ why[i])
				return 1
		return 0
	}
	FILENAME ~ /\/skips$/ {
		if (split($0, word, "\t") == 3 && kinds ~ word[1]) {
			test[++n_skips] = "^" word[2] "$"
			why[n_skips] = "^" word[3] "$"
		}
		next
	}
	/^(not )?ok .*# [Ss][Kk][Ii][Pp]/ {
		reason = $0
		sub(/^.*# [Ss][Kk][Ii][Pp] */, "", reason)
		if (expected(reason)) s++; else unexpected++
		next
	}
	/^not ok( |$)/ { f++ }
	/^ok( |$)/ { p++ }
	/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {
		own = 1; own_p = $1; own_f = $3; own_s = $5
	}
	!/^$|^SKIP |^# (took|the machine) / { last = $0 }
	END {
		if (own) { p = own_p; f = own_f; s = own_s - unexpected }
		f += unexpected
		if (res == "SKIP" && p + f + s == 0) {
			sub(/^.*# [Ss][Kk][Ii][Pp] */, "", last)
			if (expected(last)) s = 1; else f = 1
		}
		if (res == "PASS" && p + f + s == 0) p = 1
		if (res != "PASS" && res != "SKIP" && f == 0) f = 1
		print p + 0, f + 0, s + 0
	}' "$top/t/skips" "$2" 2>/dev/null || echo 0 1 0
}

# Why a program skipped: its last word in the log.
reason()
{
	grep -vE '^$|^(SKIP|PASS) |^# (took|the machine) ' "$1" | tail -n 1 |
		sed 's/^.*# [Ss][Kk][Ii][Pp] *//'
}

# How long it took, if that is worth a word.
seconds()
{
	sed -n 's/^# took \([0-9]*[1-9][0-9]* s\)$/, \1/p' "$1" | tail -n 1
}

# The cases of a log that failed, or were skipped, each with what was said of
# it.
failed_cases()
{
	awk '
	/^(not )?ok / { show = /^not / || /# [Ss][Kk][Ii][Pp]/; lines = 0 }
	/^((not )?ok |# )/ && !/^# took/ && show && lines++ < 8' "$1"
}

# The beginning of the first report of a sanitizer in a log.
sanitizer_said()
{
	sed -nE '/^WARNING: ThreadSanitizer|^==[0-9]+==ERROR: |: runtime error: /,$p' \
		"$1" | head -n 50
}

# fault LINE LOG: a failure in a line, and why, with the end of the log, where
# a program that died has its last words.
fault()
{
	echo "$1"
	{
		echo "${2#"$top"/}:"
		failed_cases "$2" | head -n 24
		sanitizer_said "$2"
		echo "..."
		tail -n 25 "$2"
	} 2>&1 | sed 's/^/    | /'
}

# only_once NAME LOG: why the failed test may not run once more; says nothing if
# it may.  Only a test that has the machine to itself may: the others do not
# depend on how fast a machine is.  And what it says must not show a fault that
# comes and goes: a crash, a sanitizer's report, wrong bytes, a lost frame, a
# process that does not end.
only_once()
{
	local status

	case $1 in
	t/live/* | t/posix/*) ;;
	*) echo "runs side by side with others"; return ;;
	esac
	status=$(sed -n 's/^FAIL .*(exit status: \([0-9]*\))$/\1/p' "$2" |
		tail -n 1)
	if [ "${status:-1}" -ge 124 ]; then
		echo "ended with status $status"
		return
	fi
	grep -m 1 -E -e '^# final: ' \
		-e 'Sanitizer: |runtime error: ' \
		-e '(Segmentation fault|Aborted|Bus error|Illegal instruction)' \
		-e '(Floating point exception|Bad system call|core dumped)' \
		-e 'Assertion .* failed|crashed by signal' \
		-e '^# *difference at offset' "$2"
}
