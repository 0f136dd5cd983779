/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proc - the stored procedures, as a table
 */
#ifndef TUXKV_PROC_H
#define TUXKV_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "proto.h"
#include "store.h"

struct proc {
	const char *name;
	uint32_t args_len;	/* bytes of the arguments */
	bool writes;
	bool is_long;		/* takes much longer than the others */
	unsigned steps;		/* transactions, one after the other, in which
				 * the procedure runs */

	/* Runs step @step in the transaction @t.  Adds to the result at @out,
	 * which the first step finds empty, and sets *@len to all of its
	 * length.  Returns enum kv_status; if that is not KV_OK, the step has
	 * changed nothing, and the procedure ends.  Or returns -errno of the
	 * engine: then the transaction does not take place. */
	int (*run)(struct txn *t, unsigned step, const void *args, void *out,
		   uint32_t *len);
};

/* The procedure that the @len bytes at @request ask for; NULL if they are no
 * request. */
const struct proc *proc_of(const void *request, uint32_t len);

#endif
