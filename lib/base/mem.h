/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem - the allocator that the caller gives to the core
 *
 * The core allocates only when it creates a connection or creates or grows a
 * table, never for a packet.  It allocates only through this pair of functions,
 * so a test can make any allocation fail.
 */
#ifndef TUX_BASE_MEM_H
#define TUX_BASE_MEM_H

#include <stddef.h>

struct tux_mem {
	void *(*alloc)(void *arg, size_t len);	/* zeroed memory, or NULL */
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
