/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec - the calls by which another program takes over the descriptors
 */
#include <alloca.h>
#include <stdarg.h>

#include "family/inherit.h"
#include "family/spawn.h"
#include "ground/libc.h"
#include "ground/process.h"

static bool exec_begins(void)
{
	spawn_exec();
	return inherit_exec();
}

/* A path that cannot be executed must not cost the connections anything: who
 * searches a path tries many. */
static bool may_exec(const char *path)
{
	return process_is_sandboxed() || access(path, X_OK) || exec_begins();
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
	return exec_begins() ? exec_failed(libc.execvp(file, argv)) : -1;
}

HOOK int execvpe(const char *file, char *const argv[], char *const env[])
{
	return exec_begins() ? exec_failed(libc.execvpe(file, argv, env)) : -1;
}

HOOK int fexecve(int fd, char *const argv[], char *const env[])
{
	return exec_begins() ? exec_failed(libc.fexecve(fd, argv, env)) : -1;
}

HOOK int execveat(int dir, const char *path, char *const argv[],
		  char *const env[], int flags)
{
	return exec_begins() ?
	       exec_failed(libc.execveat(dir, path, argv, env, flags)) : -1;
}

/* ---- the ones with a list --------------------------------------------- */

/* How many there are from @first on, the NULL at the end included. */
static size_t exec_count(const char *first, va_list *ap)
{
	size_t n = 1;

	for (; first; first = va_arg(*ap, const char *))
		n++;
	return n;
}

static void exec_collect(char **argv, const char *first, va_list *ap)
{
	for (; first; first = va_arg(*ap, const char *))
		*argv++ = (char *)(uintptr_t)first;
	*argv = NULL;
}

/* Leaves the list in @argv, on the stack, as libc does; and @ap behind it. */
#define COLLECT(argv, first, ap) \
	do { \
		va_start(ap, first); \
		(argv) = alloca(exec_count(first, &(ap)) * sizeof(*(argv))); \
		va_end(ap); \
		va_start(ap, first); \
		exec_collect(argv, first, &(ap)); \
	} while (0)

HOOK int execl(const char *path, const char *arg, ...)
{
	char **argv;
	va_list ap;

	COLLECT(argv, arg, ap);
	va_end(ap);
	return may_exec(path) ? exec_failed(libc.execv(path, argv)) : -1;
}

HOOK int execlp(const char *file, const char *arg, ...)
{
	char **argv;
	va_list ap;

	COLLECT(argv, arg, ap);
	va_end(ap);
	return exec_begins() ? exec_failed(libc.execvp(file, argv)) : -1;
}

HOOK int execle(const char *path, const char *arg, ...)
{
	char *const *env;
	char **argv;
	va_list ap;

	COLLECT(argv, arg, ap);
	env = va_arg(ap, char *const *);
	va_end(ap);
	return may_exec(path) ? exec_failed(libc.execve(path, argv, env)) : -1;
}
