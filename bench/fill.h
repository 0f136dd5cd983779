/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fill - a value under each key, so that whoever asks finds one
 */
#ifndef BENCH_FILL_H
#define BENCH_FILL_H

#include "run.h"

/* Over a connection of its own; nothing if the protocol wants none.  -errno. */
int fill(const struct run_opts *o);

#endif
