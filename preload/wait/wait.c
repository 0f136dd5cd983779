/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/wait.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/fd.h"
#include "sys/clock.h"
#include "sys/defer.h"

enum {
	POOL = 64,	/* more than sleep at once in most programs */
	BELL = 2,
	BRIEF_US = 500,
};

static struct waiting *_Atomic pool[POOL];

/* ---- the pool --------------------------------------------------------- */

static struct waiting *new_waiting(void)
{
	struct waiting *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	if (tux_waiter_init(&t->w, BELL) == 0)
		return t;
	munmap(t, sizeof(*t));
	return NULL;
}

struct waiting *wait_take(void)
{
	for (int i = 0; i < POOL; i++) {
		struct waiting *t = NULL;

		if (atomic_load_explicit(&pool[i], memory_order_relaxed))
			t = atomic_exchange(&pool[i], NULL);
		if (t) {
			t->w.loop = 0;
			return t;
		}
	}
	return new_waiting();
}

void wait_give(struct waiting *t)
{
	wait_drain(t);
	for (int i = 0; i < POOL; i++) {
		struct waiting *none = NULL;

		if (!atomic_load_explicit(&pool[i], memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&pool[i], &none, t))
			return;
	}
	tux_waiter_fini(&t->w);
	munmap(t, sizeof(*t));
}

void wait_forked(void)
{
	memset(pool, 0, sizeof(pool));
}

static void watch_by(struct waiting *t, struct watch *w)
{
	*w = (struct watch){ .waiter = &t->w, .queued = &t->queued };
	tux_list_init(&w->node);
}

/* An error and the end are told to everybody, as poll() tells them. */
static unsigned watch_wants(short events)
{
	unsigned wants = 0;

	if (events & (POLLIN | POLLRDNORM))
		wants |= TUX_CAN_READ;
	if (events & (POLLOUT | POLLWRNORM | POLLWRBAND))
		wants |= TUX_CAN_WRITE;
	return wants ? wants | TUX_IS_ERR | TUX_IS_EOF : 0;
}

void wait_watch(struct waiting *t, struct sock *s, short events,
		struct watch *w)
{
	watch_by(t, w);
	w->wants = watch_wants(events);
	if (atomic_load(&s->stage) == SOCK_CLAIMED)
		tux_waiter_follow(&t->w, s->end);
	sock_watch(s, w);
}

void wait_watch_all(struct waiting *t, struct watch *w)
{
	watch_by(t, w);
	sock_watch_all(w);
}

void wait_drain(struct waiting *t)
{
	uint32_t i;

	while (tux_bell_take(t->w.bell, &i))
		;
	atomic_store(&t->queued, 0);
}

/* ---- signals ---------------------------------------------------------- */

/* Signals for what a thread itself did wrong do not interrupt its waits. */
static bool is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE ||
	       sig == SIGILL || sig == SIGTRAP || sig == SIGABRT ||
	       sig == SIGSYS;
}

/* A deferred signal says it.  Of another, whose handler was set past us,
 * nothing says which it was: if all handlers agree there is no doubt; if not,
 * the program has one that counts on EINTR and must get it. */
static bool wait_restarts(void)
{
	if (tux_defer.pending)
		return tux_defer.restarts;
	for (int sig = 1; sig < _NSIG; sig++) {
		struct sigaction a;

		if (is_fault(sig) || libc.sigaction(sig, NULL, &a) ||
		    a.sa_handler == SIG_DFL ||
		    a.sa_handler == SIG_IGN)
			continue;
		if (!(a.sa_flags & SA_RESTART))
			return false;
	}
	return true;
}

/* ---- sleeping --------------------------------------------------------- */

bool wait_goes_on(tux_time until, unsigned how)
{
	return until == TUX_NEVER && !(how & WAIT_PARTIAL) && wait_restarts();
}

/* What to ask TCP: the directions that are still there.  False if a look at
 * the rings says that there is no need to wait. */
static bool to_ask(struct sock *s, short events, short *ask)
{
	unsigned p = sock_poll(s);

	*ask = 0;
	if (events & POLLIN) {
		if (p & TUX_CAN_READ)
			return false;
		if (!(p & TUX_RX_ON_RING))
			*ask |= POLLIN;
	}
	if (events & POLLOUT) {
		if (p & TUX_CAN_WRITE)
			return false;
		if (!(p & (TUX_TX_ON_RING | TUX_TX_WAITS)))
			*ask |= POLLOUT;
	}
	return atomic_load(&s->stage) == SOCK_CLAIMED;
}

/* A cancelled thread would leave the loop that it drives as it is. */
static int sleep_uncancelled(struct waiting *t, struct pollfd *p, unsigned n,
			     tux_time until)
{
	int old, r;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	r = tux_channel_wait(preload_stack(), &t->w, p, n, until, NULL);
	pthread_setcancelstate(old, NULL);
	return r;
}

static int wait_sleep_on(struct waiting *t, struct sock *s, int fd,
			 short events, tux_time until, unsigned how)
{
	struct pollfd p = { .fd = fd };
	tux_time till = until;
	int r;

	/* A thread has closed the number: the caller has another one. */
	if (!to_ask(s, events, &p.events) || fd_peek(fd) != s)
		return 1;
	if (how & WAIT_BRIEF) {
		p.events = 0;
		till = tux_time_min(until, tux_clock_read() + TUX_USEC(BRIEF_US));
	}
	r = sleep_uncancelled(t, &p, p.events ? 1 : 0, till);
	if (r == 0 && till < until)
		return 1;
	return r == -EINTR && wait_goes_on(until, how) ? 1 : r;
}

/* There is no memory or no descriptor for a waiter. */
static int wait_nap(tux_time until, unsigned how)
{
	libc.poll(NULL, 0, 1);
	if (tux_defer.pending && !wait_goes_on(until, how))
		return -EINTR;
	tux_defer_pause();
	return tux_clock_read() < until;
}

int wait_for(struct sock *s, int fd, short events, tux_time until,
	     unsigned how)
{
	struct waiting *t = wait_take();
	struct watch w;
	int r;

	if (!t)
		return wait_nap(until, how);
	wait_watch(t, s, events, &w);
	r = wait_sleep_on(t, s, fd, events, until, how);
	sock_unwatch(s, &w);
	wait_give(t);
	/* A call that is restarted runs the handlers first.  Handlers that end
	 * the call wait: it looks once more, and its next sleep says EINTR. */
	if (r == 1 && tux_defer.pending && wait_goes_on(until, how))
		tux_defer_pause();
	return r;
}
