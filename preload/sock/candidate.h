/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * candidate - a socket that is not worth Tux yet
 *
 * Its bytes go through the kernel's calls.  policy/candidate.h counts what they
 * carry, and policy/decide.h says when the connection may move; then it is
 * claimed.
 */
#ifndef TUX_PRELOAD_CANDIDATE_H
#define TUX_PRELOAD_CANDIDATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "ground/conf.h"
#include "policy/decide.h"
#include "policy/recent.h"
#include "sock/sock.h"
#include "sys/defer.h"

/* The socks from which this thread has received bytes lately. */
extern __thread struct tux_recent candidate_recent
	__attribute__((TUX_DEFER_MODEL visibility("hidden")));

/* A call of the kernel has carried @n > 0 bytes of candidate @s: sent, if @out,
 * or received. */
static inline void candidate_moved(struct sock *s, bool out, size_t n)
{
	if (!out)
		tux_recent_mark(&candidate_recent, s);
	tux_candidate_moved(&s->candidate, out, n);
}

/* Candidate @s, reached by @fd, has carried bytes in another process: what the
 * kernel has counted so far is where this one begins.  False: it is not
 * known. */
bool candidate_begin(struct sock *s, int fd);

/* Is it time to ask tux_decide() about candidate @s? */
static inline bool candidate_asks(const struct sock *s)
{
	return conf.path != TUX_PATH_MODE_AUTO ||
	       tux_candidate_asks(&s->candidate);
}

/* What is known of candidate @s, reached by @fd, without a system call; but for
 * the first time.  @called: it has an end, which the peer asks for. */
struct tux_view candidate_view(struct sock *s, int fd, bool called);

/* Is there nothing in @v that keeps @s on TCP for now?  If there is, as
 * candidate_wait(). */
bool candidate_due(struct sock *s, const struct tux_view *v);

/* @d is TUX_DECIDE_WAIT: @s has its reason, and is asked about again after as
 * many turn-arounds as it says. */
void candidate_wait(struct sock *s, const struct tux_decision *d);

/* Has @loop, which a candidate would get, left its connections to TCP, because
 * the processors are busy? */
bool candidate_loop_away(const struct tux_stack *stack, unsigned loop);

/* Does this thread, which carries the bytes of candidates, get too little of
 * the processors? */
bool candidate_cpu_busy(const struct tux_stack *stack);

/* @s is an active candidate, and its addresses are known.  Did its peer leave
 * the last connections without an answer over UDP? */
bool candidate_peer_silent(const struct sock *s);

/* It was decided whether @s is on Tux, and if not, @why. */
void candidate_decided(const struct sock *s, bool tux, enum tux_reason why);

/* A connection to @peer begins.  Have the last ones all ended before they were
 * worth Tux?  Then, but for a few, the next ones are left to the kernel. */
bool candidate_brief(const struct tux_addr *peer);

/* Have calls of the kernel carried bytes of @s both ways? */
bool candidate_carried(const struct sock *s);

/* @s ends as a candidate; or it is worth Tux. */
void candidate_ended(const struct sock *s);
void candidate_lasted(const struct sock *s);

/* Has TCP carried exactly the bytes that were counted?  If not, the program has
 * a way to the socket that the preload does not see, for example io_uring. */
enum tux_candidate_counts candidate_compare(struct sock *s, int fd);

/* The last descriptor of candidate @s is about to be closed.  Why has it not
 * moved?  NONE: for the reason that the loop told last, and that was said. */
enum tux_reason candidate_news(const struct sock *s);

#endif
