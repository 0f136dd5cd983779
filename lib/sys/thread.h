/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread - starts a thread of the library's own
 */
#ifndef TUX_SYS_THREAD_H
#define TUX_SYS_THREAD_H

#include <pthread.h>

/* Starts a thread that blocks the program's signals, because these are for the
 * program's own threads.  It does not block the signals that libc sends to all
 * threads: setuid() and the like wait until each has handled one.  @attr may be
 * NULL.  0 or -errno. */
int tux_thread_start(pthread_t *t, const pthread_attr_t *attr,
		     void *(*run)(void *), void *arg);

#endif
