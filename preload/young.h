/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * young - a candidate that is not worth Tux yet
 *
 * A connection begins on the kernel's TCP, and its bytes go through the kernel's
 * calls.  Nothing is allocated, sent or attached for it.  What the calls carry
 * is counted, until choice.h says that the connection is worth the upgrade; then
 * it is claimed.
 */
#ifndef TUX_PRELOAD_YOUNG_H
#define TUX_PRELOAD_YOUNG_H

#include <stdbool.h>
#include <sys/types.h>

#include "sock.h"

/* A call of the kernel has carried @n > 0 bytes of candidate @s: sent, if @out,
 * or received. */
void young_moved(struct sock *s, bool out, size_t n);

/* Is candidate @s, reached by @fd, to be claimed now? */
bool young_due(struct sock *s, int fd);

/* Does @s, whose addresses are known, wait because earlier connections to its
 * peer had no answer over UDP?  Then it looks again after more turn-arounds. */
bool young_waits(struct sock *s);

/* It was decided whether @s is on Tux, and if not, @why. */
void young_decided(const struct sock *s, bool tux, enum tux_reason why);

/* Has TCP carried exactly the bytes that were counted?  If not, the program has
 * a way to the socket that the preload does not see, for example io_uring. */
bool young_complete(const struct sock *s, int fd);

/* The last descriptor of candidate @s is about to be closed.  Why has it not
 * moved? */
enum tux_reason young_why(const struct sock *s);

#endif
