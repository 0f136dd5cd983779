/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * early - the calls as bare system calls, for the time before the constructor
 *
 * An allocator that starts, or a library's constructor, may come here.  What no
 * such caller has a use for (exec, stdio) looks the real functions up at once.
 */
#ifndef TUX_PRELOAD_EARLY_H
#define TUX_PRELOAD_EARLY_H

#include "libc.h"

#define X(name) __typeof__(name) early_##name;
LIBC_CALLS(X)
#undef X

#endif
