/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/thread.h"

#include <signal.h>

#include "sys/sys.h"

/* The new thread inherits the mask.  sigfillset() leaves libc's signals out. */
int tux_thread_start(pthread_t *t, const pthread_attr_t *attr,
		     void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	tux_sys_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(t, attr, run, arg);
	tux_sys_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}
