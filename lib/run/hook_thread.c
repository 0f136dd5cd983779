/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routines as threads. A routine that asks for its thread is told the one that
 * lends its storage; that thread is parked and hears nothing.
 */
#include "run/hook.h"

#if TUX_HOOKED

#include <errno.h>

#include "run/blocking.h"
#include "run/sched_in.h"

#ifdef TUX_SWITCH_ASM

/* With glibc a thread is named by where its storage begins. */
static bool is_named_by_storage(void)
{
	return (pthread_t)__builtin_thread_pointer() == pthread_self();
}

/* What is in the storage of @t.  Its caller does not compare it with NULL, for the
 * reason of TUX_HERE_MODEL. */
static const struct tux_here *here_of(pthread_t t)
{
	char *self = __builtin_thread_pointer();

	return (void *)((char *)t + ((char *)&tux_here - self));
}

/* Does @t lend its storage? */
static bool lends(pthread_t t)
{
	const struct tux_routine *r;

	if (!is_named_by_storage())
		return false;
	r = here_of(t)->routine;
	return r && r->sched->tls;
}

/* Does @t make a call of a routine, as a thread?  Signals are welcome then. */
static bool makes_call(pthread_t t)
{
	return is_named_by_storage() && here_of(t)->lent_to;
}

#else

static bool lends(pthread_t t)
{
	(void)t;
	return false;
}

static bool makes_call(pthread_t t)
{
	(void)t;
	return false;
}

#endif

/* libc looks at the caller before it looks at the name. */
TUX_HOOK int pthread_kill(pthread_t t, int sig)
{
	if (t == pthread_self() || !sig || !lends(t))
		return tux_real()->pthread_kill(t, sig);
	tux_hook_say("pthread_kill: a routine gets no signal from another");
	return ENOTSUP;
}

TUX_HOOK int pthread_cancel(pthread_t t)
{
	if (!lends(t) && !makes_call(t))
		return tux_real()->pthread_cancel(t);
	tux_hook_say("pthread_cancel: a routine cannot be cancelled");
	return ENOTSUP;
}

/* To unwind would end the thread that owns this storage, on a stack that is in
 * use.  What the callback holds stays held, as if it never returned. */
TUX_HOOK void pthread_exit(void *value)
{
	if (tux_here.lent_to)
		tux_blocking_end();
	if (tux_here.routine) {
		tux_hook_say("pthread_exit in a callback: it stands still");
		for (;;)
			tux_sched_block();
	}
	tux_real()->pthread_exit(value);
	__builtin_unreachable();
}

/* Noted, for the next callback there is to find the one before. */
TUX_HOOK locale_t uselocale(locale_t l)
{
	struct tux_routine *r = tux_here.routine;
	locale_t before = tux_real()->uselocale(l);

	if (r && l && !r->localed)
		r->locale = before;
	if (r && l)
		r->localed = l != r->locale;
	return before;
}

TUX_HOOK int pthread_mutexattr_setprotocol(pthread_mutexattr_t *a, int protocol)
{
	if (protocol != PTHREAD_PRIO_INHERIT || !tux_sched_ever())
		return tux_real()->pthread_mutexattr_setprotocol(a, protocol);
	tux_hook_say("PTHREAD_PRIO_INHERIT: not with routines");
	return ENOTSUP;
}

#endif
