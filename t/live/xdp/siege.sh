#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# siege - 6 seconds of siege

exec "$(dirname "${BASH_SOURCE[0]}")/siege" --seconds 6 "$@"
