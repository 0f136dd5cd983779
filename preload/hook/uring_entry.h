/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uring_entry - an entry of a submission ring, before the kernel takes it
 */
#ifndef TUX_PRELOAD_URING_ENTRY_H
#define TUX_PRELOAD_URING_ENTRY_H

#include <linux/io_uring.h>
#include <stdbool.h>

/* The kernel is about to take @e: does what the hook of a call would do, and
 * changes @e if there is nothing left to do, or if it must fail.  @ordered: it
 * waits for the entry before it. */
void uring_entry(struct io_uring_sqe *e, bool ordered);

#endif
