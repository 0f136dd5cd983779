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

# ratio_of VERB: Tux over TCP
ratio_of()
{
	awk -v a="$(median tux "$1" 1)" -v b="$(median tcp "$1" 1)" \
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
	for path in tux tcp; do
		near=$(((redis_moved[$path] - moved) * 100 / moved))
		[ ${near#-} = 0 ] || wrong "redis counts ${redis_moved[$path]} \
bytes on $path, the client $moved"
	done
	share=$(awk -v t="${tcp_bytes[tux]}" -v all="$moved" 'BEGIN {
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

row()
{
	printf '  %-26s %18s %18s\n' "$@"
}

mb()
{
	awk -v n="$1" 'BEGIN { printf "%.1f MB\n", n / 1e6 }'
}

ms()
{
	awk -v n="$1" 'BEGIN { printf "%.3f ms\n", n }'
}

rate()
{
	median "$1" "$2" 1 | xargs printf '%.0f'
}

rates()
{
	row "${1^^}, requests/s" "$(rate tux "$1")" "$(rate tcp "$1")"
	row "  p50" "$(ms "$(median tux "$1" 2)")" "$(ms "$(median tcp "$1" 2)")"
	row "  p99" "$(ms "$(median tux "$1" 3)")" "$(ms "$(median tcp "$1" 3)")"
	row "  Tux over TCP" "$(ratio_of "$1")" ""
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
	row "" "Tux" "kernel TCP"
	rates set
	rates get
	row "bytes that moved" "$(mb "$moved")" "$(mb "$moved")"
	row "of them over TCP" "$(mb "${tcp_bytes[tux]}")" \
		"$(mb "${tcp_bytes[tcp]}")"
	row "$what" "${packets_n[tux]}" "${packets_n[tcp]}"
	row "TCP segments" "${tcp_packets[tux]}" "${tcp_packets[tcp]}"
	row "connections on Tux" \
		"$(on_tux "$dir/bench-tux.err") of \
$(talked_of "$dir/bench-tux.err")" "-"
	echo
	echo "  Connections that stayed on TCP, and why:"
	reasons "$dir/bench-tux.err" "$dir/values.err" | sed 's/^/  clients  /'
	reasons "$dir/tux.err" | sed 's/^/  server   /'
	echo
}
