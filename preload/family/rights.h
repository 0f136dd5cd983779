/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rights - descriptors that travel in messages between processes (SCM_RIGHTS)
 *
 * From the moment at which a connection is in a message, no count of the
 * preload (share.h) knows all that hold it: the message may stay unread, and
 * the other process may have no Tux.  The kernel does know (sole.h).  So such a
 * connection stays a candidate in each process, and the one that is its only
 * holder may claim it.
 */
#ifndef TUX_PRELOAD_RIGHTS_H
#define TUX_PRELOAD_RIGHTS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "sock/sock.h"

struct rights {			/* all zero at first */
	unsigned n;		/* messages that carry some */
};

/* Message @m is about to be sent, maybe after others.  False, with errno EBUSY:
 * it must not be, since a connection on Tux that it carries cannot go back to
 * TCP (pass.h). */
bool rights_send(struct rights *r, const struct msghdr *m);

/* They have been sent, or not. */
void rights_sent(const struct rights *r);

/* Message @m will be sent at a time that is not known: what it carries stays on
 * TCP.  False, with errno EBUSY, as above. */
bool rights_pin(const struct msghdr *m);

/* Message @m has just been received. */
void rights_received(const struct msghdr *m);

#endif
