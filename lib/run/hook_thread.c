/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routines as threads. A routine that asks for its thread is told the one that
 * lends its storage; that thread is parked and hears nothing.
 */
#include "run/hook.h"

#if TUX_HOOKED

#include <errno.h>

#include "run/sched_in.h"

/* Does @t lend its storage?  With glibc a thread is named by where it begins. */
static bool lends(pthread_t t)
{
#ifdef TUX_SWITCH_ASM
	char *self = __builtin_thread_pointer();
	struct tux_here *h;

	h = (void *)((char *)t + ((char *)&tux_here - self));
	return (pthread_t)self == pthread_self() && h->routine &&
	       h->routine->sched->tls;
#else
	(void)t;
	return false;
#endif
}

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
	if (!lends(t))
		return tux_real()->pthread_cancel(t);
	tux_hook_say("pthread_cancel: a routine cannot be cancelled");
	return ENOTSUP;
}

/* To unwind would end the thread that owns this storage, on a stack that is in
 * use.  What the callback holds stays held, as if it never returned. */
TUX_HOOK void pthread_exit(void *value)
{
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
