/* SPDX-License-Identifier: BSD-2-Clause */
#include "ground/buffer.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { POOL = 64 };		/* more than are in such calls at once, mostly */

static void *_Atomic pool[POOL];

static size_t mapped_len(size_t len)
{
	return len > BUFFER_LEN ? len : BUFFER_LEN;
}

void *buffer_take(size_t len)
{
	void *p = NULL;

	for (int i = 0; len <= BUFFER_LEN && i < POOL && !p; i++)
		if (atomic_load_explicit(&pool[i], memory_order_relaxed))
			p = atomic_exchange(&pool[i], NULL);
	if (p)
		return p;
	p = mmap(NULL, mapped_len(len), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void buffer_give(void *p, size_t len)
{
	for (int i = 0; len <= BUFFER_LEN && i < POOL; i++) {
		void *none = NULL;

		if (!atomic_load_explicit(&pool[i], memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&pool[i], &none, p))
			return;
	}
	munmap(p, mapped_len(len));
}
