#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# attack - other users, containers and a third host misuse what tuxd's
# programs offer: they learn nothing of others' connections, change nothing of
# them, and cost a bounded amount
#
#   a: veth0 -- a0 :m, a bridge that floods: b0 -- veth0 :b
#                             c0 -- veth0 :c, a third host

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"

tuxd_peer=$build/t/live/tuxd/peer
forger=$build/t/live/tuxd/forger intruder=$build/t/live/net/intruder
load=$build/t/posix/load
need unshare "$tuxd_peer" "$forger" "$intruder"
privilege "$@"
mounts "$@"

setup
hosts
hub
cgroups
for cg in "$cg_a" "$cg_b"; do
	"$tuxd" load --cgroup "$cg" --bpffs "$dir/bpf" --ports 7001-7001 \
		>"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"
done

on 65533 "$cg_a"
client=("${a[@]}" "${words[@]}")
on 65534 "$cg_b"
server=("${b[@]}" "${words[@]}")
on 65531 "$cg_b"
other=("${b[@]}" "${words[@]}")
container=("${other[@]}" unshare -Urn)
chmod 777 "$dir"

up()
{
	grep -q "^ready" "$dir/$1.out"
}

# serves WORDS...: a listener of user 65534 on b
serves()
{
	free_port
	start serve "${server[@]}" "$tuxd_peer" serve $b_addr "$port" "$@"
	server_pid=$pid
	wait_for 10 up serve
}

# keys NAME: a connection from a to b has a key, the same at both ends
keys()
{
	local ask

	ask=$(run 60 "${client[@]}" "$tuxd_peer" ask $b_addr "$port" 1 2>&1)
	check "$1: a key" grep -q '^key [0-9a-f]\{32\} ' <<<"$ask"
	wait_for 10 grep -q ^key "$dir/serve.out"
	same "$1: the same at both ends" "${ask%% port*}" \
		"$(grep ^key "$dir/serve.out" | tail -n 1 | sed 's/ port.*//')"
}

announced_n()
{
	"$tuxd" status --cgroup "$cg_b" --bpffs "$dir/bpf" |
		sed -n 's/.*; \([0-9]*\) listeners.*/\1/p'
}

announced_are()
{
	[ "$(announced_n)" = "$1" ]
}

# ---- 100,000 sockets ---------------------------------------------------------

start marks "${other[@]}" "$forger" marks 100000
marks_pid=$pid
wait_for 60 grep -qs ^marked "$dir/marks.out"
read -r _ marked _ each _ first _ last <"$dir/marks.out"
echo "# $(cat "$dir/marks.out")"
same "a user marks 100,000 sockets" 100000 "$marked"
check "a mark takes at most 512 bytes, also if made 1000 times: $each" \
	[ "$each" -le 512 ]
! thorough ||
	check "the last thousandth took as long as the first: $first, $last us" \
		awk "BEGIN { exit !($last < 20 && $last < 5 * $first + 2) }"
serves 1
keys "beside 100,000 marks"
end "$marks_pid"

# ---- options that make no sense ----------------------------------------------

same "nonsense is refused" "nonsense 200000 done 0" \
	"$(run 120 "${other[@]}" "$forger" nonsense 200000)"
serves 1
keys "after nonsense"

# ---- listeners ---------------------------------------------------------------

# listeners COMMAND...: in the background, until it says how many it has; sets
# $got
listeners()
{
	start quota "$@" "$tuxd_peer" quota 100 hold
	held+=("$pid")
	wait_for 10 grep -qs ^announced "$dir/quota.out"
	got=$(cat "$dir/quota.out")
}
held=()
listeners "${container[@]}"
same "root of a container has a user's listeners" "announced 64 of 100" "$got"
listeners "${container[@]}"
same "... and none more in another" "announced 0 of 100" "$got"
listeners "${other[@]}"
same "... nor outside" "announced 0 of 100" "$got"
for i in {1..16}; do
	on $((200000 + i)) "$cg_b"
	listeners "${b[@]}" "${words[@]}"
