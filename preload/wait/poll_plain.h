/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll_plain - a whole poll(2), while all its sockets are on TCP
 */
#ifndef TUX_PRELOAD_POLL_QUIET_H
#define TUX_PRELOAD_POLL_QUIET_H

#include "wait/poll_look.h"

/* Where all sockets of @p have been on TCP for a while, the kernel waits, as it
 * would without us, and the helper runs the loop.  No sock is held or watched
 * meanwhile; a direction that moves rings.  True: *@r is the call's result. */
bool poll_plain(struct polling *p, int *r);

#endif
