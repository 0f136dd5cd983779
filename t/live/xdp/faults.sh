#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# faults - faults.sh over AF_XDP, which tc and nftables would never see

set -u
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../../posix/lib.sh"
. "$here/../net/hosts.sh"
. "$here/../net/xdp.sh"
need redis-server redis-cli
privilege "$@"
setup
pair			# or it cannot run here
tidy
TUX_TEST_IO=xdp exec "$here/../udp/faults.sh" "$@"
