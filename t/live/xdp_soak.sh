#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# xdp_soak - 10 seconds of soak

exec "$(dirname "${BASH_SOURCE[0]}")/soak" --seconds 10 "$@"
