#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ecn - packets leave with ECT(0), a router's CE comes back to their sender, and
# that sends less

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"

stream_peer=$build/t/live/stack/stream_peer
tux=(env)
need "$stream_peer" "$forwarder" ip nsenter
privilege "$@"
setup
hosts

# carried ADDRESS: some megabytes each way; prints what both ends say
carried()
{
	local server client

	start server "${b[@]}" env TUX_TEST_IO="$io" "$stream_peer" serve "$1" 1 0
	server=$pid
	wait_for 10 grep -qs '^port ' "$dir/server.out" || return 1
	port=$(sed -n 's/^port //p' "$dir/server.out")
	start client "${a[@]}" env TUX_TEST_IO="$io" "$stream_peer" move "$1" \
		"$port" 1 0
	wait "$pid"
	client=$?
	[ $client = 0 ] || kill "$server"
	wait "$server"
	server=$?
	cat "$dir"/server.{out,err} "$dir"/client.{out,err}
	[ $client != 77 ] || return 77
	[ $client = 0 ] && [ $server = 0 ]
}

# numbers FILE WORD: what stands behind it there
numbers()
{
	tr ' ' '\n' <"$dir/$1" | awk -v w="$2" 'hit { print } { hit = $1 == w }'
}

for address in $b_addr $b_addr6; do
	wire --mark 40
	said=$(carried $address)
	rc=$?
	cut
	[ $rc != 77 ] || cannot "needs AF_XDP: ${said##*cannot: }"
	carried_well "$address: bytes are right" $rc "$said"
	for n in $(numbers wire.out ect); do
		check "ECT(0) on the wire: $n packets" [ "$n" -gt 1000 ]
	done
	for end in client server; do
		check "the $end's window was reduced" \
			[ "$(numbers $end.out eased)" -gt 0 ]
		same "the $end believes the path" 0 \
			"$(numbers $end.out given-up)"
	done
done
finish
