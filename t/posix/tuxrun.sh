#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tuxrun.sh - its options, what it hands on, and how it fails

set -u
# shellcheck source=t/posix/lib.sh
. "$(dirname "$0")/lib.sh"
run=$build/contrib/tuxrun
[ -x "$run" ] || cannot "needs $run"
unset TUX_IFACE TUX_MODE TUX_IO TUX_VERBOSE LD_PRELOAD

# fails NAME STATUS ARG...: that exit status, and why on standard error, in a
# line.
fails()
{
	local name=$1 status=$2 said rc

	shift 2
	said=$("$run" "$@" 2>&1 >/dev/null)
	rc=$?
	same "$name" "$status, 1 line" "$rc, $(wc -l <<<"$said") line"
}

# says VARIABLE: what the program under tuxrun finds in it.
says()
{
	"$run" "${@:2}" sh -c 'printf %s "${'"$1"'-unset}"' 2>/dev/null
}

fails "unknown backend"   125 --io carrier-pigeon true
fails "no interface"      125 --io udp -i nowhere0 true
fails "no threads"        125 --io udp -m threads=0 true
fails "one thread too many" 125 --io udp -m threads=17 true
fails "half a number"     125 --io udp -m threads=3x true
fails "unknown mode"      125 --io udp -m outline true
fails "attached whenever" 125 --io udp --attach=whenever true
fails "half a copy"       125 --zero-copy=half true
fails "no such control"   125 --congestion=reno true
fails "not executable"    126 --io udp /etc/passwd
fails "not there"         127 --io udp /nowhere/program
fails "says why it is TCP"  0 -i lo true

TUX_MODE=threads=17 \
	fails "too many by environment" 125 --io udp true
same "the most threads" "" "$("$run" --io udp -m threads=16 true 2>&1)"

# Where tuxrun was not asked, the object says it.
same "the object says so" \
	"tux: TUX_MODE 'threads=17' is neither 'inline' nor 'threads=N' with \
N from 1 to 16: inline" \
	"$(object=$(says LD_PRELOAD --io udp)
	TUX_MODE=threads=17 TUX_VERBOSE=1 LD_PRELOAD=$object sh -c : 2>&1)"

same "no program"    125 "$("$run" 2>/dev/null; echo $?)"
same "exit status"   7 "$("$run" --io udp sh -c 'exit 7'; echo $?)"
same "arguments"     "-v --io" "$("$run" --io udp echo -v --io)"
same "backend"       udp "$(says TUX_IO --io udp)"
same "backend by environment" udp "$(TUX_IO=udp says TUX_IO)"
same "none chosen"   auto "$(says TUX_IO)"
same "attach"        start "$(says TUX_ATTACH --io udp --attach=start)"
same "congestion"    newreno "$(says TUX_CONGESTION --io udp --congestion=newreno)"
same "zero copy"     auto "$(says TUX_ZERO_COPY --io udp --zero-copy=auto)"
same "interface"     lo "$(says TUX_IFACE --io udp -i lo)"
same "mode"          threads=2 "$(says TUX_MODE --io udp -m threads=2)"
same "verbose"       1 "$(says TUX_VERBOSE --io udp -v)"
same "quiet"         unset "$(says TUX_VERBOSE --io udp)"

object=$(says LD_PRELOAD --io udp)
same "the object"    libtux-preload.so "${object##*/}"
same "first in line" "$object:/x.so" \
	"$(LD_PRELOAD=/x.so says LD_PRELOAD --io udp)"
same "only once"     "$object" \
	"$(says LD_PRELOAD --io udp "$run" --io udp)"
finish
