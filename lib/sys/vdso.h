/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vdso - functions that the kernel maps into each process (vdso(7))
 */
#ifndef TUX_SYS_VDSO_H
#define TUX_SYS_VDSO_H

typedef void (*tux_vdso_fn)(void);

/* The function of that name; NULL if the kernel has none.  Safe in a signal handler. */
tux_vdso_fn tux_vdso_find(const char *name);

#endif
