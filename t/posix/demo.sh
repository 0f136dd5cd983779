#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# demo - contrib/demo finds all bytes right, over AF_XDP and over UDP, says
# failed when UDP is blocked, and leaves nothing behind, however it ends

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need redis-server redis-cli redis-benchmark "$build/contrib/tcpmeter"
setup
export TMPDIR=$dir		# the demo's own directory goes in here
export TUX_SRC=$src TUX_BUILD=$build	# built already
demo=$src/contrib/demo
line='^demo: (ok|failed) ratio=[0-9.]+ tux_share=[0-9.]+ fallback=(ok|failed)$'

# play NAME WORDS...: runs it; sets $rc, $last
play()
{
	local name=$1

	shift
	run 300 "$@" >"$dir/$name.out" 2>&1
	rc=$?
	last=$(tail -n 1 "$dir/$name.out")
}

left()
{
	local d

	for d in "$dir"/tux-demo.*; do
		[ ! -e "$d" ] || return 0
	done
	return 1
}

nothing_left()
{
	! left
}

# Of ours, so not under $dir: what runs in the directory of a demo.
processes()
{
	local p

	for p in /proc/[0-9]*; do
		case $(readlink "$p/cwd" 2>/dev/null) in
		"$dir"/tux-demo.*) echo "${p#/proc/}" ;;
		esac
	done
}

none_runs()
{
	[ -z "$(processes)" ]
}

# Hosts of the demo that was $pid.
no_hosts()
{
	! ip netns list 2>/dev/null | grep "^tux-$pid-"
}

all_gone()
{
	nothing_left && none_runs && no_hosts
}

one_line()
{
	[ "$(grep -cE "$line" "$dir/$1.out")" = 1 ] && [[ $last =~ $line ]]
}

# reached NAME WORDS: has it come so far?
reached()
{
	grep -qs "$2" "$dir/$1.out"
}

# stopped SIGNAL WHERE IO: while it does that.  What bash starts in the background
# ignores SIGINT, unless it is told otherwise.
stopped()
{
	local name="SIG$1, $3, at $2"

	start "$name" env --default-signal=INT setsid "$demo" --io "$3" \
		-n 5000000
	wait_for 60 reached "$name" "$2" ||
		not_ok "it plays" "$(cat "$dir/$name.out")"
	sleep 0.5		# it is in the middle, but on a late machine
	kill -"$1" "$pid"
	reap "$pid"
	last=$(tail -n 1 "$dir/$name.out")
	check_final "$name: nothing is left" wait_for 10 all_gone
	[ "$1" = KILL ] || check "$name: it says failed" one_line "$name"
}

# wrongs NAME: what it found wrong, but for the share, which depends on how soon
# connections move
wrongs()
{
	grep '^!!' "$dir/$1.out" | grep -v 'did not carry the data: share'
}

# on_tux_n NAME: how many of its connections, as its table says
on_tux_n()
{
	sed -n 's/^ *connections on Tux *\([0-9]*\) of .*/\1/p' "$dir/$1.out"
}

# good IO REQUESTS: one round
good()
{
	local name="--io $1"

	play "$name" "$demo" --io "$1" -n "$2" -r 1
	check "$name ends with one line: $last" one_line "$name"
	same_final "$name finds nothing wrong" "" "$(wrongs "$name")"
	check "$name: connections are on Tux" [ "$(on_tux_n "$name")" -gt 0 ]
	! thorough ||
		same "$name is ok" "0 demo: ok" "$rc ${last%% ratio*}"
	same_final "$name serves the plain client" ok "${last##*fallback=}"
	[ "$rc" = 0 ] || sed 's/^/# /' "$dir/$name.out"
	check_final "$name: nothing is left" wait_for 10 all_gone
}

pid=
good udp 50000
! thorough || stopped TERM "redis-benchmark, " udp
stopped KILL "redis-benchmark, " udp

play try "$demo" --io xdp -n 50 -r 1
if grep -q '^== --io xdp: ' "$dir/try.out"; then
	skip "the demo over AF_XDP" "needs AF_XDP: $(grep -- '--io xdp: ' \
		"$dir/try.out")"
else
	good xdp "$(thorough && echo 300000 || echo 50000)"
	stopped INT "redis-server twice" xdp
	! thorough || stopped TERM "redis-benchmark, " xdp
	stopped KILL "redis-benchmark, " xdp
fi

# In a network of its own, whose loopback loses all UDP, and without AF_XDP.
blocked='ip link set lo up &&
	ip rule add pref 1 ipproto udp blackhole &&
	ip rule add pref 2 lookup local &&
	ip rule del pref 0 && exec "$@"'
if unshare -rn sh -c "$blocked" sh true 2>/dev/null; then
	play blocked unshare -rn sh -c "$blocked" sh "$demo" -n 20000 -r 1
	check "without privilege it says so" grep -q \
		'== no AF_XDP (.*): this is --io udp' "$dir/blocked.out"
	check "UDP is blocked: it ends with one line: $last" one_line blocked
	same "and says so" "1 demo: failed" "$rc ${last%% ratio*}"
	check "and why" grep -q '!! Tux did not carry' "$dir/blocked.out"
	same_final "the plain client is served" ok "${last##*fallback=}"
	check_final "nothing is left" wait_for 10 all_gone
else
	skip "UDP is blocked" "needs a network namespace of its own"
fi
finish
