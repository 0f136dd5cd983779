/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is a thread's own: errno, variables, keys with destructors.
 */
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- errno, and a variable --------------------------------------------- */

static __thread volatile uint64_t own;

static void errno_step(struct hand *h)
{
	uint64_t value = hand_random(h);

	own = value;
	errno = 0;
	torture_linger(h, 1000);
	must(errno == 0);
	must(close(-1) == -1 && errno == EBADF);
	torture_linger(h, 2000);
	must(errno == EBADF);
	must(open("/nowhere/at/all", O_RDONLY) == -1 && errno == ENOENT);
	torture_linger(h, 2000);
	must(errno == ENOENT);
	strtol("99999999999999999999", NULL, 10);
	torture_linger(h, 500);
	must(errno == ERANGE);
	must(own == value);
}

const struct work work_errno = {
	.name = "errno", .hands = 3, .thread = true, .step = errno_step,
};

/* ---- keys --------------------------------------------------------------- */

/*
 * More than a thread's control block holds itself.  A value stays with its
 * routine when the task ends: who comes next finds it, as in a pool of threads.
 */
enum {
	KEYS = 40,
};

struct value {
	unsigned key;
	uint64_t seed, check;
};

static pthread_key_t key[KEYS];
static atomic_long alive;

static bool sound(const struct value *v, unsigned i)
{
	return v->key == i && v->check == ~v->seed;
}

static void drop(void *p)
{
	struct value *v = p;

	must(v->key < KEYS && sound(v, v->key));
	free(v);
	atomic_fetch_sub(&alive, 1);
}

static const char *keys_open(void)
{
	unsigned i;

	for (i = 0; i < KEYS; i++)
		if (pthread_key_create(&key[i], drop))
			return "no more keys";
	return NULL;
}

static void keys_step(struct hand *h)
{
	unsigned i = hand_below(h, KEYS);
	struct value *v = pthread_getspecific(key[i]);

	if (v)
		drop(v);
	v = malloc(sizeof(*v));
	must(v);
	v->key = i;
	v->seed = hand_random(h);
	v->check = ~v->seed;
	atomic_fetch_add(&alive, 1);
	must(!pthread_setspecific(key[i], v));
	torture_linger(h, 3000);
	must(pthread_getspecific(key[i]) == v && sound(v, i));
}

/* Destructors have run in all threads, and in what routines borrowed from. */
static void keys_close(void)
{
	unsigned i;

	must(atomic_load(&alive) == 0);
	for (i = 0; i < KEYS; i++)
		pthread_key_delete(key[i]);
}

const struct work work_keys = {
	.name = "keys", .hands = 3, .thread = true,
	.open = keys_open, .step = keys_step, .close = keys_close,
};
