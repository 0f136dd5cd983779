#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # the libraries set the names
#
# postgres - PostgreSQL with tuxd: what its clients see is what they see
# over TCP, also where processes are cancelled, ended and killed

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"
. "$(dirname "${BASH_SOURCE[0]}")/postgres_hosts.sh"

need md5sum "$build/t/live/tuxd/pg_listener" "$pg_bin/initdb" "$pg_bin/postgres" \
	"$pg_bin/pgbench" "$pg_bin/psql"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"
unprivileged 65534 "$cg_b"
"${words[@]}" true 2>/dev/null || cannot "another user cannot run tuxrun here"
d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"

# server WAY: one over TCP, and one over Tux
server()
{
	pg_serve "${1/auto/tux}" "$1" -c max_connections=310 \
		-c restart_after_crash=on ||
		not_ok "$1: the server starts" \
			"$(tail -n 20 "$dir/server-${1/auto/tux}.err")"
}

# sql WAY [WORDS...]: psql there, on its input
sql()
{
	pg_client "${1/auto/tux}" "$1" psql -X -q -A -t "${@:2}"
	run 120 "${client[@]}" 2>"$dir/sql-$1.err"
}

# bench NAME WAY WORDS...: starts pgbench; $bench_pid.  With $endless among the
# WORDS, bench_ends tells it to end well, by what its own clock would send.
bench()
{
	pg_client "${2/auto/tux}" "$2" pgbench -n "${@:3}"
	start "$1" "${client[@]}"
	bench_pid=$pid
}
endless=(-T 100000)

bench_ends()
{
	kill -ALRM "$bench_pid"
	reap "$bench_pid"
}

# bench_moves NAME WAY N WORDS...: pgbench with N connections that ends once
# they have moved.  Where the client may choose, busy processors may keep some
# on TCP; that is said when they end.
bench_moves()
{
	local name=$1 way=$2 n=$3

	bench "$name" "$way" "${endless[@]}" -c "$n" "${@:4}"
	wait_for 10 moved "$name" "$n"
	sleep 0.5		# without it, Tux would carry little
	bench_ends
	same_final "$name, client's path $way: it works" 0 $?
	check_final "... no transaction fails" \
		grep -q "failed transactions: 0 " "$dir/$name.out"
	check "... its connections move$([ "$way" = tux ] ||
		echo ", or processors are busy")" \
		wait_for 10 "decided_$way" "$name" "$n"
	echo "# on Tux: $(on_tux "$dir/$name.err") of $n"
}

decided_tux()
{
	moved "$@"
}

decided_auto()
{
	all_settled "$2" "$dir/$1.err"
}

# words_of NAME: its errors, without what tuxrun says
words_of()
{
	grep -v -e '^tux: ' -e '^tuxrun: ' "$dir/$1.err"
}

# Another session.  Its errors are not kept.
sql_other()
{
	pg_client "$1" tcp psql -X -q -A -t -c "$2"
	run 60 "${client[@]}" 2>/dev/null
}

# hello WAY: what psql does first: over Tux, it asks until the session has
# moved.  It prints nothing.
hello()
{
	local i

	# A statement, and a pause, until the connection has moved.
	echo "\\set moved $([ "$1" = tcp ] && echo 1 || echo 0)"
	for i in {1..100}; do
		cat <<-'E'
			\if :moved
			\else
			select 1 as x \gset
			\set moved `grep -q ': tux' /proc/$PPID/fd/2 && echo 1 || { sleep 0.1; echo 0; }`
			\endif
		E
	done
}

# What psql says on its output and its errors, and how it ends.
session()
{
	{
		hello "$1"
		echo "$script"
	} | sql "$1"
	echo "psql ends: $?"
	words_of "sql-$1"
}

# as_over_tcp NAME WORD SCRIPT: psql sees the same with and without Tux, and
# this word in it
as_over_tcp()
{
	local script=$3 said

	said=$(session tux)
	same "$1: as over TCP" "$(session tcp)" "$said"
	check "... with its word" grep -q "$2" <<<"$said"
	check "... on Tux" moved sql-tux 1
}

# backends WAY APPLICATION [WORD]: process ids of the backends that serve it;
# with WORD, of those that execute a statement with it
backends()
{
	sql_other "$1" "select pid from pg_stat_activity
		where application_name = '$2'
		${3:+and state = 'active' and query like '%$3%'}"
}

# have WAY APPLICATION N [WORD]: there are so many
have()
{
	[ "$(backends "$1" "$2" "${4-}" | wc -l)" = "$3" ]
}

