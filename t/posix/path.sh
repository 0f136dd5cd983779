#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# path - which connections move to Tux by themselves, and which stay on TCP

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

turns=$build/t/posix/turns phases=$build/t/posix/phases
need redis-server redis-cli taskset "$turns" "$phases" "$build/t/posix/bytes"
setup
export TUX_PATH=auto

calmly

# session COUNT KEY...: one connection under tuxrun that asks for these keys;
# $sum is how many bytes of values came.
session()
{
	sum=$(run 60 "${calm[@]}" "${tux[@]}" "$turns" "$port" "$@" \
		2>"$dir/said")
}

# at_last NAME EXPECTED BYTES COMMAND... -- COUNT KEY...: a session of which the
# command prints what is expected.  Some rules count time: a stall of a second
# ends a row of brief connections, for example.  So five sessions may try.
at_last()
{
	local name=$1 expected=$2 bytes=$3 try got command=()

	shift 3
	while [ "$1" != -- ]; do
		command+=("$1")
		shift
	done
	shift
	for try in {1..5}; do
		session "$@"
		same_final "$name: all is answered" "$bytes" "$sum"
		got=$("${command[@]}")
		[ "$got" != "$expected" ] || break
		echo "# $name: try $try gives $got"
	done
	same "$name" "$expected" "$got"
}

# What was decided for it, in order: "tux", or the reason for TCP.
decided()
{
	sed -n 's/^tux: .* fd [0-9]*: \(tcp, \)\{0,1\}\([a-z-]*\).*/\2/p' \
		"$dir/said" | uniq | xargs
}

# Is WORD all that the server has said of connections since line $served?
served()
{
	[ "$(tail -n +$((served + 1)) "$dir/server.err" |
		sed -n 's/^tux: .* fd [0-9]*: \(tcp, \)\{0,1\}\([a-z-]*\).*/\2/p' |
		uniq | xargs)" = "$1" ]
}

redis server "${calm[@]}" "${tux[@]}" || exit 1
head -c 10 /dev/zero | tr '\0' x | redis-cli -p "$port" -x set short >/dev/null
head -c 1000000 /dev/zero | tr '\0' x | redis-cli -p "$port" -x set long \
	>/dev/null
# On lo, packets are as long as they can be, and the limit is 10.9 KB.
head -c 12000 /dev/zero | tr '\0' x | redis-cli -p "$port" -x set beyond \
	>/dev/null

session 4 short
same "a few requests stay on TCP" young "$(decided)"
same_final "and are answered" 40 "$sum"

# With time for the path to be proved: 60 may be over before.
at_last "many short ones move" tux 1200 decided -- 60 short 20 - 60 short

grounds='turns [0-9]+, mean burst sent [0-9]+ received [0-9]+ limit [0-9]+'
check "with the numbers that decided" grep -qE \
	"^tux: .* fd [0-9]+: tux; $grounds\$" "$dir/said"

session 60 long
check "long answers have their numbers, too" grep -qE \
	"^tux: .*: tcp, bulk: .*; turns [0-9]+, mean burst sent [0-9]+" \
	"$dir/said"
same "long answers stay on TCP" bulk "$(decided)"
same_final "and are whole" 60000000 "$sum"

# The server says nothing more of a candidate than why it stayed one.
served=$(wc -l <"$dir/server.err")
session 200 beyond
same "a little beyond the limit they stay on TCP" bulk "$(decided)"
same_final "and are whole" 2400000 "$sum"
check "the other end never claims it" wait_for 10 served bulk

# It is measured which path is faster for long answers, so a direction may try
# both more than once.  Behind each return it stays on TCP for 100 ms and more.
there_and_back()
{
	grep -xqE 'tux( bulk tux)+' <<<"$(decided)" && echo yes || decided
}
at_last "short, long, short: there, back, and there again" yes 60101200 \
	there_and_back -- 60 short 60 long 60 short 1000 - 10000 short

# times COUNT WORD...: these words, so many times, in $words
times()
{
	local i

	words=()
	for ((i = 0; i < $1; i++)); do words+=("${@:2}"); done
}

