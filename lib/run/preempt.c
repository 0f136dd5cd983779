/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/preempt.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "run/mask.h"
#include "run/preempt_in.h"
#include "run/routine.h"
#include "run/sched_in.h"
#include "sys/sys.h"
#include "tick/critical.h"
#include "tick/tick_signal.h"

#if defined(TUX_SWITCH_ASM) && defined(TUX_PREEMPTION)

enum {
	PATIENCE = 20,			/* ticks, with preempt_count set; */
	PATIENCE_CODE = 200,		/* and in critical code */
	RESTORER_LEN = 16,		/* of libc's code behind a handler */
	OPCODE_LEN = 2,			/* of a system call, */
	BEFORE = 7,			/* and with what says its number; */
	SYSCALL_LEN = 64,		/* and of libc's function for any */
	PAGE = 4096,
};

_Static_assert(offsetof(struct tux_here, preempt_count) ==
	       TUX_HERE_PREEMPT_COUNT, "the handler finds it there");

struct place {
	uintptr_t pc, sp;
	long ax;
	uint64_t mask;			/* of the signals that are blocked */
};

/* libc's own, also where the program has another in front of it. */
static uintptr_t libc_syscall;

static bool is_syscall(const uint8_t *p)
{
	return p[0] == 0x0f && p[1] == 0x05;
}

/* What allocators call with their locks held, and what does not wait: a routine
 * that is preempted there keeps the network thread from freeing memory.  And what
 * raise() asks for: the routine may go on in another thread. */
static bool is_brief(long nr)
{
	return nr == SYS_mmap || nr == SYS_munmap || nr == SYS_mprotect ||
	       nr == SYS_madvise || nr == SYS_brk || nr == SYS_mremap ||
	       nr == SYS_gettid || nr == SYS_getpid;
}

/* In a system call that is not over: one that is begun again after the handler,
 * at the instruction; else behind it, with its error. */
static bool waits(const struct place *at)
{
	const uint8_t *p = (const uint8_t *)at->pc;

	if (is_syscall(p))
		return !is_brief(at->ax);
	return at->ax == -EINTR && at->pc % PAGE >= OPCODE_LEN &&
	       is_syscall(p - OPCODE_LEN);
}

/* The number of the call before @p, as libc's code says it: by the instruction
 * before, into eax.  -1: cannot be told. */
static long call_before(const uint8_t *p)
{
	int32_t nr;

	p -= OPCODE_LEN;
	if (p[-2] == 0x31 && p[-1] == 0xc0)
		return SYS_read;
	if (p[-5] != 0xb8)
		return -1;
	memcpy(&nr, p - 4, sizeof(nr));
	return nr;
}

/* The tick came during a system call, which is over now. A routine that reads
 * files all the time is hardly ever found elsewhere. */
static bool is_back(const struct place *at)
{
	const uint8_t *p = (const uint8_t *)at->pc;
	long nr;

	if (at->pc - libc_syscall < SYSCALL_LEN)
		return true;
	if (at->pc % PAGE < BEFORE || !is_syscall(p - OPCODE_LEN))
		return false;
	nr = call_before(p);
	return nr >= 0 && !is_brief(nr);
}

static bool in_handler(const struct place *at, const char *restorer)
{
	uintptr_t start = (uintptr_t)tux_preempt_handler;
	uintptr_t end = (uintptr_t)tux_preempt_handler_end;

	return (at->pc >= start && at->pc < end) ||
	       (at->pc >= (uintptr_t)restorer &&
		at->pc < (uintptr_t)restorer + RESTORER_LEN);
}

/* In a handler of the application's, on the one alternate stack that there is
 * for all; or with signals blocked, as in most handlers, and so with a mask
 * that would be the others', too. */
static bool in_signal(struct tux_routine *r, const struct place *at)
{
	if (at->sp < (uintptr_t)r->donor.low ||
	    at->sp >= (uintptr_t)r->donor.top)
		return true;
	r->strange |= at->mask != r->sched->mask;
	return at->mask != r->sched->mask;
}

/* Did the routine turn preemption off?  The handler itself counts for one. */
static bool is_off(void)
{
	return tux_here.preempt_count > 1;
}

