/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * early - the calls as bare system calls, for the time before the constructor
 *
 * An allocator that starts, or a library's constructor, may come here.
 */
#ifndef TUX_PRELOAD_EARLY_H
#define TUX_PRELOAD_EARLY_H

#include "ground/calls.h"

#define X(name) __typeof__(name) early_##name;
LIBC_EARLY(X)
#undef X

#endif
