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

# Where processors are busy, connections stay on TCP.  So other work on the host
# must not count, as far as privilege goes: sched(7), The autogroup feature.
{ echo -20 >/proc/self/autogroup; } 2>/dev/null

# session COUNT KEY...: one connection under tuxrun that asks for these keys;
# $sum is how many bytes of values came.
session()
{
	sum=$(run 60 "${tux[@]}" "$turns" "$port" "$@" 2>"$dir/said")
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

redis server "${tux[@]}" || exit 1
server_pid=$pid
head -c 10 /dev/zero | tr '\0' x | redis-cli -p "$port" -x set short >/dev/null
head -c 1000000 /dev/zero | tr '\0' x | redis-cli -p "$port" -x set long \
	>/dev/null
# On lo, packets are as long as they can be, and the limit is 10.9 KB.
head -c 12000 /dev/zero | tr '\0' x | redis-cli -p "$port" -x set beyond \
	>/dev/null

session 4 short
same "a few requests stay on TCP" young "$(decided)"
same "and are answered" 40 "$sum"

session 60 short
same "many short ones move" tux "$(decided)"
same "and are answered" 600 "$sum"

grounds='turns [0-9]+, mean burst sent [0-9]+ received [0-9]+ limit [0-9]+'
check "with the numbers that decided" grep -qE \
	"^tux: .* fd [0-9]+: tux; $grounds\$" "$dir/said"

session 60 long
check "long answers have their numbers, too" grep -qE \
	"^tux: .*: tcp, bulk: .*; turns [0-9]+, mean burst sent [0-9]+" \
	"$dir/said"
same "long answers stay on TCP" bulk "$(decided)"
same "and are whole" 60000000 "$sum"

# The server says nothing more of a candidate than why it stayed one.
served=$(wc -l <"$dir/server.err")
session 200 beyond
same "a little beyond the limit they stay on TCP" bulk "$(decided)"
same "and are whole" 2400000 "$sum"
check "the other end never claims it" wait_for 10 served bulk

session 60 short 60 long 10000 short
same "short, long, short: there, back, and there again" "tux bulk tux" \
	"$(decided)"
same "and all is whole" 60100600 "$sum"

# times COUNT WORD...: these words, so many times, in $words
times()
{
	local i

	words=()
	for ((i = 0; i < $1; i++)); do words+=("${@:2}"); done
}

# A millisecond apart: 16 take longer than the least time between two probes.
times 128 1 short 1 - 1 +
session "${words[@]}"
same "a request for each of many connections is answered" 1280 "$sum"
same "after 64, they are left alone but for a few" "young brief" \
	"$(decided | cut -d ' ' -f -2)"
same "which are one in 16" "61 brief 68 young" "$(sed -n \
	's/^tux: .* fd [0-9]*: tcp, \([a-z-]*\):.*/\1/p' "$dir/said" | sort |
	uniq -c | xargs)"

brief=("${words[@]}")
times 640 1 short 1 +
session "${words[@]}"
same "and are fewer if many come at once" yes "$(awk '
	/: tcp, young:/ { n++ } END { print (n > 65 && n < 100 ? "yes" : n) }' \
	"$dir/said")"
same "and all are answered" 6400 "$sum"

times 16 60 short 1 - 1 +
session "${brief[@]}" "${words[@]}" 60 short
same "when one of these lasts, the next ones move again" tux \
	"$(decided | awk '{ print $NF }')"
same "and all is answered" 11480 "$sum"

TUX_PATH=tcp session 60 short
same "path=tcp keeps all on TCP" chosen "$(decided)"
same "and all is answered" 600 "$sum"

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
# that waits for it.
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')
taskset -apc "$cpu" "$server_pid" >/dev/null
clients=()
for ((i = 0; i < 6; i++)); do
	start "busy$i" taskset -c "$cpu" "${tux[@]}" "$turns" "$port" \
		$((i < 5 ? 30000 : 3000)) short
	clients+=("$pid")
done
for ((i = 0; i < 6; i++)); do
	reap "${clients[i]}" 60
	check "on a busy processor, client $i is on TCP" \
		busy_tcp "$dir/busy$i.err"
	same "and is answered" $((i < 5 ? 300000 : 30000)) \
		"$(cat "$dir/busy$i.out")"
done
check "the last client has not moved at all" \
	bash -c "! grep -q ': tux' '$dir/busy5.err'"

redis plain || exit 1
printf xxxxxxxxxx | redis-cli -p "$port" -x set short >/dev/null
session 60 short 4000 - 1 + 60 short
same "a peer that was silent is not tried again at once" \
	"peer-silent peer-silent" "$(sed -n \
	's/^tux: .* fd [0-9]*: tcp, \([a-z-]*\).*/\1/p' "$dir/said" | xargs)"
same "and is answered" 1200 "$sum"

# Many directions leave Tux and come back, whatever they wait with.
check "talk and bulk in turns: each byte is right" \
	run 60 "${tux[@]}" "$phases" 2
check "every call goes on as it began" run 60 "${tux[@]}" "$build/t/posix/bytes"
check "a child writes on a connection that has begun to talk" \
	run 60 "${tux[@]}" "$build/t/posix/shared"
check "tuxrun refuses another word" bash -c \
	'! '"$build"'/contrib/tuxrun --path=fast true'
finish
