#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# returned - connections that were on Tux, and are on TCP again

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

program=$build/t/posix/returned
need "$program"
setup
calmly
export TUX_PATH=auto
play "kernel" "$program"
play "inline" "${calm[@]}" "${tux[@]}" -m inline "$program"
play "thread" "${calm[@]}" "${tux[@]}" -m threads=1 "$program"
finish