# reasons: with how often each was given, and the first two
reasons()
{
	sed -n 's/^tux: .* fd [0-9]*: tcp, \([a-z-]*\):.*/\1/p' "$dir/said" |
		sort | uniq -c | xargs
	decided | cut -d ' ' -f -2
}

# young MOST: are at most so many looked at, and more than the first 65?
young()
{
	awk -v most="$1" '/: tcp, young:/ { n++ }
		END { print (n > 65 && n <= most ? "yes" : n) }' "$dir/said"
}

# A millisecond apart: 16 take longer than the least time between two probes.
times 128 1 short 1 - 1 +
brief=("${words[@]}")
at_last "after 64 with a request each, they are left alone but for one in 16" \
	$'61 brief 68 young\nyoung brief' 1280 reasons -- "${brief[@]}"

# If many come at once, the least time between two probes makes them fewer.
times 640 1 short 1 +
at_last "many at once: one in 16 at most" yes 6400 \
	young "$(thorough && echo 99 || echo 100)" -- "${words[@]}"

decided_last()
{
	decided | awk '{ print $NF }'
}

times 16 60 short 1 - 1 +
at_last "when one of these lasts, the next ones move again" tux 12080 \
	decided_last -- "${brief[@]}" "${words[@]}" 60 short 20 - 60 short

TUX_PATH=tcp session 60 short
same "path=tcp keeps all on TCP" chosen "$(decided)"
same_final "and all is answered" 600 "$sum"

# Is FILE's connection on TCP because of the processors, as it or the server says?
# An end that the other one has told to leave Tux knows no reason at first.
busy_tcp()
{
	local name

	name=$(sed -n 's/^tux: \(.*\) fd .*/\1/p' "$1" | tail -n 1)
	[ -n "$name" ] && cat "$1" "$dir/server.err" |
		grep -q "^tux: $name fd .*: tcp, cpu-busy:"
}

# Six clients and their server share one processor: each packet wakes a thread
# that waits for it.  Where the machine stands still in between, an end may find
# another reason first, so which of them say this one is for thorough runs.
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')
redis server taskset -c "$cpu" "${tux[@]}" || exit 1
printf xxxxxxxxxx | redis-cli -p "$port" -x set short >/dev/null
clients=()
for ((i = 0; i < 6; i++)); do
	start "busy$i" taskset -c "$cpu" "${tux[@]}" "$turns" "$port" \
		$((i < 5 ? 30000 : 3000)) short
	clients+=("$pid")
done
for ((i = 0; i < 6; i++)); do
	reap "${clients[i]}" 120
	! thorough || check "on a busy processor, client $i is on TCP" \
		busy_tcp "$dir/busy$i.err"
	same_final "client $i is answered" $((i < 5 ? 300000 : 30000)) \
		"$(cat "$dir/busy$i.out")"
done
check "on a busy processor, connections are on TCP" \
	grep -qs ': tcp, cpu-busy:' "$dir"/busy?.err "$dir/server.err"
! thorough || check "the last client has not moved at all" \
	bash -c "! grep -q ': tux' '$dir/busy5.err'"

# It is silent after 3 s, and then not tried for 5 s.
redis plain || exit 1
printf xxxxxxxxxx | redis-cli -p "$port" -x set short >/dev/null
head -c 12000 /dev/zero | tr '\0' x | redis-cli -p "$port" -x set beyond \
	>/dev/null
at_last "a peer that was silent is not tried again at once" \
	"2 peer-silent"$'\npeer-silent' 1200 \
	reasons -- 60 short 4000 - 1 + 60 short
at_last "what keeps a connection on TCP afterwards is said, too" \
	"peer-silent bulk" 1200600 decided -- 60 short 4000 - 100 beyond

# Many directions leave Tux and come back, whatever they wait with.
check_final "talk and bulk in turns: each byte is right" \
	run 60 "${calm[@]}" "${tux[@]}" "$phases" 2
check_final "every call goes on as it began" run 60 "${tux[@]}" "$build/t/posix/bytes"
check_final "a child writes on a connection that has begun to talk" \
	run 60 "${tux[@]}" "$build/t/posix/shared"
check "tuxrun refuses another word" bash -c \
	'! '"$build"'/contrib/tuxrun --path=fast true'
finish