/* The end of the region acts on the tick.  Until then, further ticks only look whether
 * the routine @waits in the kernel.  One that computes gets them ever more rarely,
 * since they cost more than anything else in a long region. */
static bool may_escape(struct tux_routine *r, bool waits)
{
	tux_here.pending = 1;
	if (!waits)
		tux_watch_later(&r->sched->watch, tux_tick_read());
	return waits && r->skipped >= PATIENCE;
}

static bool may_go(struct tux_routine *r, const struct place *at,
		   const char *restorer)
{
	if (in_handler(at, restorer) || in_signal(r, at))
		return false;
	if (is_off())
		return may_escape(r, waits(at));
	return !tux_critical_has(at->pc) || waits(at) || is_back(at) ||
	       r->skipped >= PATIENCE_CODE;
}

/* What the routine finds when it goes on is the thread's as it is then, and not
 * as it was: the alternate stack may be another, and the mask of signals. */
static void preempt_leave(struct tux_routine *r, const struct place *at,
			  ucontext_t *uc)
{
	if (is_off())
		r->sched->stats.escapes++;
	r->sched->stats.preemptions++;
	r->preempted++;
	r->in_critical = is_off() || tux_critical_has(at->pc);
	r->waits = waits(at);
	tux_routine_leave(r, TUX_ROUTINE_READY);
	TUX_SYS(SYS_sigaltstack, 0, (long)&uc->uc_stack, 0, 0, 0, 0);
	memcpy(&uc->uc_sigmask, &r->sched->mask, sizeof(r->sched->mask));
}

static bool wants_lock(const struct place *at)
{
	return is_syscall((const uint8_t *)at->pc) && at->ax == SYS_futex;
}

/* Does the thread, which is the application's, wait for a lock that a routine
 * may have, which runs in no other thread?  If it does not, it is asked less
 * and less often: other calls end when a signal comes. */
static bool may_rescue(const struct place *at)
{
	struct tux_sched *s = tux_here.left;

	if (!s || s->thread != tux_here.thread)
		return false;
	if (!is_off() && wants_lock(at))
		return true;
	for (; s; s = s->after)
		if (s->in_critical_n)
			tux_watch_later(&s->watch, tux_tick_read());
	return false;
}

static void rescue(void)
{
	int err = errno;

	tux_sched_drain(tux_here.left);
	errno = err;
}

/* Is the slice over, and the routine where it can be preempted? */
static bool may_preempt(struct tux_routine *r, const struct place *at,
			const char *restorer)
{
	if (!r->sched || !tux_watch_over(&r->sched->watch, tux_tick_read()))
		return false;
	if (may_go(r, at, restorer))
		return true;
	r->skipped++;
	r->sched->stats.skipped++;
	return false;
}

/* The watcher hears of it when the work is done: a tick that it sends now waits
 * until the handler has returned, or put a mask in place that lets it come. */
void tux_preempt_tick(int sig, siginfo_t *info, void *context,
		      const char *restorer)
{
	ucontext_t *uc = context;
	struct tux_routine *r = tux_here.routine;
	struct place at = {
		.pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP],
		.sp = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP],
		.ax = uc->uc_mcontext.gregs[REG_RAX],
	};
	bool go;

	memcpy(&at.mask, &uc->uc_sigmask, sizeof(at.mask));
	(void)sig;
	go = r ? may_preempt(r, &at, restorer) : may_rescue(&at);
	if (info->si_code == SI_QUEUE)
		tux_watch_arrived((unsigned)info->si_value.sival_int);
	if (!go)
		return;
	tux_mask_put(at.mask);
	if (r)
		preempt_leave(r, &at, uc);
	else
		rescue();
}

/* ---- the signal ---- */

static int signal_nr;

static void install(void)
{
	libc_syscall = (uintptr_t)dlsym(RTLD_NEXT, "syscall");
	signal_nr = tux_tick_signal_take(tux_preempt_handler);
}

int tux_preempt_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
	return signal_nr;
}

#else

int tux_preempt_init(void)
{
	return -ENOSYS;
}

#endif
