/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes, and what they become.
 */
#include "hooks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char handlers[16];		/* of fork, in their order */

static void note(const char *handler)
{
	strncat(handlers, handler, sizeof(handlers) - strlen(handlers) - 1);
}

static void before(void)
{
	note("before ");
}

static void in_parent(void)
{
	note("parent");
}

static void in_child(void)
{
	note("child");
}

static void *return_it(void *arg)
{
	return arg;
}

static int child_of_fork(pid_t parent)
{
	pthread_t t;
	void *p = malloc(100);

	printf("child: %d, %d, %s\n", getppid() == parent, getpid() != parent,
	       handlers);
	printf("thread: %d\n", pthread_create(&t, NULL, return_it, p));
	printf("join: %d\n", pthread_join(t, NULL));
	free(p);
	hooks_say_mask();
	return 42;
}

void try_fork(void)
{
	sigset_t some = hooks_set_of(SIGUSR1, SIGRTMIN + 5);
	pid_t pid, parent = getpid();
	int status = 0, err;

	pthread_atfork(before, in_parent, in_child);
	pthread_sigmask(SIG_BLOCK, &some, NULL);
	fflush(stdout);
	errno = EDOM;
	pid = fork();
	err = errno;
	if (!pid)
		exit(child_of_fork(parent));
	TRY(waitpid(pid, &status, 0) == pid);
	printf("parent: %d, errno %d, %s\n", pid > 0, err, handlers);
	printf("status %x\n", (unsigned)status);
	TRY(waitpid(pid, &status, 0));
}

/* Runs @call in a child, which says what came of it if it returns. */
#define EXEC(call) do {							\
	pid_t pid_;							\
	int status_ = 0;						\
	fflush(stdout);							\
	pid_ = fork();							\
	if (!pid_) {							\
		TRY(call);						\
		exit(9);						\
	}								\
	waitpid(pid_, &status_, 0);					\
	printf("status %x\n", (unsigned)status_);			\
} while (0)

/* Strings are const here, and the arguments of a program are not. */
#define S(string) (char *)string

static char *const echo[] = { S("echo"), S("said"), S("by"), S("echo"), NULL };
static char *const status[] = { S("sh"), S("-c"),
	S("grep ^Sig[BIC] /proc/self/status; echo $HOOKS; exit 3"), NULL };
static char *const env[] = { S("HOOKS=given"), S("PATH=/bin"), NULL };

/* What a new program inherits. */
static void leave_marks(void)
{
	sigset_t some = hooks_set_of(SIGUSR2, SIGRTMIN + 5);

	signal(SIGUSR1, SIG_IGN);
	hooks_catch(SIGTERM);
	pthread_sigmask(SIG_BLOCK, &some, NULL);
	setenv("HOOKS", "inherited", 1);
}

void try_execve(void)
{
	leave_marks();
	EXEC(execve("/bin/echo", echo, env));
	EXEC(execve("/bin/sh", status, env));
	EXEC(execve("/no/such/program", echo, env));
	EXEC(execve("/etc/passwd", echo, env));
	EXEC(execve("/", echo, env));
}

void try_execv(void)
{
	pid_t pid;
	int end = 0;

	leave_marks();
	EXEC(execv("/bin/sh", status));
	EXEC(execv("/no/such/program", echo));
	fflush(stdout);
	pid = vfork();
	if (!pid) {
		execv("/no/such/program", echo);
		execv("/bin/sh", status);
		_exit(9);
	}
	TRY(waitpid(pid, &end, 0) == pid);
	printf("status %x\n", (unsigned)end);
}

void try_execvp(void)
{
	leave_marks();
	EXEC(execvp("sh", status));
	EXEC(execvp("no-such-program", echo));
	EXEC(execvp("", echo));
	setenv("PATH", "/etc", 1);
	EXEC(execvp("passwd", echo));
}

void try_execvpe(void)
{
	leave_marks();
	EXEC(execvpe("sh", status, env));
	EXEC(execvpe("no-such-program", echo, env));
}

void try_fexecve(void)
{
	int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);

	leave_marks();
	EXEC(fexecve(fd, status, env));
	EXEC(fexecve(-1, status, env));
	EXEC(fexecve(1000, status, env));
}
