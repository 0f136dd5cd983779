/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that a routine makes, and what becomes of its own.
 */
#include "run/hook.h"

#if TUX_HOOKED

#include <errno.h>

#include "run/sched_in.h"
#include "sys/sys.h"

/* The child has no routine any more, and holds nothing. */
TUX_HOOK pid_t fork(void)
{
	pid_t pid;

	if (!tux_here.routine)
		return tux_real()->fork();
	tux_sched_enter();
	pid = tux_real()->fork();
	if (pid)
		tux_sched_leave();
	return pid;
}

/* The schedulers that send ticks to this thread of the kernel; NULL. A child of
 * vfork() has the storage of its parent, but is another thread. */
static struct tux_sched *ticks_here(void)
{
	struct tux_routine *r = tux_here.routine;
	struct tux_sched *s = r ? r->sched : tux_here.left;

	return s && s->preempt &&
	       TUX_SYS(SYS_gettid, 0, 0, 0, 0, 0, 0) == s->watch.tid ? s : NULL;
}

/* A signal that is under way outlives the program that can handle it. */
static struct tux_sched *stop_ticks(void)
{
	struct tux_sched *s = ticks_here(), *x;

	if (!s)
		return NULL;
	tux_sched_enter();
	for (x = s; x; x = x->after)
		tux_watch_remove(&x->watch);
	/* What is pending arrives at the end of this. */
	TUX_SYS(SYS_gettid, 0, 0, 0, 0, 0, 0);
	return s;
}

/* It has come to nothing. */
static int exec_go_on(struct tux_sched *s)
{
	int saved = errno;
	struct tux_sched *x;

	for (x = s; x; x = x->after)
		tux_watch_add(&x->watch, x->sig);
	if (s)
		tux_sched_leave();
	errno = saved;
	return -1;
}

TUX_HOOK int execve(const char *path, char *const argv[], char *const env[])
{
	struct tux_sched *s = stop_ticks();

	tux_real()->execve(path, argv, env);
	return exec_go_on(s);
}

TUX_HOOK int execv(const char *path, char *const argv[])
{
	struct tux_sched *s = stop_ticks();

	tux_real()->execv(path, argv);
	return exec_go_on(s);
}

TUX_HOOK int execvp(const char *file, char *const argv[])
{
	struct tux_sched *s = stop_ticks();

	tux_real()->execvp(file, argv);
	return exec_go_on(s);
}

TUX_HOOK int execvpe(const char *file, char *const argv[], char *const env[])
{
	struct tux_sched *s = stop_ticks();

	tux_real()->execvpe(file, argv, env);
	return exec_go_on(s);
}

TUX_HOOK int fexecve(int fd, char *const argv[], char *const env[])
{
	struct tux_sched *s = stop_ticks();

	tux_real()->fexecve(fd, argv, env);
	return exec_go_on(s);
}

#endif
