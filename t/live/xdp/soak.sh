#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# soak - 10 seconds of soak, of the same seed, but in a thorough run

seed=()
[ -n "${TUX_TEST_THOROUGH:-}" ] || seed=(--seed 1)
exec "$(dirname "${BASH_SOURCE[0]}")/soak" --seconds 10 "${seed[@]}" "$@"
