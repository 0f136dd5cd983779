#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# through - what a connection that is on TCP costs in system calls: none

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

program=$build/t/posix/through tuxrun=$build/contrib/tuxrun
need "$program"
setup

# through NAME WORDS...: its cases become ours.
through()
{
	local line name=$1

	run 60 "${@:2}" >"$dir/out" 2>"$dir/err" ||
		grep -q '^not ok' "$dir/out" ||
		final "$name: ends with $?" "$(tail -n 5 "$dir/err")"
	while read -r line; do
		case $line in
		"ok "*" - "*) ok "$name: ${line#* - }" ;;
		"not ok "*" - "*)
			not_ok "$name: ${line#* - }" "$(grep '^#' "$dir/out")" ;;
		esac
	done <"$dir/out"
}

through "without tuxrun" "$program"
through "loopback, which is not ours" env TUX_PATH=auto "$tuxrun" "$program"
through "--path=tcp" env TUX_PATH=tcp "$tuxrun" -i lo "$program"
through "waits until it is worth Tux" env TUX_PATH=auto TUX_IO=udp \
	"$tuxrun" -i lo "$program" young
through "claimed in vain" env TUX_PATH=auto TUX_IO=udp \
	"$tuxrun" -i lo "$program" rested
finish
