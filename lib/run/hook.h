/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hook - calls of the C library that would do harm in a routine
 *
 * A routine has a thread's storage, but the kernel knows the thread by another:
 * libtux replaces the few calls to which that matters, and those that would put
 * the network thread to sleep where a routine can sleep alone.  In the library
 * they are exported, in a program that links the archive they are in front of
 * libc's.  Outside of routines each does what libc does.
 *
 *   setuid ...	       libc makes all threads do it, and waits until each says so
 *		       in its own storage: the caller's is put back meanwhile
 *   pthread_sigmask, sigprocmask
 *		       the mask is the routine's, and is put aside while another
 *		       runs; the signal that ends slices is not in it
 *   sigaction, signal leave that signal alone: EINVAL
 *   ppoll, pselect, epoll_pwait, sigsuspend
 *		       it is not in their mask, either
 *   sigwait, sigwaitinfo, sigtimedwait
 *		       do not wait for it
 *   fork	       is over before the routine is preempted: the locks of the
 *		       allocator are held meanwhile
 *   execve, execv, execvp, execvpe, fexecve
 *		       the new program gets none of our signals
 *   nanosleep, clock_nanosleep, usleep, sleep, sched_yield
 *		       only the routine sleeps
 *   pthread_kill      to a routine that is not the caller's: ENOTSUP
 *   pthread_cancel    of a routine: ENOTSUP
 *   pthread_exit      in a routine: it stands still from then on
 *   pthread_mutexattr_setprotocol
 *		       once there are routines, PTHREAD_PRIO_INHERIT is ENOTSUP:
 *		       the kernel takes the owner for a thread, and finds the wrong
 *		       one
 *   uselocale	       in a routine: until the callback returns
 */
#ifndef TUX_RUN_HOOK_H
#define TUX_RUN_HOOK_H

#include <grp.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "run/fiber.h"

/* Sanitizers replace the same calls; nothing is preempted there.  Nor is anything
 * with --disable-preemption, and libc's calls stay as they are. */
#ifdef TUX_PREEMPTION
#define TUX_HOOKED (!TUX_FIBERS)
#else
#define TUX_HOOKED 0
#endif

#define TUX_HOOK __attribute__((visibility("default")))

/* Each of them; exported without a version, as libtux.map says. */
#define TUX_HOOKS(X) \
	X(setuid) X(setgid) X(seteuid) X(setegid) X(setreuid) X(setregid) \
	X(setresuid) X(setresgid) X(setgroups) X(initgroups) \
	X(pthread_sigmask) X(sigprocmask) X(sigaction) X(signal) \
	X(ppoll) X(pselect) X(epoll_pwait) X(sigsuspend) \
	X(sigwait) X(sigwaitinfo) X(sigtimedwait) \
	X(fork) X(execve) X(execv) X(execvp) X(execvpe) X(fexecve) \
	X(nanosleep) X(clock_nanosleep) X(usleep) X(sleep) X(sched_yield) \
	X(pthread_kill) X(pthread_cancel) X(pthread_exit) \
	X(pthread_mutexattr_setprotocol) X(uselocale)

/* The functions behind them. */
struct tux_real {
#define X(name) __typeof__(name) *name;
	TUX_HOOKS(X)
#undef X
};

const struct tux_real *tux_real(void);

/* Of the caller's routine, or on stderr: one line about a call that was refused. */
void tux_hook_say(const char *line);

#endif
