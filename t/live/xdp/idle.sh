#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# idle - a server with 1,000 connections over AF_XDP that have nothing to
# say uses less than 1 % of a core

here=$(dirname "${BASH_SOURCE[0]}")
TUX_TEST_NET=pair TUX_TEST_CONNS=1000 exec "$here/../../posix/idle.sh" "$@"
