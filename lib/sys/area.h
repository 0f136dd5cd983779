/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * area - memory straight from the kernel
 *
 * Zeroed, in whole pages, and only what is touched is really there.  No malloc:
 * it may be the application's, and may be what called us.
 */
#ifndef TUX_SYS_AREA_H
#define TUX_SYS_AREA_H

#include <stddef.h>

enum tux_area_kind {
	TUX_AREA_SHARED,	/* a forked child sees the same bytes */
	TUX_AREA_PRIVATE,	/* a forked child gets a copy */
	TUX_AREA_OWN,		/* a forked child has nothing there */
};

/* Maps @len bytes into *@p.  -errno. */
int tux_area_map(void **p, size_t len, enum tux_area_kind kind);

/* NULL is fine. */
void tux_area_unmap(void *p, size_t len);

/* Gives the whole pages of [@p, @p + @len) back, which are not SHARED; they read as
 * zero again. */
void tux_area_drop(void *p, size_t len);

#endif
