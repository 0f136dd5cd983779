#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# mtu_path - amidst a transfer, the path stops carrying long packets, and nobody
# says so: it stays on Tux, in shorter ones

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"

stream_peer=$build/t/live/stack/stream_peer
tux=(env)
need "$stream_peer" "$forwarder" ip nsenter
privilege "$@"
setup
hosts

client_is()
{
	grep -qs "^$1" "$dir/client.out" || ! alive "$client_pid"
}

# least WORD: the smaller of the numbers behind it, of the wire's two directions
least()
{
	tr ' ' '\n' <"$dir/wire.out" |
		awk -v w="$1" 'hit { print } { hit = $1 == w }' | sort -n |
		head -n 1
}

# narrows ADDRESS: megabytes each way, and as many at least when the wire is
# narrow.  Sets $client, $server and $said.
narrows()
{
	wire --rate 8000000 --longest 1000
	rm -f "$dir/server.out" "$dir/narrow"	# the last one's
	start server "${b[@]}" env TUX_TEST_IO="$io" "$stream_peer" serve "$1" 1 0
	server_pid=$pid
	wait_for 10 grep -qs '^port ' "$dir/server.out" || cannot "no server"
	port=$(sed -n 's/^port //p' "$dir/server.out")
	start client "${a[@]}" env TUX_TEST_IO="$io" \
		TUX_TEST_UNTIL="$dir/narrow" "$stream_peer" move "$1" "$port" 1 0
	client_pid=$pid
	wait_for 30 client_is moved
	kill -USR2 "$wire_pid"
	: >"$dir/narrow"
	reap "$client_pid" 200
	client=$?
	[ $client = 0 ] || kill "$server_pid"
	reap "$server_pid"
	server=$?
	cut
	said=$(cat "$dir"/server.{out,err} "$dir"/client.{out,err})
}

for address in $b_addr $b_addr6; do
	narrows $address
	[ $client != 77 ] || cannot "needs AF_XDP: ${said##*cannot: }"
	carried_well "$address: bytes are right, and both ends on Tux" \
		$((client || server)) "$said"
	check "long packets vanished each way" [ "$(least too-long)" -gt 0 ]
	check "shorter ones carried on each way" \
		[ "$(least fitting)" -gt 2000 ]
	counted fragments
	same "none was a fragment" 0 "$count"
	# FIN goes there whatever the path: 16 bytes each way, perhaps sent
	# again.
	counted tcp-bytes
	check "TCP carried none of it: $count bytes" [ "$count" -lt 1000 ]
done
finish
