/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signal - a handler of ours in front of each of the application's
 *
 * The kernel calls ours, which defers the signal if the thread is inside the
 * library, and else calls the application's.  The kernel's table stays the one
 * that counts: `handlers` says only what stands behind ours.
 *
 * Ours is set with SA_SIGINFO, as a deferred signal must come back with what
 * its sender gave, and without SA_RESETHAND, since it may come twice.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/observer.h"
#include "sys/defer.h"

struct handler {
	void (*_Atomic fn)(int, siginfo_t *, void *);
	_Atomic int flags;	/* SA_*, as the application set them */
};

static struct handler handlers[_NSIG];
static _Atomic bool interrupts[_NSIG];	/* siginterrupt() was called */

static bool signal_known(int sig)
{
	return sig > 0 && sig < _NSIG;
}

/* ---- the handler ------------------------------------------------------ */

/* As the kernel does it: what else is set stays. */
static void reset(int sig)
{
	struct sigaction a;

	if (libc.sigaction(sig, NULL, &a))
		return;
	a.sa_handler = SIG_DFL;
	libc.sigaction(sig, &a, NULL);
}

/* Handlers of one argument find it in the first place, too. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	struct handler *h = &handlers[sig];
	int flags = atomic_load(&h->flags), saved = errno;

	if (tux_defer_signal(sig, info, context, flags & SA_RESTART))
		return;
	if (flags & (int)SA_RESETHAND)
		reset(sig);
	errno = saved;
	tux_defer_call(atomic_load(&h->fn), sig, info, context);
}

/* ---- setting it ------------------------------------------------------- */

static bool is_function(const struct sigaction *a)
{
	return a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN;
}

/* Puts ours in front of what @a sets. */
static struct sigaction put_before(int sig, const struct sigaction *a)
{
	struct sigaction ours = *a;

	atomic_store(&handlers[sig].fn, a->sa_sigaction);
	atomic_store(&handlers[sig].flags, a->sa_flags);
	ours.sa_sigaction = on_signal;
	ours.sa_flags |= SA_SIGINFO;
	ours.sa_flags &= ~(int)SA_RESETHAND;
	return ours;
}

/* What the application set, where the kernel has ours. */
static void look_behind(struct sigaction *a,
			void (*fn)(int, siginfo_t *, void *), int flags)
{
	const int ours = SA_SIGINFO | (int)SA_RESETHAND;

	if (a->sa_sigaction != on_signal)
		return;
	a->sa_sigaction = fn;
	a->sa_flags = (a->sa_flags & ~ours) | (flags & ours);
}

/* A child after vfork() shares the table with its parent, but not what the
 * kernel has: it sets no handlers, or its own without ours. */
static bool takes_ours(const struct sigaction *a)
{
	return a && is_function(a) && a->sa_sigaction != on_signal &&
	       !process_is_sandboxed() && !process_is_vfork();
}

/* The kernel calls the application's handlers from now on: nothing defers a
 * signal any more. */
static void signal_over(void)
{
	for (int sig = 1; sig < _NSIG; sig++) {
		struct handler *h = &handlers[sig];
		struct sigaction a;

		if (libc.sigaction(sig, NULL, &a) ||
		    a.sa_sigaction != on_signal)
			continue;
		look_behind(&a, atomic_load(&h->fn), atomic_load(&h->flags));
		libc.sigaction(sig, &a, NULL);
	}
}

/* Last, since a handler may come upon a thread that holds a latch of
 * another. */
static struct observer observer = { .over = signal_over };

HOOK int sigaction(int sig, const struct sigaction *a, struct sigaction *old)
{
	void (*fn)(int, siginfo_t *, void *);
	struct sigaction ours;
	int flags, r;

	if (!signal_known(sig))
		return libc.sigaction(sig, a, old);
	fn = atomic_load(&handlers[sig].fn);
	flags = atomic_load(&handlers[sig].flags);
	if (takes_ours(a)) {
		observer_add(&observer);
		ours = put_before(sig, a);
		a = &ours;
	}
	r = libc.sigaction(sig, a, old);
	if (r && a == &ours) {
		atomic_store(&handlers[sig].fn, fn);
		atomic_store(&handlers[sig].flags, flags);
	}
	if (!r && old)
		look_behind(old, fn, flags);
	return r;
}

/* ---- older ways to set it --------------------------------------------- */

static sighandler_t set(int sig, sighandler_t fn, int flags, bool masked)
{
	struct sigaction a = { .sa_handler = fn, .sa_flags = flags }, old;

	sigemptyset(&a.sa_mask);
	if (masked)
		sigaddset(&a.sa_mask, sig);
	if (fn != SIG_ERR && signal_known(sig))
		return sigaction(sig, &a, &old) ? SIG_ERR : old.sa_handler;
	errno = EINVAL;
	return SIG_ERR;
}

HOOK sighandler_t signal(int sig, sighandler_t fn)
{
	bool ends = signal_known(sig) && atomic_load(&interrupts[sig]);

	return set(sig, fn, ends ? 0 : SA_RESTART, true);
}

/* Of old programs; <signal.h> declares it no more. */
sighandler_t bsd_signal(int sig, sighandler_t fn);

HOOK sighandler_t bsd_signal(int sig, sighandler_t fn)
{
	return signal(sig, fn);
}

HOOK sighandler_t ssignal(int sig, sighandler_t fn)
{
	return signal(sig, fn);
}

HOOK sighandler_t sysv_signal(int sig, sighandler_t fn)
{
	return set(sig, fn, (int)SA_RESETHAND | SA_NODEFER, false);
}

HOOK sighandler_t __sysv_signal(int sig, sighandler_t fn)
{
	return sysv_signal(sig, fn);
}

/* Sets a handler and lets the signal in; or blocks it, for SIG_HOLD. */
HOOK sighandler_t sigset(int sig, sighandler_t fn)
{
	sigset_t one, before;
	struct sigaction old;
	sighandler_t was;

	if (!signal_known(sig) || sigaction(sig, NULL, &old)) {
		errno = EINVAL;
		return SIG_ERR;
	}
	was = fn == SIG_HOLD ? old.sa_handler : set(sig, fn, 0, false);
	if (was == SIG_ERR)
		return SIG_ERR;
	sigemptyset(&one);
	sigaddset(&one, sig);
	sigprocmask(fn == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &one, &before);
	return sigismember(&before, sig) ? SIG_HOLD : was;
}

HOOK int siginterrupt(int sig, int ends)
{
	struct sigaction a;

	if (!signal_known(sig) || sigaction(sig, NULL, &a)) {
		errno = EINVAL;
		return -1;
	}
	atomic_store(&interrupts[sig], ends != 0);
	a.sa_flags = ends ? a.sa_flags & ~SA_RESTART : a.sa_flags | SA_RESTART;
	return sigaction(sig, &a, NULL);
}
