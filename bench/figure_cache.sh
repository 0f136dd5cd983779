# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034 # names of bench/figures
#
# figure_cache - figures 9 and 13: Redis and Memcached
#
# Figure 9: GET of 1 KB, uniformly of 10^6 records, on more and more connections.
# Figure 13: Memcached at 20 to 90 % of kernel TCP's peak.  The paper's server has eight
# worker threads, and adds network threads under load; here one thread does all, on one
# core.

cache_contenders=(kernel kernel-spin tux-inline tux-threads tux-linked)

# serve_cache SERVER: sets $server, its pid, and $port
serve_cache()
{
	local rc

	case $1-$contender in
	redis-tux-linked) redis server "${on_server[@]}" \
		env "PATH=$redis_linked:$PATH" ;;
	redis-*) redis server "${on_server[@]}" "${server_via[@]}" ;;
	memcached-tux-linked) serve server "${on_server[@]}" \
		"$memcached_linked/memcached" -u root -U 0 -t 1 -c 4096 \
		-m 4096 -l "$bind" -p @PORT@ ;;
	memcached-*) serve server "${on_server[@]}" "${server_via[@]}" \
		memcached -u root -U 0 -t 1 -c 4096 -m 4096 -l "$bind" \
		-p @PORT@ ;;
	esac
	rc=$?
	server=$pid
	return $rc
}

# cache FIGURE SERVER FUNCTION: each contender in turn, $runs times; the function asks
# the server, which has its values by then.
cache()
{
	local run

	for ((run = 1; run <= runs; run++)); do
		for contender in "${cache_contenders[@]}"; do
			progress "$1: MTU $mtu, $contender, run $run of $runs"
			place
			if serve_cache "$2"; then
				fill_cache "$2" && $3
			else
				wrong "figure $1, $contender: no server"
			fi
			stop_server
		done
	done
}

# fill_cache SERVER: over kernel TCP, whatever the contender
fill_cache()
{
	run 300 "${on_client[@]}" "$build/bench/load" --host "$bind" \
		--port "$port" --protocol "$1-get" --size 1024 --keys "$records" \
		--seconds 0.01 --warm-up 0 >"$dir/fill.out" 2>"$dir/fill.err" ||
		wrong "$1 could not be filled: $(tail -n 1 "$dir/fill.err")"
}

ask_9()
{
	for conns in "${conns_9[@]}"; do
		ask 9 get "$conns" --protocol redis-get --size 1024 \
			--keys "$records" --filled
	done
}

figure_9()
{
	local conns_9=(1 2 4 8 16 32 64 128) why

	[ -z "$quick" ] || conns_9=(1 32 128)
	has redis-server && linked redis "${TUX_REDIS:-}" ||
		missing 9 "$why" || return
	redis_linked=$built/src
	for mtu in "${mtus[@]}"; do
		set_mtu "$mtu"
		cache 9 redis ask_9
	done
}

words_13()
{
	words=(--protocol memcached-get --size 1024 --keys "$records" --filled)
	conns=32
}

ask_13()
{
	local part words

	words_13
	for part in "${parts_13[@]}"; do
		ask 13 open "$part" "${words[@]}" \
			--rate $((peak * part / 100))
	done
}

ask_peak_13()
{
	local words

	words_13
	ask 13 peak 100 "${words[@]}"
}

figure_13()
{
	local parts_13=(20 40 60 80 90) peak why
	local contenders=("${cache_contenders[@]}")

	[ -z "$quick" ] || parts_13=(20 90)
	has memcached && linked memcached "${TUX_MEMCACHED:-}" ||
		missing 13 "$why" || return
	memcached_linked=$built
	for mtu in "${mtus[@]}"; do
		set_mtu "$mtu"
		cache_contenders=(kernel)
		cache 13 memcached ask_peak_13
		cache_contenders=("${contenders[@]}")
		peak=$(median 13 peak kernel 100)
		peak=${peak%.*}
		[ "$peak" -gt 0 ] || { wrong "figure 13: no peak"; continue; }
		cache 13 memcached ask_13
	done
}
