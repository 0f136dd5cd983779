#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# announce - who is told of Tux in TCP's handshake, and who is not: to peers that
# do not announce themselves nothing is sent, and no interface is touched

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

load=$build/t/posix/load
probe=$build/t/live/net/probe turns=$build/t/posix/turns
need redis-server redis-cli findmnt "$load" "$probe" "$turns" "$forwarder"
privilege "$@"
setup
pair

# asks NAME WORDS...: a client on host a under WORDS, in the background
asks()
{
	local name=$1

	shift
	start "$name" "${a[@]}" "$@" "$load" --host "${to:-$b_addr}" \
		--port "$port" --conns 3 --size 100 --every 100
	client_pid=$pid
}

# stays NAME: works over TCP, with nothing attached and nothing sent by UDP
stays()
{
	local listener client=$client_pid

	start hears "${b[@]}" "$probe" listen $b_addr "$port" 1
	listener=$pid
	check "$1: works" goes_on "$1"
	wait "$listener"
	same "$1: no packet over UDP" "got 0" \
		"$(sed -n 's/^\(got [0-9]*\) .*/\1/p' "$dir/hears.out")"
	check "$1: no program on an interface" none_attached
	client_pid=$client
	stops "$1"
	[ ! -e "$dir/$1.err" ] ||
		same "$1: never on Tux" 0 "$(on_tux "$dir/$1.err")"
}

# ---- one end only ------------------------------------------------------------

redis server "${tux[@]}" || exit 1
server_pid=$pid
asks plain-client
stays plain-client
check "the server says why" wait_for 10 said not-announced server
end "$server_pid"

redis plain || exit 1
server_pid=$pid
asks plain-server "${tux[@]}"
check "the client says why" wait_for 10 said not-announced plain-server
stays plain-server
end "$server_pid"

# ---- SYN cookies -------------------------------------------------------------

cookies()
{
	# shellcheck disable=SC2016 # for the other shell
	"${b[@]}" sh -c 'echo $1 >/proc/sys/net/ipv4/tcp_syncookies' sh "$1"
}

redis server "${tux[@]}" || exit 1
server_pid=$pid
if cookies 2; then
	asks cookies "${tux[@]}"
	check "SYN cookies: the client says why" \
		wait_for 10 said not-announced cookies
	check "SYN cookies: the server says why" \
		wait_for 10 said syn-cookie server
	stays cookies
	cookies 1
else
	skip "SYN cookies" "the kernel has none"
fi

# ---- no cgroup-v2 in sight ---------------------------------------------------

# shellcheck disable=SC2016 # for the other shell
asks no-cgroup unshare -m sh -c 'findmnt -rnt cgroup2 -o TARGET |
	while read -r at; do umount -l "$at"; done; exec "$@"' sh "${tux[@]}"
check "no cgroup-v2: it says why" wait_for 10 said no-announce no-cgroup
stays no-cgroup

# ---- both ends; twice the same addresses and ports, in four namespaces -------

ns_a1=$ns_a ns_b1=$ns_b a1=("${a[@]}")
ns_a=$(host c) ns_b=$(host d) && cable || cannot "no more namespaces"
a=(nsenter "--net=/run/netns/$ns_a")
start twin nsenter "--net=/run/netns/$ns_b" "${tux[@]}" redis-server \
	--port "$port" --bind $b_addr --save '' --protected-mode no
twin_pid=$pid
at=(nsenter "--net=/run/netns/$ns_b")
check "a second server, elsewhere, under the same address" \
	wait_for 10 listening "$port"
asks twins "${tux[@]}"
twins_pid=$client_pid
check "its connections move" wait_for 10 moved twins 3
a=("${a1[@]}") ns_a=$ns_a1 ns_b=$ns_b1
asks ours "${tux[@]}"
check "and ours" wait_for 10 moved ours 3
check "to where they belong" wait_for 10 moved server 3
stops ours
client_pid=$twins_pid
stops twins
end "$twin_pid"
end "$server_pid"
check "nothing is left" wait_for 10 none_attached

