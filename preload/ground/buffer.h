/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buffer - memory for the length of a call
 *
 * A program may call from a stack of a few pages, so the hooks keep long arrays
 * elsewhere.  A signal handler may take a buffer as well.
 */
#ifndef TUX_PRELOAD_BUFFER_H
#define TUX_PRELOAD_BUFFER_H

#include <stddef.h>

enum { BUFFER_LEN = 16384 };	/* up to here, most calls find one in a pool */

/* At least @len bytes, of any content, or NULL: no memory. */
void *buffer_take(size_t len);

/* The same @len. */
void buffer_give(void *p, size_t len);

#endif
