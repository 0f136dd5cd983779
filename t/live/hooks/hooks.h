/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks - what its files share: a case for each call, and how to print
 */
#ifndef TUX_T_HOOKS_H
#define TUX_T_HOOKS_H

#include "run/hook.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

/* The case of each call; a call without one does not link. */
#define X(name) void try_##name(void);
TUX_HOOKS(X)
#undef X

enum {
	HOOKS_LIMIT = 30,		/* seconds that a case may take */
	HOOKS_SIGNALS = 65,		/* more than there are */
};

/* What a call returned, and what it left in errno. */
#define TRY(call) do {							\
	long ret_;							\
	errno = 0;							\
	ret_ = (long)(call);						\
	printf("%s: %ld, errno %d\n", #call, ret_, errno);		\
} while (0)

/* A call during which a signal comes.  It comes every 20 ms: the first may come
 * before the call has begun. */
#define TRY_INTERRUPTED(call) do {					\
	struct itimerspec t_ = { { 0, 20000000 }, { 0, 20000000 } };	\
	struct sigevent e_ = { .sigev_notify = SIGEV_SIGNAL,		\
			       .sigev_signo = SIGUSR1 };		\
	timer_t timer_;							\
	hooks_catch(SIGUSR1);						\
	if (timer_create(CLOCK_MONOTONIC, &e_, &timer_))		\
		break;							\
	timer_settime(timer_, 0, &t_, NULL);				\
	TRY(call);							\
	timer_delete(timer_);						\
	printf("caught %d\n", (int)hooks_caught);			\
} while (0)

/* The members of @set, and of the mask of the calling thread. */
void hooks_say_set(const char *what, const sigset_t *set);
void hooks_say_mask(void);

/* What the kernel knows of a thread: the lines of the file @path that begin
 * with one of @names. */
void hooks_say_status(const char *path, const char *const *names);

/* Of the calling thread. */
void hooks_say_signals(void);

/* These two, or one, or none; 0 is no signal. */
sigset_t hooks_set_of(int a, int b);

/* 0, 10 ms, all the time of a case, and one that is none. */
extern const struct timespec hooks_no_time, hooks_a_while, hooks_long_time,
	hooks_bad_time;

/* From now on @sig is noted in hooks_caught, which is 0. */
extern volatile sig_atomic_t hooks_caught;
void hooks_on_signal(int sig);
void hooks_catch(int sig);

/* Cancels a thread that calls @wait again and again. */
void hooks_cancel_in(const char *name, void (*wait)(void));

/* Prints @arg, which is a string: for pthread_cleanup_push(). */
void hooks_clean(void *arg);

#endif
