/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tpcc_procs - TPC-C's transactions, and its tables as a whole
 */
#ifndef TUXKV_TPCC_PROCS_H
#define TUXKV_TPCC_PROCS_H

#include "proc.h"

/* Short ones: tpcc_short.c. */
extern const struct proc tpcc_new_order_proc, tpcc_payment_proc,
			 tpcc_order_status_proc;
/* Long ones: tpcc_long.c. */
extern const struct proc tpcc_delivery_proc, tpcc_stock_level_proc;

/* Makes @n warehouses (clause 4.3.3), unless they are there.  -errno. */
int tpcc_load(struct store *s, unsigned n);

/* Looks at all warehouses: do the consistency conditions 1 to 4 of clause 3.3.2 hold?
 * Prints each that does not.  How many do not, or -errno: -ENOENT if there are no
 * warehouses. */
int tpcc_check(struct store *s);

#endif
