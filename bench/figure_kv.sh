# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034 # names of bench/figures
#
# figure_kv - figures 14 and 17: stored procedures, with and without pushdown
#
# The server is contrib/tuxkv, on LMDB in memory; the paper's is LeanStore.  Of each
# workload, first the peak of each contender is measured; then all are asked at 60 % of
# the lowest peak.

kv_rate=0.6

# A directory in memory, which goes with $dir.
kv_memory()
{
	[ -z "${kv:-}" ] || return 0
	why="needs /dev/shm"
	kv=$(mktemp -d "/dev/shm/tux-${0##*/}.XXXXXX") || return 1
	echo "$kv" >>"$dir/directories"
	own "$kv"
}

# serve_kv: starts the server of $contender; sets $server and $port
serve_kv()
{
	local words rc

	case $contender in
	kernel-busy | tux-none) words=(--sockets --workers "$workers") ;;
	tux-selective-1)
		words=(--interface veth0 --spin --workers "$workers" --group 1) ;;
	tux-selective-32) words=(--interface veth0 --spin --workers "$workers") ;;
	tux-selective-1ms)
		words=(--interface veth0 --spin --workers "$workers" --slice 1000) ;;
	*) words=(--interface veth0 --spin) ;;
	esac
	[ "$contender" != tux-none ] || server_via=("$build/contrib/tuxrun"
		-i veth0 --io xdp -v -m threads=1 --path tux)
	[[ $contender = kernel-busy || $contender = tux-none ||
		$contender = tux-stream ]] || client_by[1]=messages
	serve server "${on_server[@]}" "${server_via[@]}" \
		"$build/contrib/tuxkv/tuxkv" --dir "$kv" --size 12 \
		--host "$bind" --port @PORT@ "${words[@]}" "${kv_tables[@]}"
	rc=$?
	server=$pid
	return $rc
}

# kv_point FIGURE PART PROTOCOL RATE X
kv_point()
{
	local figure=$1 part=$2 rate=$4

	place
	if serve_kv; then
		ask "$figure" "$part" "$5" --protocol "$3" "${kv_asked[@]}" \
			${rate:+--rate "$rate"}
	else
		wrong "figure $figure, $contender: no server:" \
			"$(tail -n 1 "$dir/server.err")"
	fi
	stop_server
}

kv_least()
{
	local contender

	for contender in "${kv_contenders[@]}"; do
		median "$1" "$2" "$contender" peak
	done | awk '$1 > 0' | sort -n | head -n 1
}

# kv_turns FIGURE PART PROTOCOL
kv_turns()
{
	local run rate

	conns=32
	for contender in "${kv_contenders[@]}"; do
		progress "$1: $2, MTU $mtu, peak of $contender"
		kv_point "$1" "$2" "$3" '' peak
	done
	rate=$(kv_least "$1" "$2" | awk -v k=$kv_rate '{ print int($1 * k) }')
	[ "${rate:-0}" -gt 0 ] || return
	for ((run = 1; run <= runs; run++)); do
		for contender in "${kv_contenders[@]}"; do
			progress "$1: $2, MTU $mtu, $contender," \
				"run $run of $runs"
			kv_point "$1" "$2" "$3" "$rate" open
		done
	done
}

figure_14()
{
	local kv_contenders=(kernel-busy tux-none tux-stream tux-messages) workers=1 why
	local kv_tables=(--records "$records")
	local kv_asked=(--keys "$records" --zipf)

	has "$build/contrib/tuxkv/tuxkv" && kv_memory || missing 14 "$why" ||
		return
	for mtu in "${mtus[@]}"; do
		set_mtu "$mtu"
		kv_turns 14 YCSB-C ycsb-c
		kv_turns 14 YCSB-F ycsb-f
	done
}

figure_17()
{
	local kv_contenders=(kernel-busy tux-none tux-complete tux-selective-1
		tux-selective-32 tux-selective-1ms) workers=2 why
	local kv_tables=(--warehouses "$warehouses")
	local kv_asked=(--keys "$warehouses")

	has "$build/contrib/tuxkv/tuxkv" && kv_memory || missing 17 "$why" ||
		return
	for mtu in "${mtus[@]}"; do
		set_mtu "$mtu"
		kv_turns 17 TPC-C tpcc
	done
	run 300 "$build/contrib/tuxkv/tuxkv" --dir "$kv" --size 12 --check \
		>"$dir/check.out" 2>&1 ||
		wrong "figure 17: $(head -n 1 "$dir/check.out")"
}
