#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# sqlite - SQLite in callbacks loses nothing that it has answered, when it is
# killed at any moment: five times, thoroughly fifty

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"

tux=(env)
need "$build/contrib/examples/sqlite_server" \
	"$build/contrib/examples/message_client"
setup
export TUX_UDP=lo
rounds=5
thorough && rounds=50
clients=3 inserts=2000

# Sets $server and $port.
serve_db()
{
	start server "$build/contrib/examples/sqlite_server" 127.0.0.1 0 db
	server=$pid
	wait_for 10 grep -qs '^port ' "$dir/server.out"
	port=$(sed -n 's/^port //p' "$dir/server.out")
}

# asks SQL...: the answers
asks()
{
	run 60 "$build/contrib/examples/message_client" 127.0.0.1 "$port" "$@"
}

# inserts_of CLIENT ROUND: statements that are answered with what they insert
inserts_of()
{
	seq -f "insert into t values('$2.$1.%.0f') returning v" $inserts
}

# Clients insert until the server is killed; their answers go to answered.N.
kill_under_load()
{
	local c pids=() words

	serve_db
	for ((c = 0; c < clients; c++)); do
		mapfile -t words < <(inserts_of $c "$1")
		start "client$c" "$build/contrib/examples/message_client" \
			127.0.0.1 "$port" "${words[@]}"
		pids+=("$pid")
	done
	wait_for 10 [ -s "$dir/client0.out" ]
	sleep "0.0$((RANDOM % 100))"	# at any moment
	kill -KILL "$server"
	reap "$server"
	for c in "${!pids[@]}"; do
		reap "${pids[c]}"
		cat "$dir/client$c.out" >>"$dir/answered"
	done
}

serve_db
same "SQL is answered" "1|a
2|b" "$(asks "create table t(v)" "insert into t values('1|a'), ('2|b')" \
	"select * from t" | grep .)"
same "what is wrong is told" 'error: near "selekt": syntax error' \
	"$(asks selekt)"
asks "delete from t" >/dev/null
kill -TERM "$server"
reap "$server"
same "the server ends when told" 0 $?
# Without storage of its own, a routine must not wait where SQLite has a lock.
if grep -q "not preempted" "$dir/server.err"; then
	skip "SQLite's calls were libtux's" \
		"cannot: callbacks are not preempted"
else
	check "SQLite's calls were libtux's" grep -q '^calls on files: [1-9]' \
		"$dir/server.out"
fi

for ((r = 1; r <= rounds; r++)); do
	kill_under_load $r
done
serve_db
asks "select v from t" | LC_ALL=C sort >"$dir/kept"
check "inserts were answered" [ -s "$dir/answered" ]
same "none answered was one that failed" "" \
	"$(grep -v '^[0-9.]*$' "$dir/answered" | head -n 3)"
answers=$(wc -l <"$dir/answered")
same_final "killed $rounds times, it lost none of $answers" "" \
	"$(LC_ALL=C sort "$dir/answered" | LC_ALL=C comm -23 - "$dir/kept" |
		head -n 3)"
same_final "the database is whole" ok "$(asks "pragma integrity_check")"
end "$server"

finish
