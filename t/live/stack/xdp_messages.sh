#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# xdp_messages - messages.sh over AF_XDP

TUX_TEST_IO=xdp exec "$(dirname "${BASH_SOURCE[0]}")/messages.sh" "$@"
