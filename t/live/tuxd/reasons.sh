#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# reasons - under tuxd, clients learn why the connections of a listener will
# not move, and each end learns why the other keeps a connection on TCP; one
# that listened before `tuxd load` is announced afterwards; and a container
# needs nothing

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

load=$build/t/posix/load
stays_on_tcp=$build/t/live/tuxd/stays_on_tcp
need redis-server "$load" "$build/t/live/tuxd/peer" "$stays_on_tcp"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"		# also they begin there
on 65534 "$cg_b"
"${words[@]}" "$build/contrib/tuxrun" true 2>/dev/null ||
	cannot "another user cannot run tuxrun here"

# serves WORDS...: an unprivileged Redis on host b, under tuxrun WORDS
serves()
{
	free_port
	unprivileged 65534 "$cg_b"
	start server "${b[@]}" "${words[@]}" "$@" redis-server \
		--port "$port" --bind $b_addr --save '' --protected-mode no
	server_pid=$pid
	wait_for 10 listening "$port"
}

# asks NAME: an unprivileged client on host a
asks()
{
	unprivileged 65533 "$cg_a"
	start "$1" "${a[@]}" "${words[@]}" "$load" --host $b_addr \
		--port "$port" --conns 2 --size 100 --every 100
	client_pid=$pid
}

# tells NAME REASON WORDS...: the client of a server under tuxrun WORDS shows
# REASON
tells()
{
	local name=$1 why=$2

	serves "${@:3}"
	asks "$name"
	check "$name: the client shows it" wait_for 10 said "$why" "$name"
	same "... and nothing else" "$why" \
		"$(sed -n 's/^tux: .* tcp, \([a-z-]*\): .*/\1/p' \
			"$dir/$name.err" | sort -u)"
	check "... and it works" goes_on "$name"
	end "$client_pid"
	end "$server_pid"
}

d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"
ok "loaded"

# ---- a container ---------------------------------------------------------------

# shellcheck disable=SC2016 # for the other shell
contained='ip link set lo up
"$0" serve 127.0.0.1 5555 1 >"$1" &
for i in $(seq 500); do grep -q ^ready "$1" && break; sleep 0.02; done
"$0" ask 127.0.0.1 5555 1
wait
cat "$1"'
mkdir "$cg_b/pod"
on 65534 "$cg_b/pod"
if "${words[@]}" unshare -Urn ip link set lo up 2>/dev/null; then
	"${words[@]}" --bounding-set=-all unshare -UrnC sh -c "$contained" \
		"$build/t/live/tuxd/peer" "$dir/pod.serve" >"$dir/pod.out" 2>&1
	same "a container without privilege: both ends get a key" 2 \
		"$(grep -c '^key [0-9a-f]*' "$dir/pod.out")"
	same "... the same" 1 \
		"$(grep -o '^key [0-9a-f]*' "$dir/pod.out" | sort -u | wc -l)"
else
	skip "a container" "another user cannot make namespaces here"
fi
rmdir "$cg_b/pod"

# ---- listeners that will not move ------------------------------------------------

tells "the server is to use TCP" chosen --path=tcp
tells "the server may not use AF_XDP" no-privilege --io xdp
ip -n "$ns_b" link add other type veth peer name unused &&
	tells "the server uses another interface" other-interface -i other

# ---- ends that will not move, and know it only after the handshake -----------------

# grows NAME: its connection still carries bytes
grows()
{
	local before

	before=$(stat -c %s "$dir/$1.out")
	wait_for 10 eval "[ \$(stat -c %s '$dir/$1.out') -gt $before ]"
}

# stays NAME REASON SERVER CLIENT: the end with a word in SERVER or CLIENT keeps
# the connection on TCP, and both show REASON
stays()
{
	local name=$1 why=$2 end

	free_port
	unprivileged 65534 "$cg_b"
	# shellcheck disable=SC2086 # a word or none
	start staying_b "${b[@]}" "${words[@]}" "$stays_on_tcp" serve $b_addr \
		"$port" $3
	server_pid=$pid
	wait_for 10 listening "$port"
	unprivileged 65533 "$cg_a"
	# shellcheck disable=SC2086
	start staying_a "${a[@]}" "${words[@]}" "$stays_on_tcp" ask $b_addr \
		"$port" $4
	client_pid=$pid
	for end in a b; do
		check "$name: $end shows it" wait_for 10 said "$why" staying_$end
		same "... and nothing else" "$why" \
			"$(sed -n 's/^tux: .* tcp, \([a-z-]*\): .*/\1/p' \
				"$dir/staying_$end.err" | sort -u)"
	done
	check "$name: it works" grows staying_a
	end "$client_pid"
	end "$server_pid"
}

stays "the server's program needs TCP" sockopt pin ''
stays "the client's program needs TCP" sockopt '' pin
stays "the server has too few descriptors" no-fd files ''
stays "the client has too few descriptors" no-fd '' files

# ---- listeners that are older than the programs ------------------------------------

late=$(uname -r | awk -F. '{ print ($1 > 6 || ($1 == 6 && $2 >= 12)) }')
if [ "$late" != 1 ]; then
	skip "old listeners" "this kernel cannot add a callback to a listener"
	finish
fi

# The first client is accepted before the listener is announced again.
# again NAME: the next but one client moves
again()
{
	sleep 1.1		# it is announced once a second at most
	asks first
	check "$1: the first client works" wait_for 10 answered first 2
	end "$client_pid"
	asks second
	check "$1: the next moves" wait_for 10 moved second 2
	check "... and it works" goes_on second
	end "$client_pid"
	end "$server_pid"
}

serves
check "unloaded" d unload
check "loaded again" d load
again "a listener that outlives the programs"

check "unloaded" d unload
serves
if without_tuxd "without tuxd"; then
	asks before
	check "without tuxd: works" wait_for 10 answered before 2
	check "... and says why" wait_for 10 said no-privilege before
	end "$client_pid"
fi
check "loaded" d load
again "a listener that was there first"
finish