done
same "users of a block of 65536: 16 times 64" "announced 64 of 100" "$got"
on 200017 "$cg_b"
listeners "${b[@]}" "${words[@]}"
same "... and no more" "announced 0 of 100" "$got"
on 300000 "$cg_b"
listeners "${b[@]}" "${words[@]}"
same "another block has some" "announced 64 of 100" "$got"
same "status counts them" $((64 + 1024 + 64)) "$(announced_n)"
# Containers without a namespace for users are told apart by their cgroups.
pods=("$cg_b"/pod-{1..18})
mkdir "${pods[@]}"
on 65531 "${pods[0]}"
listeners "${b[@]}" "${words[@]}"
same "the same user in another cgroup has a quota" "announced 64 of 100" "$got"
for pod in "${pods[@]:1:16}"; do
	on 65531 "$pod"
	listeners "${b[@]}" "${words[@]}"
done
same "... but 1024 in all cgroups" "announced 0 of 100" "$got"
inside "${pods[17]}"
start quota "${b[@]}" "${words[@]}" "$tuxd_peer" quota 3000 users=40 hold
held+=("$pid")
wait_for 10 grep -qs ^announced "$dir/quota.out"
same "root of a container, as 40 users: a quota for its cgroup" \
	"announced 2048 of 3000" "$(cat "$dir/quota.out")"
serves 1
keys "beside all these listeners"
for pid in "${held[@]}"; do end "$pid"; done
check "all are given back" wait_for 10 announced_are 0
inside "${pods[17]}"
listeners "${b[@]}" "${words[@]}"
same "... and are there for others" "announced 64 of 100" "$got"
end "$pid"
check "... and those" wait_for 10 announced_are 0
rmdir "${pods[@]}"

# The same address and port, elsewhere, with another thing to say
serves 1
# shellcheck disable=SC2016 # for the other shell
start twin "${container[@]}" sh -c 'ip link set lo up &&
	ip addr add "$2/32" dev lo &&
	exec "$1" serve "$2" "$3" 1 why=20 port=1' sh "$tuxd_peer" $b_addr "$port"
twin_pid=$pid
check "a container listens at the same address and port" \
	wait_for 10 up twin
keys "beside its twin"
end "$twin_pid"
serves 1
keys "after its twin has ended"
check "a container's root cannot unload" sh -c '! "$@"' sh "${container[@]}" \
	"$tuxd" unload --cgroup "$cg_b" --bpffs "$dir/bpf"
serves 1
keys "after it has tried"

# ---- keys of others ----------------------------------------------------------

# holds WORD: sets $holder, $fd, of a connection on b
holds()
{
	serves 1 hold "$@"
	keys "held"
	wait_for 10 grep -q ^holds "$dir/serve.out"
	read -r _ holder fd < <(grep ^holds "$dir/serve.out")
}

# stolen NAME COMMAND...: nothing is
stolen()
{
	local name=$1

	shift
	same "$name gets no descriptor" \
		"pidfd_getfd: Operation not permitted open: Permission denied" \
		"$("$@" "$tuxd_peer" steal "$holder" "$fd" 2>&1 | tr '\n' ' ' |
			sed 's/ $//')"
}
holds
stolen "another user" "${other[@]}"
stolen "the root of a container" "${other[@]}" unshare -Ur
stolen "a user of the other host" "${client[@]}"
end "$server_pid"
holds shy
stolen "the same user, of a process that is not to be looked at," "${server[@]}"
stolen "... nor from a container" "${server[@]}" unshare -Ur
end "$server_pid"

# ---- handshakes of a third host's making -------------------------------------

mac=$(ip -n "$ns_b" link show veth0 2>/dev/null |
	awk '/link.ether/ { print $2 }')
ip -n "$ns_b" neigh replace 10.77.0.9 lladdr 02:00:00:00:00:09 dev veth0 \
	nud permanent
# shaken KIND: sets in $asked whether TCP works with that option
shaken()
{
	serves 1
	asked=$(run 60 "${c[@]}" "$forger" shake veth0 "$mac" 10.77.0.9 \
		$b_addr "$port" "$1" 2>&1)
}

# made_of KIND WHAT: what the server makes of it; sets $said
made_of()
{
	wait_for 10 no_more "$server_pid" || end "$server_pid"
	said=$(grep -v ^ready "$dir/serve.out")
	same "option '$1': $2" "$2" "${said//key */key ${said##* port }}"
}

# forged KIND WHAT
forged()
{
	shaken "$1"
	same "option '$1': TCP works" echoed "$asked"
	made_of "$@"
}

