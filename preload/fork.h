/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork - which process is who
 *
 * Each fork begins an epoch in the child; socks carry the epoch that made them,
 * or claimed them.  A claimed sock of an older epoch is the parent's, and the
 * parent's loops serve it.  A vfork child runs in its parent's memory and must change nothing
 * there.
 */
#ifndef TUX_PRELOAD_FORK_H
#define TUX_PRELOAD_FORK_H

#include <stdbool.h>
#include <stdint.h>

extern uint32_t fork_epoch;

/* Registers the handlers. */
void fork_init(void);

/* Is this another process than the one whose memory it uses?  A system call:
 * for slow paths only. */
bool fork_is_vfork(void);

#endif
