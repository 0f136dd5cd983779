/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/setxid.h"

#include "run/sched_in.h"

#if defined(TUX_SWITCH_ASM) && defined(TUX_PREEMPTION) && defined(__GLIBC__)

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include "sys/sys.h"

enum { SETXID = 33 };			/* glibc's __SIGRTMIN + 1 */

/* As the kernel has it: libc does not let its own signals be looked at. */
struct action {
	void (*fn)(int, siginfo_t *, void *);
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static struct action libc_action;

/* A donor that is asked itself has its own storage, which names a routine. */
static bool is_lent(const struct tux_routine *r, const ucontext_t *uc)
{
	const void *sp = (const void *)uc->uc_mcontext.gregs[REG_RSP];

	return r && r->sched && r->sched->tls &&
	       !tux_donor_parks_at(&r->donor, sp);
}

static void setxid_as_thread(int sig, siginfo_t *info, void *context)
{
	struct tux_routine *r = tux_here.routine;
	bool lent = is_lent(r, context);

	if (lent)
		tux_switch_take_tls(&r->sched->net);
	libc_action.fn(sig, info, context);
	if (lent)
		tux_switch_take_tls(&r->at);
}

static void setxid_init(void)
{
	struct action a;

	if (!tux_switch_has_tls() ||
	    TUX_SYS(SYS_rt_sigaction, SETXID, 0, (long)&libc_action,
		    sizeof(a.mask), 0, 0) ||
	    (void *)libc_action.fn == (void *)SIG_DFL ||
	    (void *)libc_action.fn == (void *)SIG_IGN)
		return;
	a = libc_action;
	a.fn = setxid_as_thread;
	TUX_SYS(SYS_rt_sigaction, SETXID, (long)&a, 0, sizeof(a.mask), 0, 0);
}

void tux_setxid_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, setxid_init);
}

#else

void tux_setxid_init(void)
{
}

#endif
