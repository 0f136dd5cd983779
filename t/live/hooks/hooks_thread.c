/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads.
 */
#include "hooks.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

static void *sit(void *arg)
{
	_Atomic int *done = arg;

	while (!*done)
		poll(NULL, 0, 1);
	return NULL;
}

void try_pthread_kill(void)
{
	_Atomic int done = 0;
	pthread_t t;

	hooks_catch(SIGUSR1);
	TRY(pthread_kill(pthread_self(), 0));
	TRY(pthread_kill(pthread_self(), SIGUSR1));
	printf("caught %d\n", (int)hooks_caught);
	TRY(pthread_kill(pthread_self(), -1));
	TRY(pthread_kill(pthread_self(), 32));
	TRY(pthread_kill(pthread_self(), 65));
	hooks_caught = 0;
	if (pthread_create(&t, NULL, sit, &done))
		return;
	TRY(pthread_kill(t, 0));
	TRY(pthread_kill(t, SIGUSR1));
	while (!hooks_caught)
		poll(NULL, 0, 1);
	printf("caught %d\n", (int)hooks_caught);
	done = 1;
	pthread_join(t, NULL);
}

static void in_read(void)
{
	char c;
	int fd[2];

	(void)!(pipe(fd) || read(fd[0], &c, 1));
}

static void in_test(void)
{
	pthread_testcancel();
}

void try_pthread_cancel(void)
{
	hooks_cancel_in("read", in_read);
	hooks_cancel_in("testcancel", in_test);
}

static pthread_key_t key;

static void forget(void *p)
{
	printf("forgets %s\n", (const char *)p);
}

static void at_end(void)
{
	printf("the process ends\n");
}

static void *leave(void *arg)
{
	pthread_setspecific(key, "what was known");
	pthread_cleanup_push(hooks_clean, (void *)"pthread_exit");
	pthread_exit(arg);
	pthread_cleanup_pop(0);
	return NULL;
}

void try_pthread_exit(void)
{
	void *end = NULL;
	pthread_t t;

	pthread_key_create(&key, forget);
	if (!pthread_create(&t, NULL, leave, &key))
		pthread_join(t, &end);
	printf("returns %s\n", end == &key ? "what was given" : "else");
	atexit(at_end);
	pthread_exit(NULL);
}

void try_pthread_mutexattr_setprotocol(void)
{
	pthread_mutexattr_t a;
	pthread_mutex_t m;
	int is = -1;

	pthread_mutexattr_init(&a);
	TRY(pthread_mutexattr_setprotocol(&a, 99));
	TRY(pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_PROTECT));
	TRY(pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_NONE));
	TRY(pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT));
	TRY(pthread_mutexattr_getprotocol(&a, &is));
	printf("protocol %d\n", is);
	TRY(pthread_mutex_init(&m, &a));
	TRY(pthread_mutex_lock(&m));
	TRY(pthread_mutex_unlock(&m));
}

static void *ask_locale(void *arg)
{
	(void)arg;
	return (void *)uselocale(NULL);
}

void try_uselocale(void)
{
	locale_t l = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
	void *there = NULL;
	pthread_t t;

	TRY(uselocale(NULL) == LC_GLOBAL_LOCALE);
	TRY(uselocale(l) == LC_GLOBAL_LOCALE);
	TRY(uselocale(NULL) == l);
	if (!pthread_create(&t, NULL, ask_locale, NULL))
		pthread_join(t, &there);
	printf("other thread: %d\n", there == (void *)LC_GLOBAL_LOCALE);
	TRY(uselocale(LC_GLOBAL_LOCALE) == l);
	TRY(uselocale(NULL) == LC_GLOBAL_LOCALE);
}
