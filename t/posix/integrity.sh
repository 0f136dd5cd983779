#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# integrity - values of 1 B to 1 MB written through Tux and read back through
# plain TCP, and the other way round, every byte compared
#
#   integrity.sh [--full | --n N] [--seed S]
#
# N values each way (2,000; --full: 100,000), a batch at a time: the server
# never holds more than one.  Each way of waiting takes its turn.  The seed is
# 1, or in a thorough run another each time.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

n=2000 seed=1
! thorough || seed=$((RANDOM * 32768 + RANDOM))
modes=(block epoll edge poll select)
conns=8 most=2000	# values in a batch: about 180 MB

while [ $# -gt 0 ]; do
	case $1 in
	--full) n=100000 ;;
	--n) n=$2; shift ;;
	--seed) seed=$2; shift ;;
	*) echo "usage: integrity.sh [--full | --n N] [--seed S]" >&2; exit 2 ;;
	esac
	shift
done

values=$build/t/posix/values
need redis-server redis-cli "$values"
scene "$@"
redis server "${tux[@]}" || exit 1

# all_moved N: the client's connections, for N values
all_moved()
{
	[ "$(on_tux "$dir/err")" = $(($1 < conns ? $1 : conns)) ]
}

# tell N: lets the client end, by a file, when it may.  Sets $teller.
tell()
{
	rm -f "$dir/moved"
	{ wait_for 60 all_moved "$1"; : >"$dir/moved"; } &
	teller=$!
}

# one VERB HOW MODE FROM N: over Tux the connections go on until all have moved,
# and then once more; else those of a fast machine end before.
one()
{
	local with=() until=() teller= rc

	: >"$dir/err"
	if [ "$2" = tux ]; then
		with=("${tux[@]}")
		if [ "${tux[0]}" != env ]; then
			until=(--until "$dir/moved")
			tell "$5"
		fi
	fi
	run 240 "${a[@]}" "${with[@]}" "$values" "$1" --host $bind \
		--port "$port" --seed "$seed" --mode "$3" --from "$4" \
		--n "$5" --conns $conns "${until[@]}" \
		>>"$dir/said" 2>>"$dir/err"
	rc=$?
	[ -z "$teller" ] || end "$teller"
	grep '^tux: ' "$dir/err" >>"$dir/$2.log"
	grep -v '^tux: ' "$dir/err"
	return $rc
}

# batch WRITER READER MODE FROM N
batch()
{
	one write "$1" "$3" "$4" "$5" && one read "$2" "$3" "$4" "$5" &&
		one del plain epoll "$4" "$5"
}

# way WRITER READER: the values in batches, each with the next mode
way()
{
	local from=0 size i=0 per=$(((n + ${#modes[@]} - 1) / ${#modes[@]}))

	[ $per -lt $most ] || per=$most
	while [ $from -lt "$n" ]; do
		size=$((n - from < per ? n - from : per))
		check_final "$size values from $from, seed $seed, \
written by $1, read by $2, ${modes[i % ${#modes[@]}]}" \
			batch "$1" "$2" "${modes[i % ${#modes[@]}]}" $from $size
		((from += size, i += 1))
	done
}

moved()
{
	local on all

	on=$(on_tux "$dir/tux.log")
	all=$(talked_of "$dir/tux.log")
	echo "$on of $all connections moved to Tux"
	on_tcp "$dir/tux.log"
	[ "$all" -gt 0 ] && [ "$on" = "$all" ]
}

way tux plain
way plain tux
if [ "${tux[0]}" = env ]; then
	skip "the connections moved to Tux" "runs without tuxrun"
else
	check "the connections moved to Tux" moved
fi
awk '{ sum[$1] += $4 } END { for (v in sum) printf "# %s %.0f bytes\n", v, sum[v] }' \
	"$dir/said"
finish
