/* SPDX-License-Identifier: BSD-2-Clause */
#include "tick/watch.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "sys/sys.h"
#include "sys/thread.h"

enum {
	IDLE_US = 10000,	/* no thread entered for so long: sleep for good */
	SHORT_US = 40,		/* the kernel's timers are not finer than that: so
				 * long before a slice ends it is awake, */
	SPIN_US = 500,		/* until nobody has entered for so long */
	AGAIN = 4,		/* ticks that are not used come so often in a
				 * slice, */
	AGAIN_US = 5,		/* but not closer than this */
	UNHEARD_US = 10000,	/* a tick that did not arrive is sent again: a
				 * thread that waits for signals may have it */
};

_Atomic uint32_t tux_watch_asleep;
_Atomic uint8_t tux_watch_sent[TUX_WATCH_SLOTS];

static struct {
	pthread_mutex_t lock;		/* of what follows */
	struct tux_list all;
	uint64_t slots;			/* in use */
	bool started, hooked;
	bool alone;			/* there is but one processor for all */
	cpu_set_t cpus;			/* the watcher's, */
	bool moved;			/* which it does not know yet */
} watch = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.all = { &watch.all, &watch.all },
};

/* What a look at all of them found. */
struct look {
	tux_tick now, next;		/* when to look again */
	tux_tick gap;			/* ... but not later than so long after now;
					 * TUX_NEVER: no thread is watched */
	bool any;			/* somebody entered since the last */
};

/* The last tick may be lost, but not yet. */
static bool watch_expects(const struct tux_watch *w, tux_tick now)
{
	return atomic_load(&tux_watch_sent[w->slot]) &&
	       now - w->sent_at < tux_tick_of(TUX_USEC(UNHEARD_US));
}

static void send_tick(struct tux_watch *w, tux_tick now)
{
	siginfo_t info = { .si_code = SI_QUEUE };
	long err;

	atomic_store(&tux_watch_sent[w->slot], 1);
	w->sent_at = now;
	info.si_signo = w->sig;
	info.si_pid = getpid();
	info.si_value.sival_int = (int)w->slot;
	err = TUX_SYS(SYS_rt_tgsigqueueinfo, info.si_pid, w->tid, w->sig,
		      &info, 0, 0);
	if (err)
		tux_watch_arrived(w->slot);
	if (err == -ESRCH)		/* the thread is no more */
		tux_watch_leave(w);
}

/* From one tick to the next, if none is late. */
static tux_tick watch_again(const struct tux_watch *w)
{
	tux_tick again = w->slice / AGAIN;
	tux_tick least = tux_tick_of(TUX_USEC(AGAIN_US));

	return again > least ? again : least;
}

void tux_watch_slice(struct tux_watch *w, tux_tick until)
{
	w->seen = until;
	w->next = until;
	w->again = watch_again(w);
	w->late = false;
}

bool tux_watch_sends(struct tux_watch *w, tux_tick now, bool expected)
{
	tux_tick most = tux_tick_of(TUX_USEC(UNHEARD_US));
	bool was_late = w->late;

	w->late = expected;
	if (was_late && !expected && w->again < most)
		w->again *= 2;
	w->next = now + (expected ? watch_again(w) : w->again);
	return !expected && !was_late;
}

static void watch_look_at(struct look *l, struct tux_watch *w)
{
	tux_tick until = atomic_load(&w->until);
	tux_tick gap = tux_calm_look(&w->calm, atomic_load(&w->over), w->slice,
				     l->now);

	if (until & TUX_WATCH_INSIDE && until > l->now)
		gap = tux_calm_later(gap, until - l->now, w->slice);
	if (gap < l->gap)
		l->gap = gap;
	if (until != w->seen) {
		tux_watch_slice(w, until);
		l->any = true;
	}
	if (!(until & TUX_WATCH_INSIDE))
		return;
	l->any = true;
	if (l->now >= w->next &&
	    tux_watch_sends(w, l->now, watch_expects(w, l->now)))
		send_tick(w, l->now);
	if ((gap <= w->slice || l->now >= until) && w->next < l->next)
		l->next = w->next;
}

static void watch_move(void)
{
	if (watch.moved)
		sched_setaffinity(0, sizeof(watch.cpus), &watch.cpus);
	watch.moved = false;
}

static void watch_look(struct look *l)
{
	struct tux_list *n;

	pthread_mutex_lock(&watch.lock);
	watch_move();
	*l = (struct look){ .now = tux_tick_read(), .next = TUX_NEVER,
			    .gap = TUX_NEVER };
	TUX_LIST_EACH(n, &watch.all)
		watch_look_at(l, TUX_CONTAINER(n, struct tux_watch, node));
	pthread_mutex_unlock(&watch.lock);
	/* Where each slice is watched, a thread that enters right after this is
	 * seen before its slice ends. */
	if (l->gap < TUX_NEVER && l->next - l->now > l->gap)
		l->next = l->now + l->gap;
}

