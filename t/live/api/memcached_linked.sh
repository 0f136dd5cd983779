#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# memcached_linked - Memcached as contrib/memcached/build makes it, linked with
# libtux: both protocols, over TCP and over AF_XDP, and what is its own

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

mc=$build/t/posix/mc
need apt-get dpkg-source patch pkg-config redis-server "$mc"
privilege "$@"
setup
linked=${TUX_MEMCACHED:-$dir/memcached}	# where contrib/memcached/build puts it
[ -n "${TUX_MEMCACHED:-}" ] ||
	TUX_BUILD=$build "$src/contrib/memcached/build" "$linked" \
		>"$dir/build.log" 2>&1 ||
	cannot "cannot build Memcached: $(tail -n 1 "$dir/build.log")"
PATH=$linked/memcached:$PATH
pair

# server WORD...: Memcached, with these options
server()
{
	serve server memcached -u root -l $b_addr -p @PORT@ -U 0 -m 1024 "$@" ||
		exit 1
	server=$pid
}

# client PROTOCOL SEED WORD...: it checks every answer
client()
{
	run 120 "${a[@]}" "${@:3}" "$mc" "$1" --host $b_addr --port "$port" \
		--seed "$2" 2>>"$dir/client.err" >"$dir/client.out" ||
		{ cat "$dir/client.out"; tail -n 3 "$dir/client.err"; false; }
}

# talk LINE...: sends the lines over a connection of bash, under Tux, and prints
# what comes until the server closes
talk()
{
	# shellcheck disable=SC2016 # for the other shell
	run 60 "${a[@]}" "${tux[@]}" bash -c '
		exec 3<>/dev/tcp/$1/$2
		printf "%s\r\n" "${@:3}" >&3
		cat <&3' talk $b_addr "$port" "$@" 2>>"$dir/talk.err" |
		tr -d '\r'
}

stat_of()
{
	talk stats quit | sed -n "s/^STAT $1 //p"
}

# ends SIGNAL: the server does
ends()
{
	kill "-$1" "$server"
	reap "$server"
	same_final "$how: it ends well" 0 $?
}

# Those of a client may be done before they have moved.
all_moved()
{
	local try

	for try in 1 2 3 4 5; do
		! moved client 8 || return 0
		client text 7$try "${tux[@]}" || return
	done
	moved client 8
}

# How many loops the server has: each has a thread of that name.
loops()
{
	cat "/proc/$server/task/"*/comm | grep -cx tux
}

# protocols WORKERS LOOPS: of two queues, a worker has one each
protocols()
{
	how="-t $1"
	server -t "$1"
	same_final "$how: loops" "$2" "$(loops)"
	: >"$dir/client.err"
	check_final "$how: text, over TCP" client text 1
	check_final "$how: binary, over TCP" client binary 2
	check_final "$how: text, over Tux" client text 3 "${tux[@]}"
	check_final "$how: binary, over Tux" client binary 4 "${tux[@]}"
	check "$how: its connections have moved" all_moved
	start more "${a[@]}" "${tux[@]}" "$mc" binary --host $b_addr \
		--port "$port" --seed 5 --n 2000 --max 2000
	more=$pid
	check_final "$how: clients over TCP and Tux at a time" client text 6
	reap "$more" 120
	same_final "$how: the latter were right, too" 0 $?
	same_final "$how: the meta protocol" "HD VA 5 words HD EN" \
		"$(talk 'ms meta 5' words 'mg meta v' 'md meta' 'mg meta v' \
			quit | xargs)"
	ends TERM
}

# ---- those that other threads write to --------------------------------------

watched()
{
	[ "$(grep -c "key=watched" "$dir/watch.out")" -ge 20 ]
}

begins_to_watch()
{
	grep -qs ^OK "$dir/watch.out"
}

# The client is slow, and goes when it has all.
dump()
{
	# shellcheck disable=SC2016 # for the other shell
	run 60 "${a[@]}" "${tux[@]}" bash -c '
		exec 3<>/dev/tcp/$1/$2
		printf "lru_crawler metadump all\r\n" >&3
		while read -r -u 3 line && [ "$line" != $'"'END\\r'"' ]; do
			echo "$line"
		done' dump $b_addr "$port" 2>>"$dir/talk.err"
}

others_write()
{
	how="watch"
	server -t 1
	# shellcheck disable=SC2016 # for the other shell
	start watch "${a[@]}" "${tux[@]}" bash -c '
		exec 3<>/dev/tcp/$1/$2
		printf "watch mutations fetchers\r\n" >&3
		cat <&3' watch $b_addr "$port"
	watcher=$pid
	check "$how: it begins" wait_for 10 begins_to_watch
	for i in {1..20}; do echo "set watched$i 0 0 1"; echo x; done |
		xargs -d '\n' -I '{}' echo '{}' >"$dir/sets"
	mapfile -t lines <"$dir/sets"
	talk "${lines[@]}" quit >/dev/null
	check_final "$how: what is stored is told" wait_for 10 watched
	end "$watcher"

	how="metadump"
	mapfile -t lines < <(for i in {1..2000}; do
		echo "set dumped:$i 0 0 1 noreply"; echo x; done)
	talk "${lines[@]}" quit >/dev/null
	same_final "$how: all keys" 2000 \
		"$(dump | grep -c '^key=dumped')"
	same_final "$how: the server answers" "VERSION" \
		"$(talk version quit | sed 's/ .*//')"
	ends USR1
}

# ---- more clients than it takes ----------------------------------------------

connected()
{
	[ "$(stat_of curr_connections)" -ge "$1" ]
}

# Each client over Tux has one descriptor, as over TCP.
many()
{
	how="-c 200"
	server -t 2 -c 200
	# shellcheck disable=SC2016 # for the other shell
	start crowd "${a[@]}" "${tux[@]}" bash -c '
		until [ -e told ]; do "$@" >/dev/null || exit 1; done' crowd \
		"$mc" text --host $b_addr --port "$port" --seed 7 --conns 150 \
		--n 2000 --max 100
	crowd=$pid
	check "$how: 150 of them at a time" wait_for 30 connected 150
	check "$how: so many have moved" wait_for 30 moved crowd 150
	: >"$dir/told"
	reap "$crowd" 120
	same_final "$how: all had right answers" 0 $?
	ends TERM
}

protocols 1 1
protocols 4 2
others_write
many
check "nothing is left" wait_for 10 none_attached
finish
