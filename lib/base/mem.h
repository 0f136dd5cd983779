/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem - where memory comes from
 *
 * The core allocates only when a connection or a table is made or grown, and
 * only through this pair, so that a test can make any allocation fail.
 */
#ifndef TUX_BASE_MEM_H
#define TUX_BASE_MEM_H

#include <stddef.h>

struct tux_mem {
	void *(*alloc)(void *arg, size_t len);	/* zeroed; NULL when there is none */
	void (*free)(void *arg, void *p);	/* @p may be NULL */
	void *arg;
};

static inline void *tux_mem_alloc(const struct tux_mem *m, size_t len)
{
	return m->alloc(m->arg, len);
}

static inline void tux_mem_free(const struct tux_mem *m, void *p)
{
	m->free(m->arg, p);
}

#endif
