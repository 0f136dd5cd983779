/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ycsb - records of 1 KB, as workloads C and F of the Yahoo! Cloud Serving
 * Benchmark ask for them (Cooper et al., SoCC 2010)
 */
#ifndef TUXKV_YCSB_H
#define TUXKV_YCSB_H

#include "proc.h"

extern const struct proc ycsb_get, ycsb_rmw;

/* Makes the records 0 to @n - 1, unless they are there.  -errno. */
int ycsb_load(struct store *s, uint64_t n);

#endif
