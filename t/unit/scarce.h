/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scarce - areas of the kernel's memory that run out on demand, and are counted
 *
 * For a program that is linked with -Wl,--wrap=mmap,--wrap=munmap; of its own
 * objects and the library's, that is.  The memory that is resident is counted, too.
 */
#ifndef TUX_UNIT_SCARCE_H
#define TUX_UNIT_SCARCE_H

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

#include "test.h"

static _Atomic int scarce_asked;	/* areas asked for */
static _Atomic int scarce_fail_at;	/* this one there is none; 0: all */
static _Atomic long scarce_live;	/* bytes that are mapped */

void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off);
int __real_munmap(void *p, size_t len);
int __wrap_munmap(void *p, size_t len);

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p;

	if (atomic_fetch_add(&scarce_asked, 1) + 1 == scarce_fail_at) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	p = __real_mmap(at, len, prot, flags, fd, off);
	if (p != MAP_FAILED)
		atomic_fetch_add(&scarce_live, (long)len);
	return p;
}

int __wrap_munmap(void *p, size_t len)
{
	atomic_fetch_sub(&scarce_live, (long)len);
	return __real_munmap(p, len);
}

/* From now on the @fail_at-th area there is none. */
static inline void scarce_begin(int fail_at)
{
	scarce_asked = 0;
	scarce_fail_at = fail_at;
	scarce_live = 0;
}

/* Was one refused? */
static inline bool scarce_failed(void)
{
	return scarce_fail_at && scarce_asked >= scarce_fail_at;
}

/* Kilobytes of this process's own memory. */
static inline long scarce_dirty(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kb = -1;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_Dirty: %ld", &kb) == 1)
			break;
	fclose(f);
	return kb;
}

/* Sanitizers need memory for each page, so there it is not counted. */
static inline bool scarce_counts(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return false;
#else
	return scarce_dirty() >= 0;
#endif
}

#endif
