#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# through - what a connection that is on TCP costs in system calls: none

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

program=$build/t/posix/through tuxrun=$build/contrib/tuxrun
need "$program"
setup
calmly
play "without tuxrun" "$program"
play "loopback, which is not ours" env TUX_PATH=auto "$tuxrun" "$program"
play "--path=tcp" env TUX_PATH=tcp "$tuxrun" -i lo "$program"
play "waits until it is worth Tux" env TUX_PATH=auto TUX_IO=udp \
	"$tuxrun" -i lo "$program" young
play "claimed in vain" env TUX_PATH=auto TUX_IO=udp \
	"$tuxrun" -i lo "$program" rested
# On a busy processor, a connection would not move in the first place.
play "on TCP again" "${calm[@]}" env TUX_PATH=auto TUX_IO=udp \
	"$tuxrun" -i lo "$program" returned
finish
