/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/area.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

enum { PAGE = 4096 };	/* at least: a finer grain is only less effective */

int tux_area_map(void **p, size_t len, enum tux_area_kind kind)
{
	int how = kind == TUX_AREA_SHARED ? MAP_SHARED : MAP_PRIVATE;
	int saved = errno, err;

	*p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		  how | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (*p == MAP_FAILED) {
		err = -errno;
		*p = NULL;
		errno = saved;
		return err;
	}
	/* A huge page would be there as a whole with its first byte. */
	if (kind != TUX_AREA_SHARED)
		madvise(*p, len, MADV_NOHUGEPAGE);
	if (kind == TUX_AREA_OWN)
		madvise(*p, len, MADV_DONTFORK);
	errno = saved;
	return 0;
}

void tux_area_unmap(void *p, size_t len)
{
	int saved = errno;

	if (p)
		munmap(p, len);
	errno = saved;
}

void tux_area_drop(void *p, size_t len)
{
	uintptr_t start = ((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = ((uintptr_t)p + len) & ~(uintptr_t)(PAGE - 1);
	int saved = errno;

	if (start < end)
		madvise((void *)start, end - start, MADV_DONTNEED);
	errno = saved;
}
