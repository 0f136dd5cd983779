/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc - the functions behind the ones that this object replaces
 *
 * `libc.read(...)` is what read() would be without us.  Until the constructor
 * has run the entries make bare system calls, because looking a symbol up may
 * allocate memory, and the caller may be the allocator.
 *
 * A plain read() anywhere in this object is our own hook: call libc.read().
 * (The stack, linked into the same object, makes its system calls itself.)
 */
#ifndef TUX_PRELOAD_LIBC_H
#define TUX_PRELOAD_LIBC_H

#include "ground/calls.h"

struct libc {
#define X(name) __typeof__(name) *name;
	LIBC_CALLS(X)
#undef X
};

extern struct libc libc;

/* Looks all of them up; does nothing the second time. */
void libc_init(void);

#define HOOK __attribute__((visibility("default")))

#endif
