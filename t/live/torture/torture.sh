#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# torture - routines under every allocator, at every slice
#
#   torture.sh [--seconds N] [--slice US]... [--malloc NAME]... [WORD]...
#
# Runs the program torture for each slice under each allocator; WORDs go behind its
# options.  Without options, torture.sh runs two seconds at 20 us under glibc;
# in a thorough run also 5 and 100 us there, and 20 us under jemalloc and
# tcmalloc.  With options, it runs all slices (5, 20 and 100 us) unless --slice
# names some, and all three allocators unless --malloc does.
#
# Late turns are errors in a thorough run and with options, and counted else.

set -u
build=${TUX_BUILD:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)}
torture=$build/t/live/torture/torture
seconds=2 slices=() mallocs=() words=() brief=yes
in_time=(--in-time)
job=

while [ $# -gt 0 ]; do
	case $1 in
	--seconds) seconds=$2 brief=; shift 2 ;;
	--slice) slices+=("$2") brief=; shift 2 ;;
	--malloc) mallocs+=("$2"); shift 2 ;;
	*) words=("$@"); break ;;
	esac
done
if [ -n "$brief" ] && [ -z "${TUX_TEST_THOROUGH:-}" ]; then
	slices=(20) mallocs=(glibc) in_time=()
fi
[ ${#slices[@]} -gt 0 ] || slices=(5 20 100)
[ ${#mallocs[@]} -gt 0 ] || mallocs=(glibc jemalloc tcmalloc)

[ -x "$torture" ] || { echo "not built: sanitizers preempt nothing"; exit 77; }
out=$(mktemp) || exit 1
trap '[ -z "$job" ] || kill "$job" 2>/dev/null; rm -f "$out"' EXIT
trap 'exit 1' HUP INT TERM

# object_of MALLOC: what is loaded for it
object_of()
{
	case $1 in
	glibc) return ;;
	jemalloc) set -- libjemalloc.so.2 ;;
	tcmalloc) set -- libtcmalloc_minimal.so.4 ;;
	esac
	/sbin/ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }'
}

n=0 failed=0 skipped=0
# one MALLOC SLICE: a case of the test
one()
{
	local object rc what="$1, $2 us"

	((n++))
	object=$(object_of "$1")
	if [ "$1" != glibc ] && [ -z "$object" ]; then
		echo "ok $n - $what # SKIP $1 is not installed"
		return
	fi
	LD_PRELOAD=$object "$torture" --seconds "$seconds" --slice "$2" \
		"${in_time[@]}" "${words[@]}" >"$out" 2>&1 &
	job=$!
	wait "$job"
	rc=$?
	job=
	sed 's/^[^#]/# &/' "$out"
	case $rc in
	0) echo "ok $n - $what" ;;
	77) ((skipped++)); echo "ok $n - $what # SKIP $(tail -n 1 "$out")" ;;
	*)
		((failed++))
		echo "not ok $n - $what"
		echo "# final: $what"
		;;
	esac
}

for malloc in "${mallocs[@]}"; do
	for slice in "${slices[@]}"; do
		if [ -n "$brief" ] && [ "$malloc" != glibc ] &&
			[ "$slice" != 20 ]; then
			continue
		fi
		one "$malloc" "$slice"
	done
done
echo "torture: $n runs of $seconds seconds, $failed failed"
[ "$skipped" -lt "$n" ] || exit 77
[ "$failed" = 0 ]
