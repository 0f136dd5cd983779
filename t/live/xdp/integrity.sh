#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# integrity - values of 1 B to 1 MB over AF_XDP, every byte compared;
# through a wire with faults they go in faults.sh

here=$(dirname "${BASH_SOURCE[0]}")
TUX_TEST_NET=pair exec "$here/../../posix/integrity.sh" --n 1000 "$@"
