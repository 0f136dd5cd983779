# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # the scripts that source it use the names
#
# redis_suite - what people do with Redis: source it after lib.sh

load=$build/t/posix/load
need redis-server redis-cli redis-benchmark sha256sum "$load"

near=()			# the words that put a client on its host,
with=()			# and those that it runs under
host=127.0.0.1		# the server's
how=			# what both are called

# cli ARGS...: its answer
cli()
{
	run 60 "${near[@]}" "${with[@]}" redis-cli -h $host -p "$port" "$@" \
		2>>"$dir/cli.err"
}

# Over TCP, for looking at the server.
plain()
{
	run 60 "${near[@]}" redis-cli -h $host -p "$port" "$@"
}

asks()
{
	local name=$1 want=$2

	shift 2
	same_final "$how: $name" "$want" "$(cli "$@")"
}

info()
{
	plain info "$1" | tr -d '\r' | sed -n "s/^$2://p"
}

info_is()
{
	[ "$(info "$1" "$2")" = "$3" ]
}

sum()
{
	sha256sum | sed 's/ .*//'
}

# ---- questions and answers --------------------------------------------------

basics()
{
	asks "ping" PONG ping
	asks "set" OK set "key 1" $'value\twith \xff bytes'
	same_final "$how: get" $'value\twith \xff bytes' "$(cli --raw get "key 1")"
	asks "a key that is not there" "" --raw get nothing
	asks "an error" "ERR unknown command 'nonsense', with args beginning \
with: " nonsense
	same_final "$how: MULTI" "OK QUEUED QUEUED 1 2" "$(printf '%s\n' MULTI \
		'INCR multi' 'INCR multi' EXEC | cli --raw | xargs)"
	same_final "$how: DISCARD" "OK QUEUED OK" \
		"$(printf '%s\n' MULTI 'INCR multi' DISCARD | cli --raw | xargs)"
	asks "QUIT, and the server closes" OK quit
}

large()
{
	local bytes=$((5 << 20))

	head -c $bytes /dev/urandom >"$dir/big"
	same_final "$how: store 5 MB" OK "$(cli -x set big <"$dir/big")"
	same_final "$how: fetch 5 MB" "$(sum <"$dir/big")" \
		"$(cli --raw get big | head -c $bytes | sum)"
	cli eval "for i = 1, 100000 do redis.call('rpush', 'list', \
		'item number ' .. i) end" 0 >/dev/null
	same_final "$how: a list of 100,000" \
		"$(seq -f 'item number %.0f' 100000 | sum)" \
		"$(cli --raw lrange list 0 -1 | sum)"
}

pipeline()
{
	same_final "$how: pipeline of 20,000" "errors: 0, replies: 20000" "$(
		for i in {1..20000}; do printf 'SET p:%d value-%d\r\n' $i $i
		done | cli --pipe | tail -n 1)"
	asks "what it stored" value-20000 get p:20000
	# It has to end without an error, at any time.
	check_final "$how: benchmark with pipelines" run 120 "${near[@]}" \
		"${with[@]}" redis-benchmark -h $host -p "$port" -c 20 -P 16 -n 40000 \
		-d 100 -r 1000 -t set,get,incr,lpush,lrange_100,mset -q
}

# Bash's own sockets, which are files to it: nothing of Redis's client code.
inline()
{
	# shellcheck disable=SC2016 # for the other shell
	same_final "$how: inline commands" "+PONG +OK \$5 words" "$(
		run 60 "${near[@]}" "${with[@]}" bash -c '
			exec 3<>/dev/tcp/$2/$1
			printf "PING\r\nSET inline words\r\nGET inline\r\n" >&3
			for i in 1 2 3 4; do read -r -u 3 line; echo "$line"
			done' inline "$port" $host 2>>"$dir/cli.err" |
			tr -d '\r' | xargs)"
}

# ---- connections that wait --------------------------------------------------

subscribed()
{
	[ "$(plain --raw pubsub numsub news | tail -n 1)" = "$1" ]
}

heard()
{
	[ "$(grep -c '^story$' "$dir/sub.out")" = "$1" ]
}

waiting()
{
	start sub "${near[@]}" "${with[@]}" redis-cli -h $host -p "$port" \
		--raw subscribe news
	check "$how: subscribe" wait_for 10 subscribed 1
	cli -r 100 publish news story >/dev/null
	check_final "$how: 100 messages" wait_for 10 heard 100
	end "$pid"
	check "$how: unsubscribed by going" wait_for 10 subscribed 0

	start pop "${near[@]}" "${with[@]}" redis-cli -h $host -p "$port" \
		--raw blpop queue 100
	wait_for 10 info_is clients blocked_clients 1
	cli rpush queue item >/dev/null
	reap "$pid"
	same_final "$how: BLPOP" "queue item" "$(xargs <"$dir/pop.out")"
	asks "BLPOP that times out" "" --raw blpop queue 0.2
}

ended_all()
{
	[ "$(grep -c ^ended "$dir/victims.out")" = "$1" ]
}

client_kill()
{
	start victims "${near[@]}" "${with[@]}" "$load" --host $host \
		--port "$port" --conns 5 --size 100 --pings 300
	check "$how: CLIENT LIST" wait_for 10 info_is clients \
		connected_clients 6
	sleep 0.3		# they have moved, but on a late machine
	asks "CLIENT KILL" 5 client kill type normal
	check_final "$how: the killed see it" wait_for 10 ended_all 5
	reap "$pid"
}

# ---- the server does something else -----------------------------------------

saved()
{
	info_is persistence rdb_bgsave_in_progress 0 &&
		[ "$(info persistence rdb_saves)" -gt "$1" ]
}

lasting()
{
	local saves load_pid

	start load "${near[@]}" "${with[@]}" "$load" --host $host \
		--port "$port" --conns 20 --size 500
	load_pid=$pid
	wait_for 10 grep -qs ^ready "$dir/load.out"
	# The server is away for longer than an end waits for packets.
	asks "a command of 1.5 s" OK debug sleep 1.5
	saves=$(info persistence rdb_saves)
	asks "BGSAVE" "Background saving started" bgsave
	check "$how: it saves" wait_for 20 saved "$saves"
	check "$how: it says so" info_is persistence rdb_last_bgsave_status ok
	same_final "$how: those that it served meanwhile are still there" 0 \
		"$(grep -c ^ended "$dir/load.out")"
	kill "$load_pid"
	reap "$load_pid"
	same_final "$how: and had right answers" 0 $?
}

shut_down()
{
	asks "SHUTDOWN" "" shutdown nosave
	reap "$server"
	same_final "$how: the server ends well" 0 $?
}

# suite HOW "CLIENT WORDS" "SERVER WORDS"
suite()
{
	how=$1
	read -ra with <<<"$2"
	# shellcheck disable=SC2086 # words
	redis server $3 || exit 1
	server=$pid
	basics
	large
	pipeline
	inline
	waiting
	client_kill
	lasting
	shut_down
}
