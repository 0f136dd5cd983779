#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ipsec - ipsec.sh over AF_XDP

TUX_TEST_IO=xdp exec "$(dirname "${BASH_SOURCE[0]}")/../udp/ipsec.sh" "$@"
