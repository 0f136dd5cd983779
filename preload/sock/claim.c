/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/claim.h"

#include <errno.h>

#include "ground/conf.h"
#include "ground/process.h"
#include "sock/allow.h"
#include "sock/candidate.h"
#include "sock/fd.h"
#include "sock/iface.h"
#include "sock/kind.h"
#include "sock/leave.h"
#include "sock/listener.h"
#include "sock/observer.h"
#include "sock/option.h"
#include "sock/unclaim.h"
#include "sock/say.h"
#include "sock/share.h"
#include "sock/stack.h"
#include "sock/stage.h"
#include "stack/bound.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "sys/take.h"

/* ---- what a descriptor is --------------------------------------------- */

static bool claim_look_up(struct sock *s, int fd)
{
	struct tux_addr local, peer;

	if (!iface_peer(fd, &peer) || !iface_local(fd, &local))
		return false;
	s->tuple.active = s->active ? local : peer;
	s->tuple.passive = s->active ? peer : local;
	return true;
}

/* ---- candidates ------------------------------------------------------- */

void claim_refuse(struct sock *s, enum tux_reason why)
{
	unclaim_leave(s);
	leave_for(s, why);
}

/* Answers HELLOs of the peer, if it has Tux: @s will not move.  A passive end
 * may still move in the process that its descriptor is passed to. */
static void claim_tell(const struct sock *s, int fd, enum tux_reason why)
{
	struct tux_stack *stack = preload_stack();

	if (stack && !tux_reason_is_untold(why) &&
	    (s->active || why != TUX_REASON_PASSED))
		tux_stack_tell(stack, fd, &s->tuple, s->active, why);
}

void claim_refuse_at(struct sock *s, int fd, enum tux_reason why)
{
	if (claim_look_up(s, fd))
		claim_tell(s, fd, why);
	claim_refuse(s, why);
}

/* An address that cannot be had is said as zeros. */
static __attribute__((noinline)) void claim_say_left(int fd,
						     const struct tux_addr *peer,
						     enum tux_reason why)
{
	struct sock s = { .active = peer, .fd = fd };

	if (!peer)
		claim_look_up(&s, fd);
	else if (iface_local(fd, &s.tuple.active))
		s.tuple.passive = *peer;
	say_decided(&s, false, why, NULL);
}

void claim_leave(int fd, const struct tux_addr *peer, enum tux_reason why)
{
	kind_leave(fd);
	observer_left(fd);
	if (say_verbose())
		claim_say_left(fd, peer, why);
}

static void add_accepted(struct sock *l, int fd)
{
	struct sock *s = sock_new(SOCK_CANDIDATE);

	if (!s)
		return;
	atomic_fetch_add(&l->refs, 1);
	s->listener = l;
	s->domain = l->domain;
	if (!fd_add(fd, s))
		leave_listener(s);
	else if (atomic_load(&l->sends))
		claim_stay(fd, TUX_REASON_PASSED);
	else if (share_too_late(s, fd))
		claim_stay(fd, TUX_REASON_SHARED);
	sock_put(s);
}

/* Why connections that @l, reached by @fd, accepts from @peer stay on TCP, or
 * NONE.  @peer is NULL if it is not known. */
static enum tux_reason claim_accepts(struct sock *l, int fd,
				     const struct tux_addr *peer)
{
	if (l->epoch != process_here.epoch)
		listener_inherit(l, fd);
	else if (!allow_stopped())
		listener_refresh(l, fd);
	return l->why ? (enum tux_reason)l->why : allow_peer(peer);
}

void claim_accepted(int listener, int fd, const struct tux_addr *peer)
{
	int saved = errno;
	enum tux_reason why;
	struct sock *l;

	if (allow_sandboxed()) {
		claim_leave(fd, NULL, TUX_REASON_SANDBOXED);
		return;
	}
	tux_defer_enter();
	/* Handed down by a process before us, already listening? */
	listener_add(listener, false);
	l = sock_get(listener);
	if (l && l->stage == SOCK_LISTENER) {
		why = claim_accepts(l, listener, peer);
		if (why)
			claim_leave(fd, NULL, why);
		else
			add_accepted(l, fd);
	}
	if (l)
		sock_put(l);
	tux_defer_leave();
	errno = saved;
}

void claim_connecting(int fd, const struct tux_addr *peer)
{
	int saved = errno, domain = -1;
	struct sock *s;

	if (allow_sandboxed())
		claim_leave(fd, peer, TUX_REASON_SANDBOXED);
	else if (!fd_peek(fd))
		domain = kind_domain(fd);
	if (domain >= 0 && (s = sock_new(SOCK_CANDIDATE))) {
		s->active = true;
		s->domain = domain;
		s->tuple.passive = *peer;
		if (fd_add(fd, s) && share_too_late(s, fd))
			claim_stay(fd, TUX_REASON_SHARED);
		sock_put(s);
	}
	errno = saved;
}

