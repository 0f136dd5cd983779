/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork - the calls that begin and end a process
 */
#include "family/fork.h"

#include <errno.h>
#include <sys/stat.h>

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

/* libc's _Fork() runs no handlers, and its fork() does not call this. */
HOOK pid_t _Fork(void)
{
	pid_t pid;

	fork_prepare();
	pid = libc._Fork();
	if (pid == 0)
		fork_in_child();
	else
		fork_in_parent();
	return fork_done(pid);
}

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
