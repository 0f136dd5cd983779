/* SPDX-License-Identifier: BSD-2-Clause */
#include "young.h"

#include <errno.h>

#include "conf.h"
#include "policy/past.h"
#include "stack/channel.h"
#include "stack/thread_busy.h"
#include "sys/carried.h"
#include "sys/clock.h"

/* Asked of the kernel once: the decision is asked for again and again. */
static uint32_t young_packet(struct sock *s, int fd)
{
	uint32_t n = atomic_load_explicit(&s->packet, memory_order_relaxed);

	if (n)
		return n;
	n = tux_end_segment(conf.io, fd);
	atomic_store_explicit(&s->packet, n, memory_order_relaxed);
	return n;
}

bool young_due(struct sock *s, int fd)
{
	if (conf.path != TUX_PATH_MODE_AUTO)
		return true;		/* to be claimed, or refused */
	return tux_young_asks(&s->young) &&
	       tux_young_opens(&s->young, s->active,
			       young_packet(s, fd));
}

/* ---- what the processors show ------------------------------------------ */

__thread struct tux_recent young_recent;

bool young_busy(struct sock *s, const struct tux_stack *stack)
{
	if (conf.path != TUX_PATH_MODE_AUTO || !stack ||
	    !tux_thread_busy(stack, &young_recent))
		return false;
	tux_young_busy(&s->young);
	s->why = TUX_REASON_CPU_BUSY;
	return true;
}

/* ---- what earlier connections have shown ------------------------------ */

static struct tux_past past;

bool young_waits(struct sock *s)
{
	if (conf.path != TUX_PATH_MODE_AUTO || !s->active ||
	    !tux_past_waits(&past, &s->tuple.passive, tux_clock_read()))
		return false;
	tux_young_wait(&s->young);
	s->why = TUX_REASON_PEER_SILENT;
	return true;
}

void young_decided(const struct sock *s, bool tux, enum tux_reason why)
{
	if (s->active)
		tux_past_decided(&past, &s->tuple.passive, tux, why,
				 tux_clock_read());
}

/* With another mode, no connection waits until it is worth Tux. */
static bool learns(void)
{
	return conf.path == TUX_PATH_MODE_AUTO;
}

bool young_brief(const struct tux_addr *peer)
{
	return learns() && tux_past_brief(&past, peer, tux_clock_read());
}

bool young_carried(const struct sock *s)
{
	return tux_talk_total(&s->young.sent) &&
	       tux_talk_total(&s->young.received);
}

/* A connection that has carried nothing, for example because the peer refused
 * it, shows nothing. */
void young_ended(const struct sock *s)
{
	if (s->active && learns() && young_carried(s))
		tux_past_ended(&past, &s->tuple.passive, tux_clock_read());
}

void young_lasted(const struct sock *s)
{
	if (s->active && learns())
		tux_past_lasted(&past, &s->tuple.passive);
}

/* ---- what the kernel has counted -------------------------------------- */

bool young_begin(struct sock *s, int fd)
{
	struct tux_carried c;

	if (tux_carried_look(fd, s->active, &c))
		return false;
	tux_young_begin(&s->young, c.sent, c.received);
	return true;
}

enum tux_young_counts young_compare(struct sock *s, int fd)
{
	struct tux_carried c;
	int err = tux_carried_look(fd, s->active, &c);

	if (err == -EAGAIN)
		return TUX_YOUNG_UNSURE;
	return err ? TUX_YOUNG_MISSED :
		     tux_young_compare(&s->young, c.sent, c.received);
}

enum tux_reason young_why(const struct sock *s)
{
	return s->why ? (enum tux_reason)s->why : tux_young_why(&s->young);
}
