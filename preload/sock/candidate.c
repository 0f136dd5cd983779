/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/candidate.h"

#include <errno.h>

#include "ground/conf.h"
#include "policy/history.h"
#include "stack/channel.h"
#include "stack/loops.h"
#include "stack/thread_busy.h"
#include "sys/carried.h"
#include "sys/clock.h"

struct tux_view candidate_view(struct sock *s, int fd, bool called)
{
	if (conf.path == TUX_PATH_MODE_AUTO)
		tux_end_segment(&s->candidate, conf.io, fd);
	return (struct tux_view){
		.candidate = &s->candidate, .mode = conf.path,
		.active = s->active, .called = called,
		.pause_until = s->pause_until,
		.paused_for = (enum tux_reason)atomic_load(&s->decided),
	};
}

void candidate_wait(struct sock *s, const struct tux_decision *d)
{
	s->why = (uint8_t)d->why;
	tux_candidate_wait(&s->candidate, d->turns);
}

bool candidate_due(struct sock *s, const struct tux_view *v)
{
	struct tux_decision d = tux_decide(v, tux_clock_read());

	if (d.verdict == TUX_DECIDE_WAIT)
		candidate_wait(s, &d);
	return d.verdict != TUX_DECIDE_WAIT;
}

/* ---- what the processors show ------------------------------------------ */

__thread struct tux_recent candidate_recent;

bool candidate_loop_away(const struct tux_stack *stack, unsigned loop)
{
	return stack && tux_loops_away(stack, loop, tux_clock_read());
}

bool candidate_cpu_busy(const struct tux_stack *stack)
{
	return stack && tux_thread_busy(stack, &candidate_recent);
}

/* ---- what earlier connections have shown ------------------------------ */

static struct tux_history history;

bool candidate_peer_silent(const struct sock *s)
{
	return tux_history_waits(&history, &s->tuple.passive, tux_clock_read());
}

void candidate_decided(const struct sock *s, bool tux, enum tux_reason why)
{
	if (s->active)
		tux_history_decided(&history, &s->tuple.passive, tux, why,
				    tux_clock_read());
}

/* With another mode, no connection waits until it is worth Tux. */
static bool learns(void)
{
	return conf.path == TUX_PATH_MODE_AUTO;
}

bool candidate_brief(const struct tux_addr *peer)
{
	return learns() && tux_history_brief(&history, peer, tux_clock_read());
}

bool candidate_carried(const struct sock *s)
{
	return tux_burst_total(&s->candidate.sent) &&
	       tux_burst_total(&s->candidate.received);
}

/* A connection that has carried nothing, for example because the peer refused
 * it, shows nothing.  One that was claimed before was not brief. */
void candidate_ended(const struct sock *s)
{
	if (s->active && learns() && candidate_carried(s) && !s->pause_until)
		tux_history_ended(&history, &s->tuple.passive, tux_clock_read());
}

void candidate_lasted(const struct sock *s)
{
	if (s->active && learns())
		tux_history_lasted(&history, &s->tuple.passive);
}

/* ---- what the kernel has counted -------------------------------------- */

bool candidate_begin(struct sock *s, int fd)
{
	struct tux_carried c;

	if (tux_carried_look(fd, s->active, &c))
		return false;
	tux_candidate_begin(&s->candidate, c.sent, c.received);
	return true;
}

enum tux_candidate_counts candidate_compare(struct sock *s, int fd)
{
	struct tux_carried c;
	enum tux_candidate_counts is;
	int err = tux_carried_look(fd, s->active, &c);

	if (err == -EAGAIN)
		return TUX_CANDIDATE_UNSURE;
	if (err)
		return TUX_CANDIDATE_MISSED;
	is = tux_candidate_compare(&s->candidate, c.sent, c.received);
	if (is == TUX_CANDIDATE_AGREE)
		atomic_store(&s->shared, false);
	/* A FIN, be it of another process, counts as a byte there. */
	if (is != TUX_CANDIDATE_MISSED || !atomic_load(&s->shared) ||
	    !tux_carried_open(fd) || !tux_candidate_adopt(&s->candidate))
		return is;
	atomic_store(&s->shared, false);
	return TUX_CANDIDATE_AGREE;
}

enum tux_reason candidate_news(const struct sock *s)
{
	enum tux_reason why = tux_candidate_why(&s->candidate, s->active,
						(enum tux_reason)s->why);

	return why == s->decided ? TUX_REASON_NONE : why;
}
