# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# lib - what scripts share that run whole programs; source it after `set -u`
#
# Everything a script starts runs in a directory of its own, $dir.  So what is
# left can be found by its working directory, and ended, also by a janitor that
# outlives a script which was killed.  Nothing else is ever ended.

lib_src=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || exit 1
src=${TUX_SRC:-$lib_src}
build=${TUX_BUILD:-$src}

. "$lib_src/t/owner.sh"

# The words that put a program under Tux.  TUXRUN=env tries a script without.
read -ra tux <<<"${TUXRUN-$build/contrib/tuxrun -i lo --io udp -v}"

# Scripts are about the transport, but for those that say otherwise.
export TUX_PATH=${TUX_PATH-tux}

passed=0 failed=0 skipped=0
a=() at=()		# the words that put a program on the client's host, and
			# on the server's
bind=127.0.0.1		# the server's address
dir=
janitor=

# ---- cases ------------------------------------------------------------------

cases()
{
	echo $((passed + failed + skipped))
}

ok()
{
	((passed += 1))
	echo "ok $(cases) - $1"
}

not_ok()
{
	((failed += 1))
	echo "not ok $(cases) - $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/# /'
}

skip()
{
	((skipped += 1))
	echo "ok $(cases) - $1 # SKIP $2"
}

# A test that fails may be run once more, alone (contrib/check).  final and the
# cases that end in it say that this one may not: wrong bytes, a crash, a lost
# frame, a process that does not end.
final()
{
	not_ok "$@"
	echo "# final: $1"
}

# succeeds FAILURE NAME COMMAND...
succeeds()
{
	local failure=$1 name=$2 said

	shift 2
	if said=$("$@" 2>&1); then ok "$name"; else "$failure" "$name" "$said"; fi
}

# equal FAILURE NAME EXPECTED GOT
equal()
{
	if [ "$3" = "$4" ]; then
		ok "$2"
	else
		"$1" "$2" "expected: ${3:0:300}"$'\n'"got:      ${4:0:300}"
	fi
}

# check NAME COMMAND...: a case that passes if the command does; what it says
# is shown if it does not.
check()
{
	succeeds not_ok "$@"
}

check_final()
{
	succeeds final "$@"
}

# same NAME EXPECTED GOT
same()
{
	equal not_ok "$@"
}

same_final()
{
	equal final "$@"
}

# Is this a thorough run (contrib/check --thorough)?  Then a test may take
# longer, draw its own seeds, and assert what a clock says.
thorough()
{
	[ -n "${TUX_TEST_THOROUGH:-}" ]
}

finish()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ] || exit 1
	[ $passed -gt 0 ] || exit 77
	exit 0
}

# The script cannot run here.
cannot()
{
	echo "$1"
	exit 77
}

need()
{
	local c

	for c; do
		command -v "$c" >/dev/null || cannot "needs $c"
	done
	command -v "${tux[0]}" >/dev/null || cannot "needs ${tux[0]}"
}

# ---- beginning and end ------------------------------------------------------

tidy()
{
	[ -n "$dir" ] || return
	sweep "$dir" 2>/dev/null
	dir=
	kill -- "-$janitor" 2>/dev/null	# with its tail
}