# ---- both servers --------------------------------------------------------------

pg_data tcp && cp -a "$dir/data-tcp" "$dir/data-tux" ||
	cannot "initdb fails: $(tail -n 3 "$dir/initdb.out")"
for way in tcp tux; do
	server $way
	bench init $way -i -q
	reap "$bench_pid"
	same "$way: tables" 0 $?
done

# ---- load ----------------------------------------------------------------------

bench_moves select tux 16 -S
bench_moves select auto 16 -S
bench_moves tpcb tux 8
same_final "... and its balances agree" 1 "$(sql tux <<-E
	select count(distinct s) from (
		select sum(abalance) s from pgbench_accounts
		union all select sum(tbalance) from pgbench_tellers
		union all select sum(bbalance) from pgbench_branches
		union all select sum(delta) from pgbench_history) x;
	E
)"

# ---- statements and sessions that the server ends --------------------------------

memory=()
many='select repeat($$x$$, 1000) from generate_series(1, 3000000);'
quiet='\o /dev/null'

as_over_tcp "a statement's timeout" "statement timeout" "
	begin;
	set local statement_timeout = 100;
	select pg_sleep(10);
	rollback;
	select 1;"
as_over_tcp "... in the midst of rows" "statement timeout" "
	$quiet
	begin;
	set local statement_timeout = 100;
	$many
	rollback;
	\\o
	select 1;"
# Until the session has ended, in 30 s at most.
as_over_tcp "an idle session's timeout" "idle-session timeout" '
	select pg_backend_pid() as pid \gset
	set idle_session_timeout = 100;
	\set x `for i in $(seq 300); do [ -d /proc/:pid ] || break; sleep 0.1; done`
	select 1;'
as_over_tcp "an end by the administrator" "administrator command" "
	select pg_terminate_backend(pg_backend_pid());
	select 2;"
# from_outside NAME WORD HOW: as_over_tcp(), where another session does HOW to the
# backend that sends rows.  If that has to wait then, it cannot say FATAL.
from_outside()
{
	local way done
	local script="
		$quiet
		set application_name = 'rows';
		$many
		\\o
		select 2;"

	for way in tcp tux; do
		session $way | grep -v FATAL: >"$dir/rows-$way" &
		done=$!
		wait_for 10 have $way rows 1 repeat
		sleep 0.2	# rows are on their way, but on a late machine
		[ $way = tcp ] || check "$1: on Tux" moved sql-tux 1
		sql_other $way "select $3(pid) from pg_stat_activity
			where application_name = 'rows'" >/dev/null
		reap $done 120
	done
	same "$1: as over TCP" "$(cat "$dir/rows-tcp")" "$(cat "$dir/rows-tux")"
	check "... with its word" grep -q "$2" "$dir/rows-tux"
}

from_outside "a cancelled statement" "user request" pg_cancel_backend
from_outside "a session ended amid rows" "closed the connection" \
	pg_terminate_backend

# The client's own cancel: from its handler, by a connection of its own.
for way in tcp tux; do
	{
		hello $way
		echo "set application_name = 'sleeps';
			select pg_sleep(300);
			select 2;"
	} >"$dir/sleeps"
	pg_client $way $way psql -X -q -A -t -f "$dir/sleeps"
	start cancel "${client[@]}"
	wait_for 10 have $way sleeps 1 pg_sleep
	kill -INT "$pid"
	reap "$pid"
	echo "psql ends: $?" >>"$dir/cancel.out"
	cat "$dir/cancel.out" >"$dir/cancel-$way"
	words_of cancel >>"$dir/cancel-$way"
done
same "a client's own cancel: as over TCP" "$(cat "$dir/cancel-tcp")" \
	"$(cat "$dir/cancel-tux")"
check "... with its word" grep -q "user request" "$dir/cancel-tux"
check "... on Tux" moved cancel 1

# ---- copies ----------------------------------------------------------------------

sql tux >"$dir/copies.out" <<-E
	create table lines (n int, t text);
	\\copy (select n, repeat(md5(n::text), 8) from generate_series(1, 150000) n) to '$dir/one'
	\\copy lines from '$dir/one'
	\\copy (select * from lines order by n) to '$dir/two'
	select count(*) from lines;
	E
sql tcp -c "\\copy (select n, repeat(md5(n::text), 8)
	from generate_series(1, 150000) n) to '$dir/three'" >/dev/null
