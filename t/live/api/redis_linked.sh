#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# redis_linked - Redis as contrib/redis/build makes it, linked with libtux: what
# people do with Redis, over TCP and over AF_XDP, and what is its own

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/redis_suite.sh"

need apt-get dpkg-source patch pkg-config
privilege "$@"
setup
linked=${TUX_REDIS:-$dir/redis}	# where contrib/redis/build puts it
[ -n "${TUX_REDIS:-}" ] ||
	TUX_BUILD=$build "$src/contrib/redis/build" "$linked" \
		>"$dir/build.log" 2>&1 ||
	cannot "cannot build Redis: $(tail -n 1 "$dir/build.log")"
PATH=$linked/redis/src:$PATH
pair
near=("${a[@]}")
host=$b_addr

# with_options OPTION...: a server that has these
with_options()
{
	mkdir -p "$dir/own.d"
	serve server redis-server --port @PORT@ --bind $b_addr --save '' \
		--dir "$dir/own.d" --protected-mode no "$@" || exit 1
	server=$pid
	with=("${tux[@]}")
}

# ---- a replica, which is one of its kind, too --------------------------------

in_step()
{
	info_is replication master_link_status up &&
		[ "$(plain debug digest)" = "$1" ]
}

replica()
{
	local master digest

	how="replica"
	redis master || exit 1
	master=$port
	run 60 "${a[@]}" redis-benchmark -h $b_addr -p "$master" -t set \
		-r 5000 -n 20000 -d 500 -q >"$dir/fill.out"
	redis copy || exit 1
	plain replicaof $b_addr "$master" >/dev/null
	digest=$(port=$master plain debug digest)
	check_final "$how: full synchronisation" wait_for 20 in_step "$digest"
	run 60 "${a[@]}" redis-benchmark -h $b_addr -p "$master" -t set,lpush \
		-r 5000 -n 20000 -d 500 -q >"$dir/fill.out"
	digest=$(port=$master plain debug digest)
	check_final "$how: the stream" wait_for 20 in_step "$digest"
	plain shutdown nosave
	port=$master plain shutdown nosave
}

# ---- scripts that take long ----------------------------------------------------

busy()
{
	[[ $(cli ping 2>&1) = BUSY* ]]
}

slow_script()
{
	how="slow script"
	with_options --busy-reply-threshold 100
	start script "${a[@]}" "${tux[@]}" redis-cli -h $b_addr -p "$port" \
		eval 'while true do end' 0
	check "$how: others are told" wait_for 10 busy
	asks "SCRIPT KILL" OK script kill
	reap "$pid"
	check_final "$how: it was killed" grep -q 'Script killed' \
		"$dir/script.out"
	asks "the server goes on" PONG ping
	shut_down
}

# ---- scripts that are looked at --------------------------------------------------

# The debugger reads from the client's socket, in a child, or in the server.
debugging()
{
	how="SCRIPT DEBUG $*"
	with_options
	# shellcheck disable=SC2016 # Lua's
	printf 'local word = "it was "\nreturn word .. KEYS[1]\n' \
		>"$dir/debugged.lua"
	printf '%s\n' step 'print word' continue |
		run 60 "${a[@]}" "${tux[@]}" redis-cli -h $b_addr -p "$port" \
			"$@" --eval "$dir/debugged.lua" me >"$dir/ldb.out" \
			2>>"$dir/cli.err"
	check_final "$how: it stops at each line" \
		grep -q -e '-> 2 ' "$dir/ldb.out"
	check_final "$how: it shows a value" grep -q '"it was "' "$dir/ldb.out"
	check_final "$how: and goes on to the end" \
		grep -q 'it was me' "$dir/ldb.out"
	asks "the server goes on" PONG ping
	shut_down
}

# ---- what is synced before it is answered --------------------------------------

kept()
{
	how="appendfsync always"
	with_options --appendonly yes --appendfsync always
	# It has to end without an error, at any time.
	check_final "$how: benchmark" run 120 "${a[@]}" "${tux[@]}" \
		redis-benchmark -h $b_addr -p "$port" -c 20 -n 20000 -t set \
		-r 1000 -q
	shut_down
}

# ---- threads that write, and threads that read ---------------------------------

threads()
{
	how="io-threads"
	with_options --io-threads 2 "$@"
	# As above.
	check_final "$how $*: benchmark" run 120 "${a[@]}" "${tux[@]}" \
		redis-benchmark -h $b_addr -p "$port" -c 50 -P 4 -n 200000 \
		-t set,get -r 1000 -q
	large
	shut_down
}

# ---- a new port ------------------------------------------------------------------

new_port()
{
	local old

	how="CONFIG SET port"
	with_options
	old=$port
	free_port
	same_final "$how" OK "$(port=$old cli config set port "$port")"
	asks "ping at the new port" PONG ping
	same_final "$how: the old one is closed" "" "$(port=$old cli ping 2>&1 |
		grep PONG)"
	shut_down
}

# ---- as many clients as it says -------------------------------------------------

# Over Tux, too, each takes one descriptor of those that it has asked for.
crowd()
{
	how="maxclients 300"
	with_options --maxclients 300
	start crowd "${a[@]}" "${tux[@]}" "$load" --host $b_addr \
		--port "$port" --conns 290 --size 100 --pings 2000000
	crowd=$pid
	check "$how: 290 of them over Tux" wait_for 30 moved crowd 290
	same_final "$how: none is turned away" 0 \
		"$(info stats rejected_connections)"
	shut_down
	reap "$crowd"
}

# ---- a crash in a command ----------------------------------------------------------

is_over()
{
	! alive "$1"
}

crash()
{
	how="crash"
	with_options --enable-debug-command yes
	cli debug segfault >/dev/null
	check_final "$how: it ends" wait_for 20 is_over "$server"
	wait "$server"
	same_final "$how: by the signal" 139 $?
	check_final "$how: its report is whole" \
		grep -q 'REDIS BUG REPORT END' "$dir/server.out"
}

# ---- the demo, which shows it beside others ----------------------------------------

# The ratio and the share depend on the machine.
demo()
{
	how="demo --pushdown"
	start demo env TMPDIR="$dir" TUX_SRC="$src" TUX_BUILD="$build" \
		TUX_REDIS="$linked" "$src/contrib/demo" --pushdown -n 50000 -r 1
	demo_pid=$pid
	reap "$demo_pid" 300
	same_final "$how: finds nothing wrong" "" \
		"$(grep '^!!' "$dir/demo.out" | grep -v 'did not carry')"
	check_final "$how: serves the plain client" grep -Eq \
		'^demo: (ok|failed) ratio=[0-9.]+ tux_share=[0-9.]+ fallback=ok$' \
		"$dir/demo.out"
	check_final "$how: nothing is left" demo_is_gone
}

demo_is_gone()
{
	! ls -d /run/netns/tux-"$demo_pid"-* "$dir"/tux-demo.* 2>/dev/null
}

suite "client over TCP" "" ""
suite "client over Tux" "${tux[*]}" ""
check "its connections have moved" [ "$(on_tux "$dir/load.err")" -ge 20 ]
replica
slow_script
debugging --ldb
debugging --ldb-sync-mode
kept
threads
threads --io-threads-do-reads yes
check "with threads that read, it says that clients stay on TCP" \
	grep -q 'clients stay on TCP' "$dir/server.out"
new_port
crowd
crash
demo
check "nothing is left" wait_for 10 none_attached
finish
