/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/thread.h"

#include <signal.h>

#include "sys/deep.h"
#include "sys/sys.h"

struct thread_start {
	pthread_t *t;
	const pthread_attr_t *attr;
	void *(*run)(void *);
	void *arg;
	int err;
};

/* The new thread inherits the mask.  sigfillset() leaves libc's signals out. */
static void thread_create(void *arg)
{
	struct thread_start *s = arg;
	sigset_t all, old;

	sigfillset(&all);
	tux_sys_sigmask(SIG_SETMASK, &all, &old);
	s->err = pthread_create(s->t, s->attr, s->run, s->arg);
	tux_sys_sigmask(SIG_SETMASK, &old, NULL);
}

/* The first pthread_create() of a process takes some 3 KiB of stack where vectors have
 * 512 bits: libc looks up a function of the dynamic linker then, which saves all
 * registers.  Without memory for a stack, the caller's has to do. */
int tux_thread_start(pthread_t *t, const pthread_attr_t *attr,
		     void *(*run)(void *), void *arg)
{
	struct thread_start s = { t, attr, run, arg, 0 };

	if (tux_deep_call(thread_create, &s))
		thread_create(&s);
	return -s.err;
}