static void watch_sleep(tux_tick t)
{
	struct timespec ts;

	TUX_SYS(SYS_nanosleep, tux_clock_until(&ts, tux_tick_ns(t), 0), 0, 0, 0,
		0, 0);
}

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* Until a thread enters: either that thread sees that the watcher sleeps, or
 * the watcher sees that it entered. */
static void sleep_for_good(void)
{
	struct look l;

	atomic_store(&tux_watch_asleep, 1);
	watch_look(&l);
	while (!l.any && atomic_load(&tux_watch_asleep))
		tux_sys_futex(&tux_watch_asleep,
			      FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1, NULL);
	atomic_store(&tux_watch_asleep, 0);
}

void tux_watch_wake(void)
{
	if (atomic_exchange(&tux_watch_asleep, 0))
		tux_sys_futex(&tux_watch_asleep,
			      FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL);
}

/* @idle: for how long no thread has entered a routine.  There may be none at
 * all. */
static void watch_wait(const struct look *l, tux_tick idle)
{
	tux_tick left = l->next - l->now;
	tux_tick near = tux_tick_of(TUX_USEC(SHORT_US));

	if (idle > tux_tick_of(TUX_USEC(IDLE_US)) || l->gap == TUX_NEVER)
		sleep_for_good();
	else if (watch.alone || idle > tux_tick_of(TUX_USEC(SPIN_US)))
		watch_sleep(left);
	else if (left > near)
		watch_sleep(left - near);
	else
		relax();
}

static void *watcher(void *arg)
{
	tux_tick last = tux_tick_read();
	struct look l;

	(void)arg;
	TUX_SYS(SYS_prctl, PR_SET_NAME, "tux-watch", 0, 0, 0, 0);
	TUX_SYS(SYS_prctl, PR_SET_TIMERSLACK, 1, 0, 0, 0, 0);
	for (;;) {
		watch_look(&l);
		if (l.any)
			last = l.now;
		watch_wait(&l, l.now - last);
	}
	return NULL;
}

/* In a forked child there is no watcher, nor any network thread. */
static void forked(void)
{
	pthread_mutex_init(&watch.lock, NULL);
	tux_list_init(&watch.all);
	watch.started = false;
	watch.slots = 0;
	memset(tux_watch_sent, 0, sizeof(tux_watch_sent));
	atomic_store(&tux_watch_asleep, 0);
}

static int watch_start(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	if (!watch.hooked && pthread_atfork(NULL, NULL, forked))
		return -ENOMEM;
	watch.hooked = true;
	watch.moved = true;
	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = tux_thread_start(&thread, &attr, watcher, NULL);
	pthread_attr_destroy(&attr);
	watch.started = !err;
	return err;
}

/* It spins, and is wanted when the thread that it watches runs. */
static void keep_away(void)
{
	cpu_set_t mine;
	unsigned i;

	if (sched_getaffinity(0, sizeof(mine), &mine) || CPU_COUNT(&mine) != 1)
		return;
	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &mine) && CPU_ISSET(i, &watch.cpus) &&
		    CPU_COUNT(&watch.cpus) > 1) {
			CPU_CLR(i, &watch.cpus);
			watch.moved = true;
		}
}

/* Before the application ties its threads to processors: those are for them. */
static __attribute__((constructor)) void see_cpus(void)
{
	sched_getaffinity(0, sizeof(watch.cpus), &watch.cpus);
	watch.alone = CPU_COUNT(&watch.cpus) < 2;
}

int tux_watch_add(struct tux_watch *w, int sig)
{
	int err = 0;

	w->tid = (int)TUX_SYS(SYS_gettid, 0, 0, 0, 0, 0, 0);
	w->sig = sig;
	pthread_mutex_lock(&watch.lock);
	if (!~watch.slots)
		err = -ENOSPC;
	else if (!watch.started)
		err = watch_start();
	if (!err) {
		keep_away();
		w->slot = (unsigned)__builtin_ctzll(~watch.slots);
		watch.slots |= UINT64_C(1) << w->slot;
		tux_watch_arrived(w->slot);
		tux_list_push(&watch.all, &w->node);
	}
	pthread_mutex_unlock(&watch.lock);
	/* It may be inside already, as after an exec that came to nothing. */
	tux_watch_wake();
	return err;
}

void tux_watch_remove(struct tux_watch *w)
{
	pthread_mutex_lock(&watch.lock);
	if (!tux_list_empty(&w->node))
		watch.slots &= ~(UINT64_C(1) << w->slot);
	tux_list_remove(&w->node);
	pthread_mutex_unlock(&watch.lock);
}
