/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec - another program takes over the descriptors
 *
 * Only the process that owns the stack has anything to do: a child's
 * connections are its parent's, and what it execs is expected to leave them
 * alone.
 */
#include <errno.h>
#include <stdarg.h>

#include "libc.h"
#include "pass.h"

/* A path that cannot be executed must not cost the connections anything: who
 * searches a path tries many. */
static bool may_exec(const char *path)
{
	return access(path, X_OK) || pass_exec();
}

HOOK int execve(const char *path, char *const argv[], char *const env[])
{
	return may_exec(path) ? libc.execve(path, argv, env) : -1;
}

HOOK int execv(const char *path, char *const argv[])
{
	return may_exec(path) ? libc.execv(path, argv) : -1;
}

HOOK int execvp(const char *file, char *const argv[])
{
	return pass_exec() ? libc.execvp(file, argv) : -1;
}

HOOK int execvpe(const char *file, char *const argv[], char *const env[])
{
	return pass_exec() ? libc.execvpe(file, argv, env) : -1;
}

HOOK int fexecve(int fd, char *const argv[], char *const env[])
{
	return pass_exec() ? libc.fexecve(fd, argv, env) : -1;
}

/* ---- the ones with a list --------------------------------------------- */

enum { ARGS = 1024 };

/* @first and what follows it, NULL included, into @argv.  False: too many. */
static bool exec_collect(char **argv, const char *first, va_list *ap)
{
	argv[0] = (char *)(uintptr_t)first;
	for (int i = 0; argv[i]; i++) {
		if (i == ARGS - 1) {
			errno = E2BIG;
			return false;
		}
		argv[i + 1] = va_arg(*ap, char *);
	}
	return true;
}

HOOK int execl(const char *path, const char *arg, ...)
{
	char *argv[ARGS];
	va_list ap;
	bool ok;

	va_start(ap, arg);
	ok = exec_collect(argv, arg, &ap);
	va_end(ap);
	return ok && may_exec(path) ? libc.execv(path, argv) : -1;
}

HOOK int execlp(const char *file, const char *arg, ...)
{
	char *argv[ARGS];
	va_list ap;
	bool ok;

	va_start(ap, arg);
	ok = exec_collect(argv, arg, &ap);
	va_end(ap);
	return ok && pass_exec() ? libc.execvp(file, argv) : -1;
}

HOOK int execle(const char *path, const char *arg, ...)
{
	char *const *env = NULL;
	char *argv[ARGS];
	va_list ap;
	bool ok;

	va_start(ap, arg);
	ok = exec_collect(argv, arg, &ap);
	if (ok)
		env = va_arg(ap, char *const *);
	va_end(ap);
	return ok && may_exec(path) ? libc.execve(path, argv, env) : -1;
}
