/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec - the calls by which another program takes over the descriptors
 */
#include <errno.h>
#include <stdarg.h>

#include "family/inherit.h"
#include "ground/libc.h"

/* A path that cannot be executed must not cost the connections anything: who
 * searches a path tries many. */
static bool may_exec(const char *path)
{
	return access(path, X_OK) || inherit_exec();
}

/* Exec has returned, so it has failed. */
static int exec_failed(int r)
{
	inherit_exec_failed();
	return r;
}

HOOK int execve(const char *path, char *const argv[], char *const env[])
{
	return may_exec(path) ? exec_failed(libc.execve(path, argv, env)) : -1;
}

HOOK int execv(const char *path, char *const argv[])
{
	return may_exec(path) ? exec_failed(libc.execv(path, argv)) : -1;
}

HOOK int execvp(const char *file, char *const argv[])
{
	return inherit_exec() ? exec_failed(libc.execvp(file, argv)) : -1;
}

HOOK int execvpe(const char *file, char *const argv[], char *const env[])
{
	return inherit_exec() ? exec_failed(libc.execvpe(file, argv, env)) : -1;
}

HOOK int fexecve(int fd, char *const argv[], char *const env[])
{
	return inherit_exec() ? exec_failed(libc.fexecve(fd, argv, env)) : -1;
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
	return ok && may_exec(path) ? exec_failed(libc.execv(path, argv)) : -1;
}

HOOK int execlp(const char *file, const char *arg, ...)
{
	char *argv[ARGS];
	va_list ap;
	bool ok;

	va_start(ap, arg);
	ok = exec_collect(argv, arg, &ap);
	va_end(ap);
	return ok && inherit_exec() ? exec_failed(libc.execvp(file, argv)) : -1;
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
	return ok && may_exec(path) ? exec_failed(libc.execve(path, argv, env)) : -1;
}