void claim_stay(int fd, enum tux_reason why)
{
	struct sock *s = sock_get(fd);

	if (!s)
		return;
	tux_defer_enter();
	if (stage_hold(s)) {
		share_stay(s);
		claim_refuse_at(s, fd, why);
	}
	tux_defer_leave();
	sock_put(s);
}

void claim_pin(int fd)
{
	claim_stay(fd, TUX_REASON_PINNED);
}

void claim_over(struct sock *s, int fd, bool goes_on)
{
	enum tux_reason why;
	struct tux_grounds g;

	/* Only a process that uses @s reports its end. */
	if (goes_on && (s->epoch != process_here.epoch || !candidate_carried(s)))
		return;
	candidate_ended(s);
	/* Brief connections end here: they pay for no line that is not said. */
	why = say_verbose() ? candidate_news(s) : TUX_REASON_NONE;
	if (!why)
		return;
	claim_look_up(s, fd);
	g = tux_candidate_grounds(&s->candidate);
	say_decided(s, false, why, &g);
}

static void claim_stop_one(struct sock *s, int fd, void *arg)
{
	const enum tux_reason *why = arg;

	if (stage_of(s) == SOCK_CLAIMED && s->epoch == process_here.epoch)
		tux_end_ask_raw(s->end, *why, false);
	if (stage_of(s) == SOCK_LISTENER && s->epoch == process_here.epoch)
		listener_refuse(fd, *why);
}

bool claim_stop(enum tux_reason why)
{
	if (!allow_stop(why))
		return false;
	tux_defer_enter();
	fd_each(claim_stop_one, &why);
	tux_defer_leave();
	return true;
}

/* ---- claiming --------------------------------------------------------- */

static enum tux_reason claim_open_end(struct sock *s, int fd)
{
	struct tux_end_opts o = {
		.fd = fd, .tuple = s->tuple, .active = s->active, .user = s,
		.mode = conf.path, .returns = conf.path == TUX_PATH_MODE_AUTO,
		.loop = observer_loop(fd), .candidate = &s->candidate,
	};
	enum tux_reason why;
	struct tux_stack *stack = stack_get(&why);
	int r;

	if (!stack)
		return why;
	option_load(s, fd);
	option_load_nonblock(s, fd);
	atomic_store(&s->err, 0);
	atomic_store(&s->given_up, false);
	atomic_store(&s->slept, false);
	sock_moves(s);
	s->fd = fd;
	atomic_fetch_add(&s->refs, 1);	/* the loop's, until on_gone() */
	r = tux_end_claim(stack, &o, &s->end);
	if (r < 0) {
		s->end = NULL;
		atomic_fetch_sub(&s->refs, 1);
		return (enum tux_reason)-r;
	}
	s->dx = tux_end_duplex(s->end);
	return TUX_REASON_NONE;
}

static enum tux_reason claim_wake_end(struct sock *s, int fd)
{
	option_load(s, fd);
	option_load_nonblock(s, fd);
	tux_end_bound(s->end, fd);
	return unclaim_wake(s) ? TUX_REASON_NONE : TUX_REASON_PINNED;
}

/* Why may this process not claim @s, which it has inherited or received?  The
 * peer of an active end opens towards the port that the process has announced
 * which called connect(). */
static enum tux_reason claim_not_ours(const struct sock *s)
{
	struct tux_stack *stack = stack_get(NULL);

	if (s->active)
		return TUX_REASON_NOT_OWNER;
	return stack && tux_stack_adopts(stack) ? TUX_REASON_NONE :
						  TUX_REASON_NO_TUXD;
}

/* Why must @s not be claimed, if so? */
static enum tux_reason claim_forbids(const struct sock *s, int fd)
{
	const struct tux_addr *a = &s->tuple.active, *p = &s->tuple.passive;
	enum tux_reason why;

	why = s->active ? allow_connection(a, p) : allow_connection(p, a);
	if (why)
		return why;
	if (kind_ask(fd) != s->domain)
		return TUX_REASON_PINNED;
	if (option_pins(fd))
		return TUX_REASON_SOCKOPT;
	if (s->asleep && !unclaim_sleeps(s))
		return TUX_REASON_NOT_OWNER;	/* the parent has its end */
	return s->epoch != process_here.epoch || s->passed ? claim_not_ours(s) :
							TUX_REASON_NONE;
}

/* Have the processors no time for @s?  An end that sleeps has its loop already,
 * and sleeps for that loop's hold. */