same_final "COPY out, in and out: all lines" 150000 "$(tail -n 1 "$dir/copies.out")"
same_final "... as over TCP" \
	"$(md5sum <"$dir/three") $(md5sum <"$dir/three")" \
	"$(md5sum <"$dir/one") $(md5sum <"$dir/two")"
check "... on Tux" moved sql-tux 1

# ---- a notice to a session that is idle ------------------------------------------

pg_client tux tux "$build/t/live/tuxd/pg_listener" $b_addr "${pg_port[tux]}" 2000
start listens "${client[@]}"
listens_pid=$pid
wait_for 10 grep -q listens "$dir/listens.out"
sleep 0.2		# it waits in the kernel, but on a late machine
sql_other tux "notify news"
reap "$listens_pid"
same "a session that is idle: it is notified" "listens notified" \
	"$(xargs <"$dir/listens.out")"
check "... on Tux" moved listens 1

# ---- many connections ------------------------------------------------------------

# memory_of WAY: KB that the backends of pgbench have for themselves, each, in the
# middle; and how many threads
memory_of()
{
	local p

	for p in $(backends "$1" pgbench); do
		awk '/^Private_/ { n += $2 } END { print n }' \
			"/proc/$p/smaps_rollup"
	done 2>/dev/null | sort -n | awk '{ v[NR] = $1 }
		END { print v[int((NR + 1) / 2)] }'
}

crowd=$(thorough && echo 300 || echo 100)
for way in tcp tux; do
	bench many $way "${endless[@]}" -S -c "$crowd"
	if [ $way = tux ]; then
		check "$crowd connections: all move" wait_for 30 moved many "$crowd"
	else
		wait_for 30 have $way pgbench "$crowd"
	fi
	sleep 1			# of transactions
	memory[${#memory[@]}]=$(memory_of $way)
	bench_ends
	same_final "$crowd connections, $way: it works" 0 $?
	check_final "... no transaction fails" \
		grep -q "failed transactions: 0 " "$dir/many.out"
	sed -n 's/^tps = /# tps /p' "$dir/many.out"
done
echo "# private memory of a backend: ${memory[0]} KB, ${memory[1]} KB on Tux"

# ---- ends ------------------------------------------------------------------------

# ends NAME SIGNAL WORD [BACKEND]: the postmaster, or with BACKEND a backend,
# gets the signal under load.  Most of the clients hear the WORD: over TCP, a
# reset may take it from some.  Without a WORD, sessions go on until they end by
# themselves.
ends()
{
	local way began target

	for way in tcp tux; do
		bench ends $way "${endless[@]}" -S -c 8
		if [ $way = tux ]; then
			check "$1: under load, on Tux" wait_for 10 moved ends 8
		else
			wait_for 10 have $way pgbench 8
		fi
		sleep 0.2	# of transactions
		target=${pg_pid[$way]}
		[ -z "${4-}" ] || target=$(backends $way pgbench | head -n 1)
		began=$(now)
		kill "-$2" "$target"
		if [ -n "$3" ]; then
			reap "$bench_pid"
		else
			sleep 0.5	# in which sessions must not end
			bench_ends
		fi
		echo "pgbench ends: $?" >"$dir/ends-$way"
		[ -n "${4-}" ] || reap "$target"
		echo "# $1, $way: $(($(now) - began)) ms, $(
			grep -c "${3:-FATAL}" "$dir/ends.err") of 8 clients hear why"
		ready_again $way
		if [ $way = tux ]; then
			bench_moves again tux 8 -S
		else
			bench again tcp -S -c 8 -t 500
			reap "$bench_pid"
			same "$1, tcp: it works again" 0 $?
		fi
	done
	same "$1: clients end as over TCP" "$(cat "$dir/ends-tcp")" \
		"$(cat "$dir/ends-tux")"
	[ -z "$3" ] || ! thorough || check "... and hear why" \
		[ "$(grep -c "$3" "$dir/ends.err")" -ge 4 ]
}

# After a backend was killed, the postmaster starts all anew by itself.
ready_again()
{
	if alive "${pg_pid[$1]}"; then
		wait_for 10 pg_ready "$1"
	else
		server "$1"
	fi
}

ends "kill of a backend" KILL "crash of another server process" backend
ends "fast shutdown" INT "administrator command"
ends "immediate shutdown" QUIT "immediate shutdown command"
ends "smart shutdown" TERM ""
ends "kill of the postmaster" KILL "unexpected postmaster exit"

d unload >/dev/null
finish