# broken KIND: what no option can be; some kernels discard such a SYN
broken()
{
	shaken "$1"
	if [ "$asked" = refused ]; then
		keys "option '$1' refused"
	else
		made_of "$1" "tcp not-announced"
	fi
}
forged good "key 4001 version 1"
one=$said
forged good "key 4001 version 1"
check "the same option again: another key" [ "$one" != "$said" ]
forged hash "tcp translated"
forged nonce "tcp version"
forged two "key 4001 version 1"
forged two-wrong "tcp translated"
forged short "tcp version"
forged old "tcp version"
forged long "tcp version"
broken beyond
broken none
forged port-0 "key 0 version 1"
forged port-65535 "key 65535 version 1"
forged version-255 "tcp version"
forged why-255 "tcp peer-raw"
serves 1
keys "after forged options"

# ---- connections over UDP, under attack --------------------------------------

on 65534 "$cg_b"
words+=("$build/contrib/tuxrun" -v)
if ! command -v redis-server >/dev/null ||
	! "${words[@]}" true 2>/dev/null; then
	skip "connections under attack" \
		"needs redis-server, and another user to run tuxrun"
	finish
fi
few_ports 20000 20007
redis server "${words[@]}" || exit 1
server_pid=$pid
memory()
{
	awk '/^VmRSS/ { print $2 }' "/proc/$server_pid/status"
}

# clients NAME: they get answers
clients()
{
	start "$1" "${client[@]}" "$build/contrib/tuxrun" -v "$load" \
		--host $b_addr --port "$port" --conns 3 --size 1000 --every 100
	client_pid=$pid
	check "$1: answers come" wait_for 10 answered "$1" 3
}

# life NAME: clients that move
life()
{
	clients "$1"
	check "$1: on Tux" wait_for 10 moved "$1" 3
}

overs()
{
	grep -q ^over "$dir/intruder.out"
}

# during NAME: answers come; how many within a second
during()
{
	local n

	n=$(answers busy)
	sleep 1			# answers are counted, and shown
	echo "# $1: $(($(answers busy) - n)) answers in a second"
	check "$1: answers come" wait_for 10 answered busy "$n"
	check_final "$1: the server has not ended" alive "$server_pid"
}

start intruder "${c[@]}" "$intruder" veth0 20000 300
intruder_pid=$pid
check "a third host hears all" wait_for 10 up intruder
life earlier
check "earlier: answers come" goes_on earlier
stops earlier
sleep 1.5			# a port rests for a second
life busy
ports=$("${b[@]}" awk '$8 == 65534 { split($2, at, ":"); print at[2] }' \
	/proc/net/udp /proc/net/udp6 | sort -u)
same "both have the UDP port that the administrator gave" 1B59 "$ports"
sleep 1
before=$(memory)
during "in peace"
start spray "${c[@]}" "$forger" spray $b_addr "$(thorough && echo 5 || echo 2)"
spray_pid=$pid
during "all ports are guessed, from a third host"
start flood "${other[@]}" "$build/t/live/net/attacker" $b_addr 30000 30015 \
	$b_addr 7001 7001 1
flood_pid=$pid
during "... and the port is flooded, by another user of the host"
reap "$spray_pid"
echo "# $(cat "$dir/spray.out")"
end "$flood_pid"
echo "# $(cat "$dir/flood.out")"
kill -USR1 "$intruder_pid"
during "forged and repeated packets, in their names"
check "... of all kinds" wait_for 60 overs
sed 's/^/# /' "$dir/intruder.out"
check "earlier packets were repeated" \
	awk '/^replay-earlier/ { exit $3 == 0 }' "$dir/intruder.out"
kill "$intruder_pid"
check "busy: they go on" goes_on busy
during "in peace again"
on_tcp "$dir/busy.err" | sed 's/^/# /'
stops busy
after=$(memory)
check "the server's memory: $before KB before, $after KB after" \
	[ "$after" -le $((before + 2048)) ]
life new
check "a new connection moves" goes_on new
stops new
end "$server_pid"

# ---- the only port is taken ------------------------------------------------------

start holder "${other[@]}" "$build/t/live/net/attacker" $b_addr 7001 7001 \
	$a_addr 9 9 1
holder_pid=$pid
check "another user holds the port" wait_for 10 up holder
redis server "${words[@]}" || exit 1
server_pid=$pid
clients taken
check "... and they are told why they do not move" \
	wait_for 10 said not-started taken
stops taken
end "$holder_pid"
sleep 1.1			# it is tried once a second at most
clients first			# a connection is accepted, and it is tried again
stops first
sleep 1.5			# a port rests for a second
life free
stops free
end "$server_pid"

finish