static bool claim_is_crowded(const struct sock *s, int fd)
{
	const struct tux_stack *stack = stack_get(NULL);

	return candidate_cpu_busy(stack) ||
	       (!s->asleep && candidate_loop_away(stack, observer_loop(fd)));
}

/* Why can this thread not decide about @s alone?  NONE: it can.  What is not
 * connected yet has shown nothing. */
static enum tux_reason claim_held(struct sock *s, int fd)
{
	if (atomic_load(&s->refs) >= SOCK_PASSING || !unclaim_free_end(s))
		return TUX_REASON_IN_USE;
	if (!share_alone(s, fd))
		return s->passed ? TUX_REASON_PASSED : TUX_REASON_SHARED;
	return claim_look_up(s, fd) ? TUX_REASON_NONE : TUX_REASON_YOUNG;
}

/* Finds out what tux_decide() does not know of @s yet. */
static void claim_find(struct sock *s, int fd, enum tux_fact fact,
		       struct tux_view *v)
{
	v->known |= fact;
	switch (fact) {
	case TUX_FACT_ALONE:
		v->held = claim_held(s, fd);
		break;
	case TUX_FACT_PEER:
		v->peer_silent = candidate_peer_silent(s);
		break;
	case TUX_FACT_FORBIDS:
		v->forbids = claim_forbids(s, fd);
		break;
	case TUX_FACT_CPU:
		v->cpu_busy = claim_is_crowded(s, fd);
		break;
	case TUX_FACT_COUNTS:
		s->epoch = process_here.epoch;	/* it counts for this process now */
		v->counts = candidate_compare(s, fd);
		break;
	}
}

static struct tux_decision claim_decide(struct sock *s, int fd)
{
	struct tux_view v = candidate_view(s, fd, unclaim_called(s));
	struct tux_decision d;

	while ((d = tux_decide(&v, tux_clock_read())).verdict == TUX_DECIDE_FIND)
		claim_find(s, fd, d.fact, &v);
	return d;
}

/* @s is CLAIMING, by this thread. */
static void claim_connection(struct sock *s, int fd)
{
	int saved = errno;
	struct tux_decision d;

	candidate_lasted(s);
	d = claim_decide(s, fd);
	if (d.verdict == TUX_DECIDE_OPEN)
		d.why = s->asleep ? claim_wake_end(s, fd) :
				    claim_open_end(s, fd);
	if (d.verdict == TUX_DECIDE_WAIT) {
		candidate_wait(s, &d);
		unclaim_doze(s);
		stage_try(s, SOCK_CLAIMING, SOCK_CANDIDATE);
	} else if (d.why) {
		claim_tell(s, fd, d.why);
		claim_refuse(s, d.why);
	} else if (stage_try(s, SOCK_CLAIMING, SOCK_CLAIMED)) {
		observer_moved(s, fd);
	}
	errno = saved;
}

static bool is_due(struct sock *s, int fd)
{
	struct tux_view v = candidate_view(s, fd, unclaim_called(s));

	return candidate_due(s, &v);
}

/* One step; true if @s is settled: claimed, or not to be. */
static bool claim_step(struct sock *s, int fd)
{
	switch (stage_of(s)) {
	case SOCK_CANDIDATE:
		/* Another thread may have decided meanwhile.  A thread that was
		 * late may have made it in a sandbox. */
		if (claim_is_kernels(s) || allow_sandboxed() || !is_due(s, fd))
			return true;
		if (stage_try(s, SOCK_CANDIDATE, SOCK_CLAIMING))
			claim_connection(s, fd);
		/* Not connected yet, or not yet worth it. */
		return stage_of(s) == SOCK_CANDIDATE;
	case SOCK_CLAIMING:
		return false;
	case SOCK_CLAIMED:
		if (s->epoch != process_here.epoch) {
			unclaim_inherited(s, fd);
			return false;
		}
		if (unclaim_asked(s))
			unclaim_try(s, fd);
		return true;
	default:
		return true;
	}
}

/* As long as the thread claims @s, others wait for it.  Kept out of
 * sock_claimed(), which every read and write calls. */
static __attribute__((noinline)) void claim_settle(struct sock *s, int fd)
{
	tux_defer_enter();
	for (unsigned i = 1; !claim_step(s, fd); i++)
		tux_await(i);
	tux_defer_leave();
}

struct sock *sock_claimed(int fd)
{
	struct sock *s = fd_peek(fd);

	if (!s || claim_is_kernels(s))
		return NULL;
	s = sock_get(fd);
	if (!s)
		return NULL;
	if (stage_of(s) != SOCK_CLAIMED || s->epoch != process_here.epoch ||
	    unclaim_asked(s))
		claim_settle(s, fd);
	if (stage_of(s) == SOCK_CLAIMED)
		return s;
	sock_put(s);
	return NULL;
}
