/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/rseq.h"

#if __has_include(<sys/rseq.h>) && defined(__x86_64__)

#include <errno.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/rseq.h>

#include "sys/sys.h"

#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE 27
#define AT_RSEQ_ALIGN 28
#endif

enum { FIRST_LEN = 32 };	/* of all areas, until the kernel knew more */

static char *area(uintptr_t tls)
{
	return (char *)tls + __rseq_offset;
}

/* How long libc said its areas are is for us to guess: the kernel takes only
 * the length that it was told. */
static unsigned long known_len(void)
{
	unsigned long len = getauxval(AT_RSEQ_FEATURE_SIZE);
	unsigned long align = getauxval(AT_RSEQ_ALIGN);

	return align ? (len + align - 1) / align * align : FIRST_LEN;
}

static unsigned long rseq_leave(uintptr_t tls)
{
	unsigned long len = FIRST_LEN;

	if (TUX_SYS(SYS_rseq, (long)area(tls), (long)len,
		    RSEQ_FLAG_UNREGISTER, RSEQ_SIG, 0, 0) != -EINVAL)
		return len;
	len = known_len();
	TUX_SYS(SYS_rseq, (long)area(tls), (long)len, RSEQ_FLAG_UNREGISTER,
		RSEQ_SIG, 0, 0);
	return len;
}

/* Of all donors: the kernel writes to it, and no code reads it. */
static char nobodys[FIRST_LEN] __attribute__((aligned(FIRST_LEN)));

void tux_rseq_leave(void)
{
	if (__rseq_size)
		rseq_leave((uintptr_t)__builtin_thread_pointer());
	TUX_SYS(SYS_rseq, nobodys, FIRST_LEN, 0, RSEQ_SIG, 0, 0);
}

void tux_rseq_forked(uintptr_t tls)
{
	uintptr_t own = (uintptr_t)__builtin_thread_pointer();

	if (__rseq_size)
		TUX_SYS(SYS_rseq, (long)area(own), (long)rseq_leave(tls), 0,
			RSEQ_SIG, 0, 0);
}

#else

void tux_rseq_leave(void)
{
}

void tux_rseq_forked(uintptr_t tls)
{
	(void)tls;
}

#endif
