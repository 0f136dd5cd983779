#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# demo - contrib/demo says ok when all is well, failed when UDP is blocked, and
# leaves nothing behind, however it ends

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need redis-server redis-cli redis-benchmark "$build/contrib/tcpmeter"
setup
export TMPDIR=$dir		# the demo's own directory goes in here
export TUX_SRC=$src TUX_BUILD=$build	# built already
demo=$src/contrib/demo
line='^demo: (ok|failed) ratio=[0-9.]+ tux_share=[0-9.]+ fallback=(ok|failed)$'

# demo NAME SECONDS WORDS... : runs it; sets $rc, $last
play()
{
	local name=$1

	shift 2
	run 120 "$@" >"$dir/$name.out" 2>&1
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

both_gone()
{
	nothing_left && none_runs
}

one_line()
{
	[ "$(grep -cE "$line" "$dir/$1.out")" = 1 ] && [[ $last =~ $line ]]
}

playing()
{
	grep -qs 'redis-benchmark, ' "$dir/$1.out"
}

# stopped SIGNAL: in the middle
stopped()
{
	start "$1" setsid "$demo" -n 5000000
	wait_for 60 playing "$1" || not_ok "it plays" "$(cat "$dir/$1.out")"
	sleep 1
	kill -"$1" "$pid"
	wait "$pid" 2>/dev/null
	last=$(tail -n 1 "$dir/$1.out")
	check "SIG$1: nothing is left" wait_for 5 both_gone
}

play good 120 "$demo"
check "it ends with one line: $last" one_line good
if [ "${tux[0]}" = env ]; then
	skip "it is ok" "runs without tuxrun"
else
	same "it is ok" "0 demo: ok" "$rc ${last%% ratio*}"
	same "the plain client is served" ok "${last##*fallback=}"
	[ "$rc" = 0 ] || sed 's/^/# /' "$dir/good.out"
fi
check "nothing is left" both_gone

stopped TERM
check "SIGTERM: it says failed" one_line TERM
stopped KILL

# In a network of its own, whose loopback loses all UDP.
blocked='ip link set lo up &&
	ip rule add pref 1 ipproto udp blackhole &&
	ip rule add pref 2 lookup local &&
	ip rule del pref 0 && exec "$@"'
if unshare -rn sh -c "$blocked" sh true 2>/dev/null; then
	play blocked 120 unshare -rn sh -c "$blocked" sh "$demo" -n 20000
	check "UDP is blocked: it ends with one line: $last" one_line blocked
	same "and says so" "1 demo: failed" "$rc ${last%% ratio*}"
	check "and why" grep -q '!! Tux did not carry' "$dir/blocked.out"
	same "the plain client is served" ok "${last##*fallback=}"
	check "nothing is left" both_gone
else
	skip "UDP is blocked" "needs a network namespace of its own"
fi
finish
