#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# messages - messages of 1 byte to 8 MiB, ordered and not, both ways between two
# hosts whose network loses 1 %; in the middle the path goes away and comes back

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"

message_peer=$build/t/live/stack/message_peer
tux=(env)
need "$message_peer" "$forwarder" ip nsenter
privilege "$@"
setup
hosts

# meet THREADS SECONDS SEED: a server and a caller, which begin; with 0 seconds,
# they go on until they are told
meet()
{
	rm -f "$dir/server.out"		# the last one's port
	start server "${b[@]}" "$message_peer" serve "$io" $b_addr "$1"
	server=$pid
	wait_for 10 grep -qs '^port ' "$dir/server.out" || return 1
	port=$(sed -n 's/^port //p' "$dir/server.out")
	start caller "${a[@]}" "$message_peer" call "$io" $b_addr "$port" "$@"
	caller=$pid
}

# Waits for both; sets $rc to 0 if both ended well.
part()
{
	reap "$caller" 200
	rc=$?
	[ $rc = 0 ] || kill -KILL "$server" 2>/dev/null
	reap "$server" || rc=1
	tail -q -n 2 "$dir"/{caller,server}.out | sed 's/^/# /'
}

# last NAME: what it says of its path now
last()
{
	tail -n 1 "$dir/$1.out"
}

both_on()
{
	[[ $(last caller) = "$1 "* && $(last server) = "$1 "* ]] ||
		! alive "$caller"
}

# got NAME: how many messages have come to it
got()
{
	sed -n 's/.* got //p' "$dir/$1.out" | tail -n 1
}

# more_than NAME PATH N: have more come to it, and does it use that path?
more_than()
{
	last "$1"
	[[ $(last "$1") = "$2 "* ]] && [ "$(got "$1")" -gt "$3" ]
}

# go_on NAME PATH: do messages come, and that way?
go_on()
{
	wait_for 20 more_than "$1" "$2" "$(got "$1")" | tail -n 1
	return "${PIPESTATUS[0]}"
}

cannot_here()
{
	! grep -qs '^cannot: ' "$dir/caller.out" ||
		cannot "needs AF_XDP: $(sed -n 's/^cannot: //p' \
			"$dir/caller.out")"
}

wire --seed 1 --loss 0.01 --udp-only
meet 0 2 1
part
cannot_here
same_final "1 % is lost: all arrive, once and right" 0 $rc
meet 1 1 2
part
same_final "and with threads" 0 $rc

meet 0 0 3
check "on Tux" wait_for 20 both_on tux
check "messages come" go_on server tux
kill -USR1 "$wire_pid"
check "a blackhole: on TCP" wait_for 20 both_on tcp
check "messages come in frames" go_on server tcp
check "both ways" go_on caller tcp
kill -USR1 "$wire_pid"
check "it ends: back on Tux" wait_for 30 both_on tux
check "messages come again" go_on server tux
kill "$caller" "$server"
part
same_final "all have arrived, once and right" 0 $rc
cut
finish
