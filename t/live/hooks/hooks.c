/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks - what the calls do that libtux replaces: values, errors, effects
 *
 * hooks.sh runs this program as it is and with libtux, and compares what it
 * prints.  No routine ever runs in it.  It prints nothing that differs from
 * one run to the next: no identifier of a process, no address, and of a time
 * only whether it was long enough.
 *
 *   hooks          each call, in a child of its own
 *   hooks --count  how many of the calls are not the C library's
 */
#include "hooks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#ifdef HOOKS_TUX
#include "tux.h"
#endif

volatile sig_atomic_t hooks_caught;
const struct timespec hooks_no_time, hooks_a_while = { .tv_nsec = 10000000 },
	hooks_long_time = { .tv_sec = HOOKS_LIMIT },
	hooks_bad_time = { .tv_nsec = 1000000000 };

/* ---- saying ---- */

void hooks_say_set(const char *what, const sigset_t *set)
{
	int sig;

	printf("%s:", what);
	for (sig = 1; sig < HOOKS_SIGNALS; sig++)
		if (sigismember(set, sig) == 1)
			printf(" %d", sig);
	printf("\n");
}

void hooks_say_status(const char *path, const char *const *names)
{
	const char *const *name;
	char line[256];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		for (name = names; *name; name++)
			if (!strncmp(line, *name, strlen(*name)))
				fputs(line, stdout);
	if (f)
		fclose(f);
}

void hooks_say_signals(void)
{
	static const char *const names[] = { "SigBlk:", "SigIgn:", "SigCgt:",
					     NULL };

	hooks_say_status("/proc/thread-self/status", names);
}

void hooks_say_mask(void)
{
	sigset_t now;

	sigemptyset(&now);
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	hooks_say_set("mask", &now);
}

sigset_t hooks_set_of(int a, int b)
{
	sigset_t set;

	sigemptyset(&set);
	if (a)
		sigaddset(&set, a);
	if (b)
		sigaddset(&set, b);
	return set;
}

void hooks_on_signal(int sig)
{
	hooks_caught = sig;
}

void hooks_catch(int sig)
{
	struct sigaction a = { .sa_handler = hooks_on_signal };

	sigaction(sig, &a, NULL);
	hooks_caught = 0;
}

/* ---- threads that are cancelled ---- */

void hooks_clean(void *arg)
{
	printf("%s: cleanup\n", (const char *)arg);
}

struct victim {
	const char *name;
	void (*wait)(void);
};

static void *suffer(void *arg)
{
	struct victim *v = arg;

	pthread_cleanup_push(hooks_clean, (void *)v->name);
	for (;;)
		v->wait();
	pthread_cleanup_pop(0);
	return NULL;
}

void hooks_cancel_in(const char *name, void (*wait)(void))
{
	struct victim v = { name, wait };
	pthread_t t;
	void *end = NULL;
	int ret;

	if (pthread_create(&t, NULL, suffer, &v))
		return;
	poll(NULL, 0, 10);
	ret = pthread_cancel(t);
	pthread_join(t, &end);
	printf("%s: %d, %s\n", name, ret,
	       end == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
}

/* ---- all of them ---- */

static const struct {
	const char *name;
	void (*try)(void);
	void *at;
} calls[] = {
#define X(name) { #name, try_##name, (void *)name },
	TUX_HOOKS(X)
#undef X
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static void count(void)
{
	unsigned i, n = 0;
	Dl_info info;

	for (i = 0; i < CALLS; i++)
		n += dladdr(calls[i].at, &info) &&
		     !strstr(info.dli_fname, "libc.so");
	printf("%u of %d\n", n, CALLS);
}

static int try_all(void)
{
	int end, wrong = 0;
	unsigned i;
	pid_t pid;

	for (i = 0; i < CALLS; i++) {
		printf("== %s\n", calls[i].name);
		fflush(stdout);
		pid = fork();
		if (!pid) {
			alarm(HOOKS_LIMIT);
			calls[i].try();
			exit(0);
		}
		waitpid(pid, &end, 0);
		if (end)
			printf("ended with %x\n", (unsigned)end);
		wrong |= end;
	}
	return wrong != 0;
}

int main(int argc, char *argv[])
{
	setvbuf(stdout, NULL, _IOLBF, 0);
#ifdef HOOKS_TUX
	if (!*tux_version())
		return 2;
#endif
	if (argc > 1 && !strcmp(argv[1], "--count")) {
		count();
		return 0;
	}
	return try_all();
}
