#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tuxkv - contrib/tuxkv answers in each way that it serves, keeps TPC-C's tables
# consistent, and loses nothing that it has answered, when it is killed at any moment:
# five times, thoroughly fifty

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"

tux=(env)
need "$build/contrib/tuxkv/tuxkv" "$build/contrib/tuxkv/ask"
setup
# LMDB keeps its readers in memory that several processes share: a sanitizer does not
# see how they and the writer take turns.
echo 'called_from_lib:liblmdb.so' >"$dir/suppressions"
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}suppressions=$dir/suppressions"
rounds=5
thorough && rounds=50
records=1000 clients=3

# Sets $server and $port.
serve_kv()
{
	start server "$build/contrib/tuxkv/tuxkv" --dir db --size 1 \
		--records $records "$@"
	server=$pid
	wait_for 60 grep -qs '^port ' "$dir/server.out"
	port=$(sed -n 's/^port //p' "$dir/server.out")
}

# ask OPTION... get|rmw KEYS N: the answers, KEY VERSION
ask()
{
	local options=()

	while [[ $1 = --* ]]; do
		options+=("$1")
		shift
	done
	run 60 "$build/contrib/tuxkv/ask" "${options[@]}" --udp --interface lo \
		127.0.0.1 "$port" "$@"
}

# ways WHAT OPTION...: a server with these options reads, changes, and reads what
# has changed, in messages and on the stream.
ways()
{
	local what=$1 how before

	shift
	serve_kv "$@"
	for how in --messages --stream; do
		[[ $* != *--sockets* || $how = --stream ]] || continue
		words=("${how/--messages/}")
		before=$(ask ${words:+"$words"} get $records $records | sort)
		same "$what, $how: all records are there" $records \
			"$(wc -l <<<"$before")"
		ask ${words:+"$words"} rmw 100 500 | sort -k 1,1n -k 2,2n \
			>"$dir/changed"
		same "... and change one by one" \
			"$(awk '$1 < 100 { for (i = 1; i <= 5; i++)
				print $1, $2 + i }' <<<"$before" |
				sort -k 1,1n -k 2,2n)" "$(<"$dir/changed")"
	done
	kill -TERM "$server"
	reap "$server"
	same "... and the server ends when told" "0 " \
		"$? $(grep -v preempted "$dir/server.err")"
}

ways callbacks --udp --interface lo
ways "callbacks and workers" --udp --interface lo --workers 2 --group 1
ways "to the disk" --udp --interface lo --sync
ways sockets --sockets --workers 2

# Told under load, the server ends, too.
serve_kv --udp --interface lo --sync
start client0 "$build/contrib/tuxkv/ask" --udp --interface lo 127.0.0.1 "$port" \
	rmw $records 1000000
wait_for 20 [ -s "$dir/client0.out" ]
kill -TERM "$server"
reap "$server"
same "the server ends under load, too" 0 $?
end "$pid"

# ---- TPC-C ----

# orders OPTION...: some of TPC-C's transactions, among them long ones
orders()
{
	run 120 "$build/bench/load" --port "$port" --protocol tpcc --keys 2 \
		--connections 8 --in-flight 2 --requests 1000 --warm-up 0 "$@" \
		>"$dir/load.out" 2>"$dir/load.err"
}

# tpcc WHAT OPTION... -- OPTION...: of the server, and of bench/load
tpcc()
{
	local what=$1 options=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	serve_kv --warehouses 2 "${options[@]}"
	orders "$@"
	same "TPC-C, $what: all is answered" "0 0" \
		"$? $(grep -o 'errors=.' "$dir/load.out" | cut -d = -f 2)"
	check "... short and long ones" grep -q 'long_p50=[1-9]' "$dir/load.out"
	kill -TERM "$server"
	reap "$server"
	same "... and the server ends when told" 0 $?
	consistent
}

consistent()
{
	same_final "... and the tables are consistent" consistent \
		"$(run 60 "$build/contrib/tuxkv/tuxkv" --dir db --size 1 --check)"
}

udp=(--udp --interface lo)
tpcc "complete pushdown" "${udp[@]}" -- --transport messages "${udp[@]}"
tpcc "on the stream" "${udp[@]}" -- --transport stream "${udp[@]}"
tpcc "selective pushdown" "${udp[@]}" --workers 2 -- --transport messages "${udp[@]}"
tpcc "in groups of one, to the disk" "${udp[@]}" --workers 2 --group 1 --sync -- \
	--transport messages "${udp[@]}"
tpcc sockets --sockets --workers 2 --
serve_kv "${udp[@]}" --workers 2
start orders "$build/bench/load" --port "$port" --protocol tpcc --keys 2 \
	--connections 8 --transport messages "${udp[@]}" --seconds 60 --warm-up 0
wait_for 10 grep -qs ^measuring "$dir/orders.out"
sleep 0.3		# amidst orders
check "orders are under way" alive "$pid"
kill -KILL "$server"
reap "$server"
end "$pid"
consistent

check "a database without warehouses is not consistent" \
	eval '! run 60 "$build/contrib/tuxkv/tuxkv" --dir none --check 2>/dev/null'

# ---- nothing is lost ----

# Clients change records until the server is killed; answers go to `answered`.
kill_under_load()
{
	local c pids=()

	serve_kv --udp --interface lo "$@"
	for ((c = 0; c < clients; c++)); do
		start "client$c" "$build/contrib/tuxkv/ask" --udp \
			--interface lo 127.0.0.1 "$port" rmw $records 1000000
		pids+=("$pid")
	done
	wait_for 20 [ -s "$dir/client0.out" ]
	sleep "0.0$((RANDOM % 100))"	# at any moment
	kill -KILL "$server"
	reap "$server"
	for c in "${!pids[@]}"; do
		end "${pids[c]}"
		# The last line may be a part of one.
		sed '$d' "$dir/client$c.out" >>"$dir/answered"
	done
}

for ((r = 1; r <= rounds; r++)); do
	kill_under_load $([ $((r % 2)) = 0 ] || echo --sync)
done
serve_kv --udp --interface lo
ask get $records $records >"$dir/kept"
end "$server"
same "all records are there still" $records "$(wc -l <"$dir/kept")"
answers=$(wc -l <"$dir/answered")
check "changes were answered" [ -s "$dir/answered" ]
same_final "killed $rounds times, it lost none of $answers" "" "$(
	awk 'FNR == NR { kept[$1] = $2; next } kept[$1] < $2' \
		"$dir/kept" "$dir/answered" | head -n 3)"
same_final "and made none twice" "" "$(sort "$dir/answered" | uniq -d | head -n 3)"

finish
