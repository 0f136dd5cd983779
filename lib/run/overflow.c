/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/overflow.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <ucontext.h>

#include "run/sched_in.h"
#include "sys/area.h"
#include "sys/sys.h"

enum { STACK = 64 * 1024, LINE = 128 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;		/* changed under the lock */
static __thread struct { char *frame; void *context; } passing
	__attribute__((tls_model("initial-exec")));

static void overflow_say(const struct tux_routine *r)
{
	const struct tux_sched_opts *o = &r->sched->o;
	char line[LINE];

	if (!o->say)
		return;
	snprintf(line, sizeof(line),
		 "routine %u has used up its stack of %zu KiB", r->number,
		 (size_t)(r->donor.top - r->donor.low) / 1024);
	o->say(line, o->arg);
}

/* With what was there before us, the instruction that faulted is run again; a
 * signal that somebody sent has to be sent again. */
static void die(int sig, const siginfo_t *info)
{
	sigaction(sig, &before, NULL);
	if (info->si_code <= 0)
		raise(sig);
}

static bool is_default(const struct sigaction *a)
{
	return !(a->sa_flags & SA_SIGINFO) &&
	       (a->sa_handler == SIG_DFL || a->sa_handler == SIG_IGN);
}

/* Did it happen on the alternate stack? */
static bool on_alternate(const ucontext_t *uc)
{
#ifdef __x86_64__
	uintptr_t low = (uintptr_t)uc->uc_stack.ss_sp;
	uintptr_t sp = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];

	return sp >= low && sp - low < uc->uc_stack.ss_size;
#else
	(void)uc;
	return false;
#endif
}

/* The handler that was installed before may have been called after this one
 * once, and pass the fault on to it. A handler that has left by siglongjmp()
 * does not count. */
static bool is_within(char *frame, const ucontext_t *uc)
{
	return passing.frame && frame < passing.frame &&
	       (uc == passing.context || on_alternate(uc));
}

static void pass_on(int sig, siginfo_t *info, void *context)
{
	char *frame = __builtin_frame_address(0);

	if (is_within(frame, context))
		before = (struct sigaction){ .sa_handler = SIG_DFL };
	if (is_default(&before)) {
		die(sig, info);
		return;
	}
	passing.frame = frame;
	passing.context = context;
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(sig, info, context);
	else
		before.sa_handler(sig);
	passing.frame = NULL;
}

/* The routine that runs here, or that has this thread make a call. */
static struct tux_routine *overflow_routine(void)
{
	return tux_here.routine ? tux_here.routine : tux_here.lent_to;
}

/* A tick in the middle would leave the alternate stack to the next fault; a
 * call that may not return must leave the routine preemptible. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	struct tux_routine *r = overflow_routine();
	int err = errno;

	if (r && info->si_code > 0 &&
	    tux_donor_overflows(&r->donor, info->si_addr)) {
		tux_here.preempt_count++;
		overflow_say(r);
		die(sig, info);
		tux_here.preempt_count--;
	} else {
		pass_on(sig, info, context);
	}
	errno = err;
}

static bool overflow_is_ours(const struct sigaction *a)
{
	return a->sa_flags & SA_SIGINFO && a->sa_sigaction == on_fault;
}

void tux_overflow_init(void)
{
	struct sigaction now, a = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	pthread_mutex_lock(&lock);
	if (!sigaction(SIGSEGV, NULL, &now) && !overflow_is_ours(&now)) {
		before = now;
		sigaction(SIGSEGV, &a, NULL);
	}
	pthread_mutex_unlock(&lock);
}

int tux_overflow_open(void **stack)
{
	stack_t mine = { .ss_size = STACK }, old;
	int err;

	*stack = NULL;
	if (sigaltstack(NULL, &old))
		return -errno;
	if (!(old.ss_flags & SS_DISABLE))
		return 0;
	err = tux_area_map(&mine.ss_sp, STACK, TUX_AREA_PRIVATE);
	if (err)
		return err;
	if (sigaltstack(&mine, NULL)) {
		err = -errno;
		tux_area_unmap(mine.ss_sp, STACK);
		return err;
	}
	*stack = mine.ss_sp;
	return 0;
}

void tux_overflow_close(void *stack)
{
	stack_t none = { .ss_flags = SS_DISABLE }, now;

	if (!stack)
		return;
	if (!sigaltstack(NULL, &now) && now.ss_sp == stack)
		sigaltstack(&none, NULL);
	tux_area_unmap(stack, STACK);
}
