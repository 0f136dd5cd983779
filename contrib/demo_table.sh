# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # shared with contrib/demo
#
# demo_table - what came of the demo: the verdict, and the figures
#
# PATH.VERB in $dir has a line "requests/s p50 p99" of each round.

# median PATH VERB COLUMN
median()
{
	awk -v c="$3" '{ print $c }' "$dir/$1.$2" | sort -g | awk '
		{ v[NR] = $1 }
		END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# ratio_of VERB [PATH]: over TCP
ratio_of()
{
	awk -v a="$(median "${2:-$first}" "$1" 1)" -v b="$(median tcp "$1" 1)" \
		'BEGIN { printf "%.2f\n", a / b }'
}

# In RESP, a request begins with *2 $3 GET $16 key:000000000000, or *3 $3 SET;
# the value is behind $1024; +OK is five bytes.
bytes_moved()
{
	local name=$((4 + 4 + 5 + 5 + 18)) digits=${#size} value

	value=$((1 + digits + 2 + size + 2))
	echo $((rounds * requests * (name + value + name + value + 5)))
}

judge()
{
	local path near

	moved=$(bytes_moved)
	for path in "${paths[@]}"; do
		near=$(((redis_moved[$path] - moved) * 100 / moved))
		[ ${near#-} = 0 ] || wrong "redis counts ${redis_moved[$path]} \
bytes on $path, the client $moved"
	done
	share=$(awk -v t="${tcp_bytes[$first]}" -v all="$moved" 'BEGIN {
		s = int((1 - t / all) * 10000) / 10000
		printf "%.4f\n", s < 0 ? 0 : s }')
	ratio=$(printf '%s\n' "$(ratio_of set)" "$(ratio_of get)" | sort -g |
		head -n 1)
	# TCP carries what comes before connections move, on a busy machine
	# more.
	awk -v s="$share" 'BEGIN { exit !(s < 0.9) }' &&
		wrong "Tux did not carry the data: share $share"
	[ -s "$dir/wrong" ] || verdict=ok
}

# ---- the table --------------------------------------------------------------

# row NAME COLUMN...
row()
{
	printf '  %-26s' "$1"
	printf ' %18s' "${@:2}"
	printf '\n'
}

# row_of NAME COMMAND...: what it prints for each path
row_of()
{
	local path columns=()

	for path in "${paths[@]}"; do columns+=("$("${@:2}" "$path")"); done
	row "$1" "${columns[@]}"
}

mb()
{
	awk -v n="$1" 'BEGIN { printf "%.1f MB\n", n / 1e6 }'
}

ms()
{
	awk -v n="$1" 'BEGIN { printf "%.3f ms\n", n }'
}

# rate VERB PATH, time_of VERB COLUMN PATH, over VERB PATH
rate()
{
	median "$2" "$1" 1 | xargs printf '%.0f'
}

time_of()
{
	ms "$(median "$3" "$1" "$2")"
}

over()
{
	[ "$2" = tcp ] || ratio_of "$1" "$2"
}

rates()
{
	row_of "${1^^}, requests/s" rate "$1"
	row_of "  p50" time_of "$1" 2
	row_of "  p99" time_of "$1" 3
	row_of "  Tux over TCP" over "$1"
}

# entry ARRAY PATH
entry()
{
	local -n array=$1

	echo "${array[$2]}"
}

bytes_over_tcp()
{
	mb "${tcp_bytes[$1]}"
}

moved_of()
{
	[ "$1" = tcp ] && echo "-" && return
	echo "$(on_tux "$dir/bench-$1.err") of $(talked_of "$dir/bench-$1.err")"
}

# reasons LOG...: each with how often, and its sentence
reasons()
{
	cat "$@" 2>/dev/null | sed -n 's/; turns [0-9].*//; s/^tux: .* > .*: tcp, //p' | sort |
		uniq -c | sort -rn
}

table()
{
	local what="packets on the link"

	[ "$io" = xdp ] || what="UDP datagrams of the host"
	echo
	echo "  $size B, $conns connections, $rounds rounds of $requests SET \
and as many GET,"
	echo "  $where${pinned:+; $pinned}"
	echo
	row_of "" entry title
	rates set
	rates get
	row_of "bytes that moved" mb "$moved"
	row_of "of them over TCP" bytes_over_tcp
	row_of "$what" entry packets_n
	row_of "TCP segments" entry tcp_packets
	row_of "connections on Tux" moved_of
	echo
	echo "  Connections that stayed on TCP, and why:"
	reasons "$dir/bench-tux.err" "$dir/bench-linked.err" "$dir/values.err" |
		sed 's/^/  clients              /'
	reasons "$dir/tux.err" | sed 's/^/  server under tuxrun  /'
	echo
}
