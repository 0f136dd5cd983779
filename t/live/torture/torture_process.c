/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes and who they are: fork, spawn, the set*id family.
 */
#include "torture.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/sched.h"
#include "sys/clock.h"
#include "torture_turn.h"

extern char **environ;

/* ---- fork ------------------------------------------------------------------ */

enum {
	WELL = 7,
	ENDING_S = 60,		/* a thread, on a slow machine */
};

static void *in_child_thread(void *arg)
{
	void *p = malloc(1000);

	*(int *)arg = 1;
	free(p);
	return NULL;
}

/* A child is a process with one thread, which has all that a thread has. */
static _Noreturn void live(void)
{
	pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	int ran = 0, i, cpu;
	pthread_t t;
	char *p;

	alarm(ENDING_S);
	if (tux_sched_inside())
		_exit(6);
	tux_sched_yield();
	for (i = 1; i < 100; i++) {
		p = malloc((size_t)i * 50);
		if (!p)
			_exit(1);
		memset(p, i, (size_t)i * 50);
		free(p);
	}
	if (pthread_mutex_lock(&m) || pthread_mutex_lock(&m) ||
	    pthread_mutex_unlock(&m) || pthread_mutex_unlock(&m))
		_exit(2);
	for (i = 0; i < 3; i++)
		if (pthread_create(&t, NULL, in_child_thread, &ran) ||
		    pthread_join(t, NULL) || !ran)
			_exit(3);
	cpu = sched_getcpu();
	if (cpu < 0 || usleep(100) || setuid(getuid()))
		_exit(4);
	if (close(-1) != -1 || errno != EBADF)
		_exit(5);
	_exit(WELL);
}

static int status_of(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

static void fork_step(struct hand *h)
{
	static char name[] = "true";
	char *argv[] = { name, NULL };
	tux_time from = tux_clock_read();
	pid_t pid;

	switch (hand_below(h, 128)) {
	case 0:
		pid = fork();
		if (!pid)
			live();
		torture_turn_stopped(tux_clock_read() - from);
		must(pid > 0);
		must(status_of(pid) == WELL);
		break;
	case 1:
		must(!posix_spawnp(&pid, "true", NULL, NULL, argv, environ));
		torture_turn_stopped(tux_clock_read() - from);
		must(status_of(pid) == 0);
		break;
	case 2:
		pid = vfork();
		if (!pid)
			_exit(WELL);
		torture_turn_stopped(tux_clock_read() - from);
		must(pid > 0);
		must(status_of(pid) == WELL);
		break;
	default:
		torture_linger(h, 2000);
	}
}

const struct work work_fork = {
	.name = "fork", .hands = 2, .step = fork_step,
};

/* ---- set*id ------------------------------------------------------------------ */

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

/* One of two groups, if that is allowed. */
static int set_group(unsigned how)
{
	return geteuid() ? 0 : setegid(getgid() + how);
}

static int set_some(struct hand *h, unsigned how)
{
	gid_t group[64];
	int n;

	switch (how) {
	case 0:
		return setresuid((uid_t)-1, (uid_t)-1, (uid_t)-1);
	case 1:
		return seteuid(geteuid());
	case 2:
		return set_group(hand_below(h, 2));
	default:
		n = getgroups(64, group);
		return n < 0 || geteuid() ? n : setgroups((size_t)n, group);
	}
}

static void setuid_step(struct hand *h)
{
	unsigned how = hand_below(h, 64);
	tux_time from;

	torture_linger(h, 1000);
	if (how >= 4) {
		torture_linger(h, 2000);
		return;
	}
	pthread_mutex_lock(&changing);
	from = tux_clock_read();
	must(set_some(h, how) >= 0);
	torture_turn_stopped(tux_clock_read() - from);
	pthread_mutex_unlock(&changing);
}

/* Has the kernel another group for that thread? */
static bool differs(const char *task)
{
	bool other = false;
	char path[300], line[128];
	unsigned real, now;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Gid: %u %u", &real, &now) == 2)
			other = now != getegid();
	if (f)
		fclose(f);
	return other;
}

/* The kernel keeps it for each thread, and for each it has become the same.  A
 * thread that is about to end is left out, and can be seen for a while. */
static void look_at(const char *task)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	tux_time until = tux_clock_read() + TUX_SEC(ENDING_S);

	while (differs(task) && tux_clock_read() < until)
		nanosleep(&moment, NULL);
	must(!differs(task));
}

static void setuid_leave(struct hand *h)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;

	(void)h;
	pthread_mutex_lock(&changing);
	must(set_group(1) >= 0);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			look_at(e->d_name);
	if (d)
		closedir(d);
	must(set_group(0) >= 0);
	pthread_mutex_unlock(&changing);
}

const struct work work_setuid = {
	.name = "setuid", .hands = 2, .thread = true, .step = setuid_step,
	.leave = setuid_leave,
};