# ---- what boxes in the middle do ---------------------------------------------

around()
{
	ns_a=$(host e) && ns_b=$(host f) && ns_m=$(host m) &&
		join "$ns_m" "$ns_a" a0 $a_addr &&
		join "$ns_m" "$ns_b" b0 $b_addr
}
around || cannot "could not make the network namespaces"
a=(nsenter "--net=/run/netns/$ns_a")
b=(nsenter "--net=/run/netns/$ns_b")
m=(nsenter "--net=/run/netns/$ns_m")
at=("${b[@]}")

wire --strip 254
redis server "${tux[@]}" || exit 1
server_pid=$pid
asks stripped "${tux[@]}"
check "cut out: the client says why" wait_for 10 said not-announced stripped
check "cut out: the server says why" wait_for 10 said not-announced server
stays stripped

wire --refuse 254
asks refused "${tux[@]}"
check "dropped for it: the third SYN comes through" \
	wait_for 10 said not-announced refused
stays refused
# A connection waits three seconds for its third SYN; the third is the second that
# counts, and the others do not wait.
check "dropped for it: later connections do not wait" timeout 20 "${a[@]}" \
	"${tux[@]}" "$turns" "$b_addr:$port" 40 +

wire --refuse-answers 254
asks answers "${tux[@]}"
check "SYN-ACKs dropped for it: the fourth comes through" \
	wait_for 10 said not-announced answers
stays answers

wire --nat 10.77.0.9=$b_addr
ip -n "$ns_a" neigh add 10.77.0.9 dev veth0 lladdr \
	"$(ip -n "$ns_b" -br link show veth0 | awk '{ print $3 }')"
to=10.77.0.9
asks translated "${tux[@]}"
to=$b_addr
check "translated: the client says why" wait_for 10 said translated translated
check "translated: the server says why" wait_for 10 said translated server
stays translated

wire
asks through "${tux[@]}"
check "an honest wire: they move" wait_for 10 moved through 3
stops through

# ---- a connection per request ------------------------------------------------

# How many make a row, which of the next ones are left alone, and what ends the
# row, is in t/unit/policy/history.

# One that lasts; in its pauses the path opens.
lasts=(60 short 1000 - 200 short 200 - 200 short 200 - 200 short)

# asks_briefly COUNT WORDS...: a question each on so many connections, and then
# what WORDS say; sets $decided, what was for them, in order
asks_briefly()
{
	local brief

	mapfile -t brief < <(yes $'1\nshort\n1\n+' | head -n $((4 * $1)))
	TUX_PATH=auto run 60 "${a[@]}" "${tux[@]}" "$turns" "$b_addr:$port" \
		"${brief[@]}" "${@:2}" >/dev/null 2>"$dir/brief.err"
	decided=$(sed -n 's/^tux: .* fd [0-9]*: \(tcp, \)\{0,1\}\([a-z-]*\).*/\2/p' \
		"$dir/brief.err" | uniq | xargs)
	echo "# decided: ${decided:0:60}"
}

some_are_brief()
{
	[[ " $decided " = *" brief "* ]]
}

the_last_moves()
{
	[[ $decided = *tux ]]
}

end "$server_pid"
TUX_PATH=auto redis server "${tux[@]}" || exit 1
server_pid=$pid
printf x | "${a[@]}" redis-cli -h $b_addr -p "$port" -x set short >/dev/null
undisturbed
asks_briefly 60 "${lasts[@]}"
check "a few brief ones: none is left alone" eval '! some_are_brief'
check "a few brief ones: the next moves" the_last_moves
asks_briefly 640 "${lasts[@]}" 1 + "${lasts[@]}"
check "many: some are left alone" some_are_brief
check "many: one moves in the end" the_last_moves
end "$server_pid"
finish
