/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deep - a call on a stack of its own
 *
 * For what needs more stack than a program may have where it calls a hook, and
 * is rare.
 */
#ifndef TUX_SYS_DEEP_H
#define TUX_SYS_DEEP_H

/* Calls @fn(@arg) on a stack of 256 KiB; under AddressSanitizer, on the caller's.  0, or
 * -ENOMEM: it was not called.  @fn must return. */
int tux_deep_call(void (*fn)(void *arg), void *arg);

#endif
