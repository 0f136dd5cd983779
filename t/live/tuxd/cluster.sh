#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# cluster - a Redis Cluster of three masters and three replicas on one host,
# and a writer on another, without privilege

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"

cluster_writer=$build/t/live/tuxd/cluster_writer
need redis-server redis-cli ss "$cluster_writer"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"
d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"
tag=bar			# of a slot that the first node gets
declare -A nodes	# processes
addr=()			# of each node
over=()			# options for the nodes' tuxrun

# ---- the cluster -------------------------------------------------------------

# node I: listens at port 700I, for the other nodes at 1700I
node()
{
	local i=$1

	unprivileged 65534 "$cg_b"
	start "node$i" "${b[@]}" "${words[@]}" "${over[@]}" redis-server \
		--port "700$i" --bind "${addr[i]}" \
		--bind-source-addr "${addr[i]}" --dir "$dir/n$i" \
		--cluster-enabled yes --cluster-node-timeout 5000 \
		--save '' --protected-mode no --repl-diskless-sync-delay 0
	nodes[$i]=$pid
	wait_for 10 listening "700$i"
}

cli()
{
	"${b[@]}" timeout 30 redis-cli -h "${addr[$1]}" -p "700$1" "${@:2}"
}

is()
{
	cli "$1" info replication | grep -q "^$2"
}

# Three replicas have their masters' data, and each node knows of all three: a
# master heeds no failover of a replica that it has not heard of as one.
replicas_follow()
{
	local i n=0

	for i in {1..6}; do
		! is "$i" master_link_status:up || ((n++))
		[ "$(cli "$i" cluster nodes | grep -c slave)" = 3 ] || return
	done
	[ $n = 3 ]
}

# cluster NAME: of six nodes
cluster()
{
	local i

	for i in {1..6}; do
		mkdir -m 777 "$dir/n$i"
		node "$i" || not_ok "$1: node $i starts"
	done
	# shellcheck disable=SC2046 # words
	check "$1: redis-cli --cluster create" "${b[@]}" timeout 60 redis-cli \
		--cluster create $(for i in {1..6}; do
			echo "${addr[i]}:700$i"; done) \
		--cluster-replicas 1 --cluster-yes
	check "$1: three replicas follow" wait_for 30 replicas_follow
}

cluster_ends()
{
	local i

	for i in {1..6}; do
		end "${nodes[$i]}"
		rm -rf "$dir/n$i"
	done
}

# Prints how many links the nodes have to each other, and how many of them are on
# Tux at both ends by the last word of each.
links()
{
	"${b[@]}" ss -Htn state established | awk '
		$4 ~ /:1?700[1-6]$/ && $3 !~ /:1?700[1-6]$/ { print $3, $4 }
		' >"$dir/links"
	awk 'FILENAME == ARGV[1] { link[$1, $2]; next }
		/^tux: .* > .* fd / {
			if (($2, $4) in link)
				last[FILENAME, $2, $4] = $0
		}
		END {
			for (c in last) {
				split(c, k, SUBSEP)
				on[k[2], k[3]] += last[c] ~ / fd [0-9]+: tux(;|$)/
			}
			for (c in link) {
				n++
				both += on[c] == 2
			}
			print n + 0, both + 0
		}' "$dir/links" "$dir"/node[1-6].err
}

# Each of six nodes has a link to each other, each replica another to its master.
links_are()
{
	[ "$(links)" = "33 $1" ]
}

on_tux_all()
{
	check "$1: the links are on Tux at both ends" wait_for 30 links_are 33
	echo "# links, and those on Tux: $(links)"
}

# ---- the writer --------------------------------------------------------------

# writes NAME REPLICAS: begins
writes()
{
	unprivileged 65533 "$cg_a"
	# shellcheck disable=SC2046 # words
	start "$1" "${a[@]}" "${words[@]}" "$cluster_writer" $tag "$2" \
		$(for i in {1..6}; do echo "${addr[i]}:700$i"; done)
	writer_pid=$pid
	check "$1: writes are acknowledged" more "$1"
}

written()
{
	awk '/^so-far/ { n = $2 } END { print n + 0 }' "$dir/$1.out"
}

written_more()
{
	[ "$(written "$1")" -gt "$2" ]
}

# more NAME: and more
more()
{
	wait_for 30 written_more "$1" $(($(written "$1") + 200))
}

none_lost()
{
	kill "$writer_pid"
	reap "$writer_pid" 60
	same_final "$1: no acknowledged write is lost" 0 $?
	tail -n 1 "$dir/$1.out" | sed 's/^/# /'
	check "... it can tell" grep -q '^acknowledged [1-9].* lost 0 ' \
		"$dir/$1.out"
}

# Sets $replica, of node $1.
replica_of()
{
	replica=$(cli "$1" info replication |
		sed -n 's/^slave0:.*,port=700\([1-6]\),.*/\1/p')
	[ -n "$replica" ] || not_ok "node $1 has a replica"
}

# ---- an address for each node ----------------------------------------------

for i in {1..6}; do
	addr[i]=10.77.0.1$i
	ip -n "$ns_b" addr add "${addr[i]}/24" dev veth0
done
cluster six
on_tux_all six

writes manual 0
replica_of 1
same "CLUSTER FAILOVER" OK "$(cli "$replica" cluster failover)"
check "... the replica is master" wait_for 30 is "$replica" role:master
check "... writes go on" more manual
check "... the writer is on Tux with both" wait_for 10 moved manual 2
none_lost manual
check "... the master is replica" wait_for 30 is 1 master_link_status:up
check "... as all know" wait_for 30 replicas_follow

writes killed 1
kill -KILL "${nodes[$replica]}"
reap "${nodes[$replica]}"
check "kill: its replica is master" wait_for 60 is 1 role:master
node "$replica"
check "... the killed one comes back as replica" \
	wait_for 30 is "$replica" master_link_status:up
check "... writes go on" more killed
none_lost killed
on_tux_all "... and after all that"
cluster_ends

# ---- as users have it ----------------------------------------------------------

export TUX_PATH=auto
cluster auto
writes auto 1
replica_of 1
wait_for 10 moved auto 1
same "auto: CLUSTER FAILOVER" OK "$(cli "$replica" cluster failover)"
check "... the replica is master" wait_for 30 is "$replica" role:master
check "... writes go on" more auto
none_lost auto
check "auto: the writer moves, or processors are busy" \
	[ "$(settled "$dir/auto.err")" -ge 1 ]
echo "# links, and those on Tux: $(links)"
cluster_ends
TUX_PATH=tux

# ---- one address: loopback, which is taken on request ----------------------------

addr=('' $b_addr $b_addr $b_addr $b_addr $b_addr $b_addr)
cluster one
check "one address: the links are on TCP" wait_for 30 links_are 0
check "... for loopback" wait_for 10 said loopback node1
cluster_ends
over=(-i lo)
cluster lo
on_tux_all "one address, -i lo"
cluster_ends
d unload >/dev/null
finish
