#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# hooks - a program that runs no routine does not notice the calls that libtux
# replaces: t/live/hooks/hooks prints the same with libtux as without

set -u
build=${TUX_BUILD:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

n=0 failed=0
# result RC NAME
result()
{
	((n++))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		failed=1
	fi
}

# replaced PROGRAM: how many of the calls are not the C library's, "N of N"
replaced()
{
	"$build/t/live/hooks/$1" --count
}

"$build/t/live/hooks/hooks" >"$dir/libc" 2>&1
result $? "each call is made with the C library alone"

# Nothing is replaced with --disable-preemption.
want=$(replaced hooks)
if grep -q '^PREEMPT_CPPFLAGS = -D' "$build/Makefile"; then
	want="${want#* of } of ${want#* of }"
fi

for program in hooks_shared hooks_archive; do
	now=$(replaced "$program")
	[ "$now" = "$want" ]
	result $? "$program: $now calls are replaced, as in this configuration"
	"$build/t/live/hooks/$program" >"$dir/tux" 2>&1
	diff -u --label libc --label "$program" "$dir/libc" "$dir/tux" \
		>"$dir/diff"
	result $? "$program: each call does what the C library's does"
	sed 's/^/# /' "$dir/diff"
done
echo "1..$n"
exit $failed
