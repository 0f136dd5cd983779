/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allow - may a connection of this process ever be on Tux?
 *
 * That is, by what tuxrun was told (ground/conf.h), by whether the program uses
 * sockets past the preload (hook/bypass.h), and by whether it has restricted
 * its system calls (family/sandbox.h).  Each function says TUX_REASON_NONE, or
 * why not; it is asked as soon as there are the addresses that it wants.
 */
#ifndef TUX_PRELOAD_ALLOW_H
#define TUX_PRELOAD_ALLOW_H

#include <stdbool.h>

#include "wire/addr.h"
#include "wire/reason.h"

/* A listener on @local, whose peers are not known yet. */
enum tux_reason allow_listener(const struct tux_addr *local);

/* A connection to @peer, of which our own address is not known; NULL: nor is
 * the peer's. */
enum tux_reason allow_peer(const struct tux_addr *peer);

/* A connection between @local and @peer. */
enum tux_reason allow_connection(const struct tux_addr *local,
				 const struct tux_addr *peer);

/* No connection may from now on: TUX_REASON_BYPASSED, or TUX_REASON_SANDBOXED,
 * which also outdoes the former.  False: it was so before. */
bool allow_stop(enum tux_reason why);

/* Was that called?  With TUX_REASON_SANDBOXED? */
bool allow_stopped(void);
bool allow_sandboxed(void);

/* In a child, right after fork: if a thread of the parent was about to make a
 * sandbox, this process has none. */
void allow_forked(void);

#endif
