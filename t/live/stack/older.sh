#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# older - an end that may leave Tux by a PLAIN frame, and one of a build that
# does not know the frame: every byte is right, and what went back to TCP in
# frames comes back to Tux
#
# The older end is built from the commit below, in a directory of its own, or is
# the tree that TUX_OLDER names, which is built already.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

commit=ded72e7		# the last one before PLAIN was made known in HELLO
load=$build/t/posix/load
streams=$build/t/live/stack/streams
older=${TUX_OLDER:-}
n=4			# connections that stay
need redis-server redis-cli "$load" "$streams"
privilege "$@"
setup

# ---- the older build --------------------------------------------------------

old_tree()
{
	git -C "$src" rev-parse -q --verify "$commit^{commit}" >/dev/null 2>&1 ||
		cannot "needs commit $commit of the repository, or a built \
tree of it in TUX_OLDER"
	mkdir "$dir/older" && git -C "$src" archive "$commit" |
		tar -x -C "$dir/older"
}

build_older()
{
	(cd "$1" && autoreconf -fi && ./configure -q && make -s -j"$(nproc)") \
		>"$dir/build.out" 2>&1
}

if [ -z "$older" ]; then
	need git autoreconf make
	old_tree
	older=$dir/older
	build_older "$older" ||
		cannot "commit $commit does not build here: \
$(tail -n 1 "$dir/build.out")"
fi
[ -x "$older/contrib/tuxrun" ] || cannot "no tuxrun in $older/contrib"

# ---- one interruption -------------------------------------------------------

# words BUILD: what puts a program under that build
words()
{
	echo "$1/contrib/tuxrun -i veth0 --io udp -v"
}

# Every byte of the streams was right, and there were some: streams_right NAME
# STATUS
streams_right()
{
	grep -v '^tux: ' "$dir/$1.err"
	tail -n 1 "$dir/$1.out"
	[ "$2" = 0 ] && tail -n 1 "$dir/$1.out" | grep -q '^messages [1-9]'
}

# begin_streams NAME CLIENT: connections that come and go, beside the others
begin_streams()
{
	serve "$1-bytes" "${tux[@]}" "$streams" serve @PORT@ $b_addr || exit 1
	serve_pid=$pid
	start "$1-calls" "${a[@]}" "$2/contrib/tuxrun" -i veth0 --io udp -v \
		"$streams" call $b_addr "$port" 8
	call_pid=$pid
}

end_streams()
{
	kill "$call_pid"
	reap "$call_pid" 90
	check_final "$1: every byte of the streams is right" \
		streams_right "$1-calls" $?
	check "$1: streams moved, too" moved "$1-calls" 1
	end "$serve_pid"
}

# between NAME CLIENT SERVER: the builds of the two ends, over UDP sockets.  With
# AF_XDP the older one stays on TCP (tuxd.sh): its option is shorter.
between()
{
	local name=$1 client=$2 server=$3 redis_pid

	read -ra tux <<<"$(words "$server")"
	begin_streams "$name" "$client"
	redis "$name-redis" "${tux[@]}" || exit 1
	redis_pid=$pid
	read -ra tux <<<"$(words "$client")"
	client "$name" --conns $n --size 3000 --every 20
	client_pid=$pid
	check "$name: on Tux" wait_for 20 all_back "$name"
	# Only datagrams are lost: TCP carries the frames meanwhile.
	kill -USR1 "$wire_pid"
	check "$name: goes back to TCP" wait_for 20 said path-stalled "$name"
	kill -USR1 "$wire_pid"
	check "$name: on Tux again" wait_for 60 all_back "$name"
	check "$name: goes on" goes_on "$name"
	stops "$name"
	end_streams "$name"
	end "$redis_pid"
}

# ---- datagrams are lost -----------------------------------------------------

hosts
wire
between old-server "$build" "$older"
between old-client "$older" "$build"
finish
