/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * young - a candidate that is not worth Tux yet
 *
 * Its bytes go through the kernel's calls.  policy/young.h counts what they carry,
 * and says when the connection is worth the upgrade; then it is claimed.
 */
#ifndef TUX_PRELOAD_YOUNG_H
#define TUX_PRELOAD_YOUNG_H

#include <stdbool.h>
#include <sys/types.h>

#include "conf.h"
#include "policy/recent.h"
#include "sock.h"
#include "sys/defer.h"

/* The socks from which this thread has received bytes lately. */
extern __thread struct tux_recent young_recent
	__attribute__((TUX_DEFER_MODEL visibility("hidden")));

/* A call of the kernel has carried @n > 0 bytes of candidate @s: sent, if @out,
 * or received. */
static inline void young_moved(struct sock *s, bool out, size_t n)
{
	if (!out)
		tux_recent_mark(&young_recent, s);
	tux_young_moved(&s->young, out, n);
}

/* Candidate @s, reached by @fd, has carried bytes in another process: what the
 * kernel has counted so far is where this one begins.  False: it is not known. */
bool young_begin(struct sock *s, int fd);

/* Is it time to ask young_due() about candidate @s? */
static inline bool young_asks(const struct sock *s)
{
	return conf.path != TUX_PATH_MODE_AUTO || tux_young_asks(&s->young);
}

/* Is candidate @s, reached by @fd, to be claimed now? */
bool young_due(struct sock *s, int fd);

/* Does @s wait because this thread, which carries its bytes, gets too little of
 * the processors?  Then it looks again after some turn-arounds. */
bool young_busy(struct sock *s, const struct tux_stack *stack);

/* Does @s, whose addresses are known, wait because earlier connections to its
 * peer had no answer over UDP?  Then it looks again after more turn-arounds. */
bool young_waits(struct sock *s);

/* It was decided whether @s is on Tux, and if not, @why. */
void young_decided(const struct sock *s, bool tux, enum tux_reason why);

/* A connection to @peer begins.  Have the last ones all ended before they were
 * worth Tux?  Then, but for a few, the next ones are left to the kernel. */
bool young_brief(const struct tux_addr *peer);

/* Have calls of the kernel carried bytes of @s both ways? */
bool young_carried(const struct sock *s);

/* @s ends as a candidate; or it is worth Tux. */
void young_ended(const struct sock *s);
void young_lasted(const struct sock *s);

/* Has TCP carried exactly the bytes that were counted?  If not, the program has
 * a way to the socket that the preload does not see, for example io_uring. */
enum tux_young_counts young_compare(struct sock *s, int fd);

/* The last descriptor of candidate @s is about to be closed.  Why has it not
 * moved? */
enum tux_reason young_why(const struct sock *s);

#endif
