/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork - the calls that begin and end a process
 */
#include "hook/fork.h"

#include <errno.h>
#include <linux/sched.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "family/fork.h"
#include "ground/libc.h"
#include "ground/process.h"
#include "sock/close.h"

/* The handlers run alike if fork() fails. */
static pid_t fork_done(pid_t pid)
{
	if (pid < 0)
		fork_failed();
	return pid;
}

HOOK pid_t fork(void)
{
	return fork_done(libc.fork());
}

/* ---- past libc's handlers ---------------------------------------------- */

static pid_t fork_returned(pid_t pid)
{
	if (pid == 0)
		fork_in_child();
	else
		fork_in_parent();
	return fork_done(pid);
}

/* libc's _Fork() runs no handlers, and its fork() does not call this. */
HOOK pid_t _Fork(void)
{
	fork_prepare();
	return fork_returned(libc._Fork());
}

struct fork_clone {
	int (*fn)(void *);
	void *arg;
};

static int fork_clone_begins(void *arg)
{
	const struct fork_clone c = *(const struct fork_clone *)arg;

	fork_in_child();
	_exit(c.fn(c.arg));
}

/* With CLONE_VM it is a thread, or a child as vfork() makes one.  With CLONE_FILES it
 * must not close what the parent goes on with. */
static bool fork_shares(uint64_t flags)
{
	return flags & (CLONE_VM | CLONE_FILES);
}

HOOK int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	struct fork_clone c = { fn, arg };
	void *p[3];
	va_list ap;
	pid_t pid;

	va_start(ap, arg);
	for (int i = 0; i < 3; i++)
		p[i] = va_arg(ap, void *);
	va_end(ap);
	if (fork_shares((unsigned)flags))
		return libc.clone(fn, stack, flags, arg, p[0], p[1], p[2]);
	fork_prepare();
	pid = libc.clone(fork_clone_begins, stack, flags, &c, p[0], p[1], p[2]);
	fork_in_parent();
	return fork_done(pid);
}

static bool fork_copies(uint64_t flags, uint64_t stack)
{
	return !fork_shares(flags) && !stack;
}

bool fork_is(long n, const long *a)
{
	const struct clone_args *c;

	switch (n) {
	case SYS_clone:
		return fork_copies((uint64_t)a[0], (uint64_t)a[1]);
	case SYS_clone3:
		c = (const void *)a[0];
		return a[1] >= CLONE_ARGS_SIZE_VER0 &&
		       fork_copies(c->flags, c->stack);
#ifdef SYS_fork
	case SYS_fork:
		return true;
#endif
	}
	return false;
}

long fork_by_number(long n, const long *a)
{
	fork_prepare();
	return fork_returned((pid_t)libc.syscall(n, a[0], a[1], a[2], a[3],
						 a[4], a[5]));
}

/* ---- the background ---------------------------------------------------- */

/* The standard descriptors become /dev/null; as in libc, only if that is a device. */
static int daemon_silence(void)
{
	int fd = open("/dev/null", O_RDWR);
	struct stat st;
	bool is = fd >= 0 && !fstat(fd, &st) && S_ISCHR(st.st_mode);

	for (int to = 0; is && to <= 2; to++)
		dup2(fd, to);
	if (fd > 2)
		close(fd);
	if (!is && fd >= 0)
		errno = ENODEV;
	return is ? 0 : -1;
}

/* libc's own ends the parent past all hooks, and with it the connections that the
 * child goes on with. */
HOOK int daemon(int nochdir, int noclose)
{
	pid_t pid = fork();

	if (pid > 0)
		_exit(0);
	if (pid < 0 || setsid() < 0)
		return -1;
	if (!nochdir)
		(void)!chdir("/");	/* as libc: not an error */
	return noclose ? 0 : daemon_silence();
}

/* ---- the end ---------------------------------------------------------- */

static void drain(void)
{
	if (!process_is_vfork())
		close_all();
}

/* exit(), after the program's own handlers. */
static __attribute__((destructor(101))) void fork_fini(void)
{
	drain();
}

HOOK void _exit(int status)
{
	drain();
	libc._exit(status);
	__builtin_unreachable();
}

HOOK void _Exit(int status)
{
	drain();
	libc._Exit(status);
	__builtin_unreachable();
}

HOOK void quick_exit(int status)
{
	drain();
	libc.quick_exit(status);
	__builtin_unreachable();
}
