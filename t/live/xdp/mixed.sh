#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# mixed - with --io auto, UDP sockets carry what AF_XDP cannot or should not:
# connections stay on Tux whether the program is on the interface or not

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
load=$build/t/posix/load
need "$load" "$build/t/live/net/links"
need redis-server redis-cli iperf3
privilege "$@"
setup
pair
tux=("$build/contrib/tuxrun" -i veth0 --io auto -v)

# begin NAME WORDS...: a server, and a client of it with three connections that
# send, on Tux
begin()
{
	local name=$1

	shift
	wait_for 10 none_attached
	redis "server $name" "${tux[@]}" || exit 1
	server_pid=$pid
	client "$name" --conns 3 --size 100 "$@"
	client_pid=$pid
	check "$name: moves" wait_for 10 moved "$name" 3
	check "$name: attached" wait_for 10 both_attached
}

# both_on NAME N [M]: N connections of the client are on Tux, M of the server
both_on()
{
	[ "$(on_tux_now "$1") $(on_tux_now "server $1")" = "$2 ${3:-$2}" ]
}

# stayed NAME [SERVED]: on Tux all the time, at both ends
stayed()
{
	check "$1: stayed on Tux" wait_for 10 both_on "$1" 3 "${2:-3}"
	same "$1: was never on TCP again" 0 "$(cat "$dir/$1.err" \
		"$dir/server $1.err" | grep -c '> .*: tcp, ')"
	stops "$1"
	end "$server_pid"
}

# ---- the program is taken off ------------------------------------------------

"$build/t/live/net/links" | sort >"$dir/links.before"
begin detached --every 2
"$build/t/live/net/links" | sort |
	comm -13 "$dir/links.before" - >"$dir/links.taken"
same "detached: two programs" 2 "$(wc -l <"$dir/links.taken")"
check "detached: gone" xargs -a "$dir/links.taken" "$build/t/live/net/links"
check "detached: goes on" goes_on detached
check "detached: attached again" wait_for 30 both_attached
check "detached: goes on there" goes_on detached
stayed detached

# ---- little to say, and a neighbour's bulk ------------------------------------

# A counter of its own: each answer is one more than the one before.
# asks NAME SECONDS: in between; one connection
asks()
{
	wait_for 10 none_attached
	redis "server $1" "${tux[@]}" || exit 1
	server_pid=$pid
	start "$1" "${a[@]}" "${tux[@]}" redis-cli -h $b_addr -p "$port" \
		-r -1 -i "$2" incr "$1"
	client_pid=$pid
	check "$1: moves" wait_for 20 moved "$1" 1
	check "$1: attached" wait_for 10 both_attached
}

counted_on()
{
	[ "$(wc -l <"$dir/$1.out")" -gt "$2" ]
}

counts_on()
{
	wait_for 10 counted_on "$1" "$(wc -l <"$dir/$1.out")"
}

# on_sockets NAME: it goes on over Tux, and no program is on an interface
on_sockets()
{
	check "$1: goes on" counts_on "$1"
	check "$1: without the program" none_attached
	check "$1: on Tux" wait_for 10 both_on "$1" 1
	same "$1: was never on TCP again" 0 "$(cat "$dir/$1.err" \
		"$dir/server $1.err" | grep -c '> .*: tcp, ')"
}

# ends_asking NAME
ends_asking()
{
	end "$client_pid"
	same_final "$1: all answers were right" 0 \
		"$(awk '$1 != NR { n++ } END { print n + 0 }' "$dir/$1.out")"
	end "$server_pid"
}

asks idle 1
check "idle: given back" wait_for 30 none_attached
sleep 2			# for more answers, which must not take it again
on_sockets idle
idle_pid=$client_pid
client busy --conns 4 --size 100 --every 100
client_pid=$pid
check "idle: taken again for a busy one" wait_for 10 both_attached
stops busy
client_pid=$idle_pid
check "idle: goes on after that" counts_on idle
ends_asking idle

# Many processes ask at once whether the sockets lead to their peer: that is no use of
# the interface.
wait_for 10 none_attached
redis "server crowd" "${tux[@]}" || exit 1
server_pid=$pid crowd=()
for i in {1..24}; do
	start "crowd$i" "${a[@]}" "${tux[@]}" "$load" --host $b_addr \
		--port "$port" --conns 1 --size 100 --pings 500
	crowd+=("$pid")
done
check "crowd: moves" wait_for 30 moved crowd24 1
check "crowd: attached" wait_for 10 both_attached
check "crowd: given back" wait_for 60 none_attached
sleep 3			# for the questions and their answers
check "crowd: and not taken for what they ask" none_attached
for pid in "${crowd[@]}"; do end "$pid"; done
end "$server_pid"

# ---- firewalls that drop what began outside ----------------------------------

# They see no packet on AF_XDP, and what they saw before they have forgotten: when
# the interface is given back, both ends ask, and each lets the other's answer in.
# wall WORDS...: on a host
wall()
{
	"$@" nft -f - <<-'end' &&
		table inet tux {
			chain arrives {
				type filter hook input priority 0
				meta l4proto udp ct state new drop
			}
		}
	end
		"$@" sh -c 'for name in udp_timeout udp_timeout_stream; do
			echo 3 >/proc/sys/net/netfilter/nf_conntrack_$name ||
				exit 1
		done'
}

# without_wall WORDS...
without_wall()
{
	"$@" nft delete table inet tux
}

PATH=$PATH:/usr/sbin:/sbin
if wall "${a[@]}" 2>/dev/null && wall "${b[@]}"; then
	asks walled 1
	check "walled: given back" wait_for 30 none_attached
	sleep 2			# for more answers
	on_sockets walled
	ends_asking walled
else
	skip "walled" "needs nft and connection tracking"
fi
without_wall "${a[@]}" 2>/dev/null
without_wall "${b[@]}" 2>/dev/null

export TUX_PATH=auto
undisturbed
asks yields 0.05
serve sink iperf3 -s -B $b_addr -p @PORT@ || exit 1
sink_pid=$pid
start bulk "${a[@]}" iperf3 -c $b_addr -p "$port" -t 3600
bulk_pid=$pid
check "yields: given back" wait_for 10 none_attached
on_sockets yields
end "$bulk_pid"
end "$sink_pid"
check "yields: goes on after that" counts_on yields
ends_asking yields

export TUX_PATH=tux

# ---- the interface is another process's --------------------------------------

begin first --every 2
first_pid=$client_pid first_port=$port
client second --conns 3 --size 100 --every 2
client_pid=$pid
check "second: moves" wait_for 20 moved second 3
check "second: goes on" goes_on second
redis "other server" "${tux[@]}" || exit 1
other_pid=$pid
client third --conns 3 --size 100 --every 2
third_pid=$pid
check "third: another client of another server: moves" \
	wait_for 20 moved third 3
n=3
check "third: at the server, too" wait_for 10 all_back "other server"
check "third: goes on" goes_on third
stops second
client_pid=$third_pid
stops third
end "$other_pid"
client_pid=$first_pid port=$first_port
stayed first 6
finish