# Makes $dir, and sees to it that nothing is left whatever happens.
setup()
{
	dir=$(mktemp -d "${TMPDIR:-/tmp}/tux-${0##*/}.XXXXXX") || exit 1
	own "$dir"
	setsid bash -c "$(declare -f sweep)"'
		tail --pid="$1" -s 0.2 -f /dev/null
		sweep "$2"' janitor $$ "$dir" </dev/null >/dev/null 2>&1 &
	janitor=$!
	disown
	trap tidy EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

# scene "$@": setup on this host; or, where TUX_TEST_NET says so, on two:
#   pair          joined by a veth, over AF_XDP
#   wire OPTION.. with the forwarder between them, over TUX_TEST_IO
scene()
{
	local net

	read -ra net <<<"${TUX_TEST_NET:-}"
	if [ ${#net[@]} = 0 ]; then
		setup
		return
	fi
	. "$lib_src/t/live/net/hosts.sh"
	. "$lib_src/t/live/net/xdp.sh"
	privilege "$@"
	setup
	if [ "${net[0]}" = pair ]; then
		pair
	else
		hosts
		wire "${net[@]:1}"
	fi
}

# ---- programs that print cases ----------------------------------------------

# What the program NAME said, without what the preload did.
said()
{
	grep '^#' "$dir/$1.out"
	grep -v '^tux: ' "$dir/$1.err" | tail -n 20
}

# cases_of NAME STATUS: the cases in $dir/NAME.out become ours.
cases_of()
{
	local line

	while read -r line; do
		case $line in
		"ok "*" - "*) ok "$1: ${line#* - }" ;;
		"not ok "*" - "*) not_ok "$1: ${line#* - }" "$(said "$1")" ;;
		esac
	done <"$dir/$1.out"
	[ "$2" = 0 ] || grep -q '^not ok' "$dir/$1.out" ||
		final "$1: ended with $2" "$(said "$1")"
}

# play NAME COMMAND...: runs a program that prints cases.
play()
{
	run 120 "${@:2}" >"$dir/$1.out" 2>"$dir/$1.err"
	cases_of "$1" $?
}

# Where processors are busy, connections stay on TCP; policy/cpu_busy.h has the
# rule.  Most tests are not about it, so what else the machine does must not
# count.  Sets $calm: words that put a program where the kernel does not tell how
# long its threads wait.  The rule asks /proc/thread-self, and there is none.  Nor are
# there other processes, but for the program itself.
calmly()
{
	# shellcheck disable=SC2016 # for the other shell
	calm=(unshare "-$([ "$(id -u)" = 0 ] || echo Ur)m" sh -c '
		mkdir -p "$0/proc" && mount --rbind /proc "$0/proc" &&
			mount -t tmpfs none /proc && cd "$0/proc" || exit
		for f in [a-z]* $$; do
			[ "$f" = thread-self ] || ln -s "$0/proc/$f" /proc || exit
		done
		cd "$0" && exec "$@"' "$dir")
	"${calm[@]}" [ ! -e /proc/thread-self ] 2>/dev/null || calm=()
}

# ---- programs ---------------------------------------------------------------

# start NAME COMMAND...: in the background, in $dir; its output goes to
# NAME.out and NAME.err there, anew: who waits for a word in them does not find
# that of the last one of the name.  Sets $pid.
start()
{
	local name=$1

	shift
	cd "$dir" || exit 1
	: >"$name.out"
	: >"$name.err"
	"$@" >"$name.out" 2>"$name.err" </dev/null &
	pid=$!
	cd "$OLDPWD" || exit 1
}

# run SECONDS COMMAND...: waits for it, in $dir, with this input and output, and
# is still open to signals.
run()
{
	local limit=$1

	shift
	cd "$dir" || exit 1
	timeout -k 5 "$limit" "$@" <&0 &
	cd "$OLDPWD" || exit 1
	wait $!
}

alive()
{
	[ -d "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

no_more()
{
	! alive "$1"
}

# where_is PID: what a process that should have ended does: its threads in the
# kernel and, where there is a debugger, outside; its sockets, and the last that
# the preload said of each; and the end of its output.
where_is()
{
	local p=/proc/$1 t out

	grep -e ^Name -e ^State "$p/status"
	for t in "$p"/task/*; do
		echo "thread ${t##*/}: $(cat "$t/wchan" "$t/stack" 2>&1)"
	done
	! command -v gdb >/dev/null || timeout 20 gdb -p "$1" -batch \
		-ex "thread apply all bt 16" 2>&1 | grep -e ^Thread -e ^#
	nsenter "--net=$p/ns/net" ss -tanoi 2>&1
	for out in 1 2; do
		out=$(readlink "$p/fd/$out")
		[ -f "$out" ] || continue
		echo "--- ${out##*/}"
		awk '/^tux: .* > / { last[$2] = $0 }
			END { for (c in last) print last[c] }' "$out"
		tail -n 10 "$out"
	done
}

# reap PID [SECONDS]: waits for it, as `wait` does, but not for ever: a process
# that does not end is shown and killed, and fails as a case; so does one that
# crashed.  Without bash's own word on how it ended.
reap()
{
	local rc

	if ! wait_for "${2:-30}" no_more "$1" 2>/dev/null; then
		final "process $1 ends" "$(where_is "$1" 2>&1)"
		kill -KILL "$1"
	fi
	wait "$1" 2>/dev/null
	rc=$?
	case $rc in
	132 | 134 | 135 | 136 | 139 | 159)
		final "process $1 does not crash" "SIG$(kill -l $rc)" ;;
	esac
	return $rc
}

# end PID: and wait for it
end()
{
	kill "$1" 2>/dev/null
	reap "$1"
}

# wait_for SECONDS COMMAND...: until the command is true.  It counts tries, 50
# for a second, and not the time: while the machine stands still, no try is
# lost.  TUX_TEST_PATIENCE multiplies them.  A program of which the test says "in
# the end" has at least 10 seconds; t/lint/events refuses less.
wait_for()
{
	local tries=$(($1 * 50 * ${TUX_TEST_PATIENCE:-1}))

	shift
	until "$@"; do
		((tries-- > 0)) || return 1
		sleep 0.02
	done
}

# Milliseconds since 1970.
now()
{
	echo $((${EPOCHREALTIME/./} / 1000))
}

# ---- ports ------------------------------------------------------------------

# A port that nobody uses, for TCP and UDP both; sets $port.  Below the range
# from which the kernel gives ports to clients.
free_port()
{
	local hex

	while :; do
		port=$((10000 + (RANDOM << 15 | RANDOM) % 22000))
		hex=$(printf ':%04X ' $port)
		grep -q "$hex" /proc/net/tcp /proc/net/tcp6 /proc/net/udp \
			/proc/net/udp6 2>/dev/null || return 0
	done
}

listening()
{
	"${at[@]}" grep -qs ":$(printf %04X "$1") 0*:0000 0A" /proc/net/tcp \
		/proc/net/tcp6
}

up_or_gone()
{
	listening "$2" || ! alive "$1"
}

# serve NAME COMMAND...: starts a server that takes @PORT@ for its port, on a
# free one, and waits until it listens.  Sets $pid and $port.
serve()
{
	local name=$1 try

	shift
	for try in 1 2 3 4 5; do
		free_port
		start "$name" "${at[@]}" "${@//@PORT@/$port}"
		wait_for 10 up_or_gone "$pid" "$port"
		listening "$port" && alive "$pid" && return
		kill "$pid" 2>/dev/null
	done
	echo "no server, at try $try: $*" >&2
	tail -n 5 "$dir/$name.out" "$dir/$name.err" >&2
	return 1
}

# redis NAME [WORDS...]: redis-server that keeps nothing, under WORDS.
redis()
{
	local name=$1

	shift
	rm -rf "$dir/$name.d"
	mkdir "$dir/$name.d"
	serve "$name" "$@" redis-server --port @PORT@ --bind "$bind" \
		--save '' --appendonly no --dir "$dir/$name.d" \
		--daemonize no --protected-mode no --enable-debug-command yes
}

# ---- what the preload says (-v) ---------------------------------------------

# talked_of LOG: connections; on_tux LOG: those that moved; on_tcp LOG: reasons
# and how often.
talked_of()
{
	sed -n 's/^tux: \(.* > .*\) fd .*/\1/p' "$1" | sort -u | wc -l
}

on_tux()
{
	sed -n 's/^tux: \(.*\) fd [0-9]*: tux\(;.*\)*$/\1/p' "$1" | sort -u | wc -l
}

on_tcp()
{
	sed -n 's/^tux: .* > .*: tcp, \([a-z-]*\):.*/\1/p' "$1" | sort |
		uniq -c | sort -rn
}
