/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The application's own signals: raised in a routine, on its stack or on the
 * alternate one, sent by a timer at any moment, and blocked for a while.
 */
#include "torture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "run/sched.h"

static __thread struct hand *volatile on;	/* whose handler runs */

static void catch(int sig, int flags, void (*fn)(int))
{
	struct sigaction a = { .sa_handler = fn, .sa_flags = flags };

	sigemptyset(&a.sa_mask);
	must(!sigaction(sig, &a, NULL));
}

/* ---- on the routine's stack -------------------------------------------- */

static void on_raised(int sig)
{
	int err = errno;

	(void)sig;
	torture_linger(on, 3000);
	on->n++;
	errno = err;
}

static const char *raise_open(void)
{
	catch(SIGUSR1, SA_RESTART, on_raised);
	return NULL;
}

static void raise_step(struct hand *h)
{
	uint64_t before = h->n;

	on = h;
	errno = EXDEV;
	must(!raise(SIGUSR1));
	must(h->n == before + 1);
	must(errno == EXDEV);
	torture_linger(h, 2000);
	must(!pthread_kill(pthread_self(), SIGUSR1));
	must(h->n == before + 2);
	torture_linger(h, 2000);
}

const struct work work_raise = {
	.name = "raise", .hands = 3, .thread = true,
	.open = raise_open, .step = raise_step,
};

/* ---- on the alternate stack --------------------------------------------- */

enum {
	ALT_LEN = 64 << 10,
};

static _Alignas(16) uint8_t alt[ALT_LEN];	/* of the network thread */

static void on_alternate(int sig)
{
	volatile uint8_t fill[4096];
	unsigned i, id = on->id;

	(void)sig;
	for (i = 0; i < sizeof(fill); i++)
		fill[i] = (uint8_t)(id + i);
	torture_linger(on, 3000);
	for (i = 0; i < sizeof(fill) && fill[i] == (uint8_t)(id + i); i++)
		;
	must(i == sizeof(fill) && on->id == id);
	on->n++;
}

static const char *alternate_open(void)
{
	stack_t st = { .ss_sp = alt, .ss_size = sizeof(alt) };

	/* Not blocked in its own handler: only where the stack lies says that
	 * this is no moment to change it. */
	catch(SIGUSR2, SA_RESTART | SA_ONSTACK | SA_NODEFER, on_alternate);
	return sigaltstack(&st, NULL) ? "sigaltstack" : NULL;
}

static void alternate_step(struct hand *h)
{
	uint64_t before = h->n;
	stack_t st;

	if (!h->own && !sigaltstack(NULL, &st) && st.ss_flags & SS_DISABLE) {
		h->own = malloc(ALT_LEN);
		st = (stack_t){ .ss_sp = h->own, .ss_size = ALT_LEN };
		must(!sigaltstack(&st, NULL));
	}
	on = h;
	must(!raise(SIGUSR2));
	must(h->n == before + 1);
	torture_linger(h, 2000);
}

static void alternate_leave(struct hand *h)
{
	stack_t st = { .ss_flags = SS_DISABLE };

	if (h->own)
		must(!sigaltstack(&st, NULL));
	free(h->own);
}

static void alternate_close(void)
{
	stack_t st = { .ss_flags = SS_DISABLE };

	must(!sigaltstack(&st, NULL));
}

const struct work work_altstack = {
	.name = "altstack", .hands = 3, .thread = true,
	.open = alternate_open, .step = alternate_step,
	.leave = alternate_leave, .close = alternate_close,
};

/* ---- a timer's ------------------------------------------------------------ */

static timer_t timer;
static atomic_long fired;

static void on_timer(int sig)
{
	static uint64_t state = 1;	/* the signal is blocked here */
	int err = errno;
	unsigned i;

	(void)sig;
	for (i = 0; i < 3000; i++)
		state = state * 6364136223846793005u + 1442695040888963407u;
	errno = (int)(state >> 60) + 1;
	atomic_fetch_add(&fired, 1);
	errno = err;
}

static const char *timer_open(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID };
	struct itimerspec every = {
		.it_interval.tv_nsec = 270000, .it_value.tv_nsec = 270000,
	};

	catch(SIGALRM, SA_RESTART, on_timer);
	ev.sigev_signo = SIGALRM;
	ev._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer))
		return "no timer";
	return timer_settime(timer, 0, &every, NULL) ? "timer" : NULL;
}

static void timer_step(struct hand *h)
{
	int fd[2], err;
	char c = 0;

	must(!pipe(fd));
	errno = ENOTTY;
	torture_linger(h, 4000);
	err = errno;
	must(err == ENOTTY);
	must(write(fd[1], "x", 1) == 1);
	while (read(fd[0], &c, 1) < 0)
		must(errno == EINTR);
	must(c == 'x');
	must(!close(fd[0]) && !close(fd[1]));
}

static void timer_close(void)
{
	timer_delete(timer);
	must(atomic_load(&fired) > 0);
	catch(SIGALRM, 0, SIG_IGN);
}

const struct work work_timer = {
	.name = "timer", .hands = 2,
	.open = timer_open, .step = timer_step, .close = timer_close,
};

/* ---- blocked for a while --------------------------------------------------- */

static void on_unblocked(int sig)
{
	(void)sig;
	on->n++;
}

static const char *mask_open(void)
{
	catch(SIGVTALRM, SA_RESTART, on_unblocked);
	return NULL;
}

static bool blocked(void)
{
	sigset_t now;

	must(!pthread_sigmask(SIG_BLOCK, NULL, &now));
	return sigismember(&now, SIGVTALRM) == 1;
}

static void mask_step(struct hand *h)
{
	uint64_t before = h->n;
	sigset_t set, old;

	/* Who is preempted has a mask in his frame; who yields finds what there
	 * is, which is not to be that of another who has yielded. */
	if (hand_below(h, 4) == 0)
		tux_sched_yield();
	must(!blocked());
	on = h;
	sigemptyset(&set);
	sigaddset(&set, SIGVTALRM);
	must(!pthread_sigmask(SIG_BLOCK, &set, &old));
	must(!sigismember(&old, SIGVTALRM));
	torture_linger(h, 3000);
	must(blocked());
	if (hand_below(h, 32) == 0) {
		tux_sched_yield();
		must(blocked());
	}
	must(!raise(SIGVTALRM));
	torture_linger(h, 1000);
	must(h->n == before && blocked());
	must(!pthread_sigmask(SIG_SETMASK, &old, NULL));
	must(h->n == before + 1 && !blocked());
	torture_spin(h, 20000);
}

const struct work work_mask = {
	.name = "mask", .hands = 2, .thread = true,
	.open = mask_open, .step = mask_step,
};
