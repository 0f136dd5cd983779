/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/wake.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "../test.h"

enum { CAP = 1024, RINGS = 20000, RINGERS = 3 };

struct desk {
	struct tux_bell *bell;
	int fd;
	_Atomic uint32_t queued[CAP];
};

static bool readable(int fd, int ms)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, ms) == 1;
}

static void ring__writes_only_to_a_sleeper(void **state)
{
	struct desk d;
	uint32_t i;

	(void)state;
	assert_int_equal(tux_wake_init(&d.bell, &d.fd, CAP), 0);
	tux_wake_ring(d.bell, d.fd, 3);
	assert_false(readable(d.fd, 0));
	assert_true(tux_bell_take(d.bell, &i));
	assert_int_equal(i, 3);

	tux_bell_set_asleep(d.bell, true);
	tux_wake_ring(d.bell, d.fd, 4);
	tux_wake_ring(d.bell, d.fd, 5);
	assert_true(readable(d.fd, 0));
	tux_wake_finish_sleep(d.bell, d.fd, false);
	assert_false(readable(d.fd, 0));
	tux_wake_fini(d.bell, d.fd);
}

static void up__wakes_without_an_index(void **state)
{
	struct desk d;

	(void)state;
	assert_int_equal(tux_wake_init(&d.bell, &d.fd, CAP), 0);
	tux_wake_up(d.bell, d.fd);
	assert_false(readable(d.fd, 0));
	tux_bell_set_asleep(d.bell, true);
	tux_wake_up(d.bell, d.fd);
	assert_true(readable(d.fd, 0));
	tux_wake_finish_sleep(d.bell, d.fd, false);
	assert_true(tux_bell_quiet(d.bell));
	tux_wake_fini(d.bell, d.fd);
}

/* A wake-up that is collected comes when it is asked for, and is owed until
 * then. */
static void wakes_ring__wakes_later(void **state)
{
	struct tux_wakes k = { 0 };
	_Atomic uint32_t owed = 0;
	struct desk d;

	(void)state;
	assert_int_equal(tux_wake_init(&d.bell, &d.fd, CAP), 0);
	tux_wakes_ring(&k, d.bell, d.fd, &owed, 3);
	assert_int_equal(owed, 0);	/* the owner is awake */
	tux_bell_set_asleep(d.bell, true);
	tux_wakes_ring(&k, d.bell, d.fd, &owed, 4);
	tux_wakes_ring(&k, d.bell, d.fd, &owed, 5);
	assert_false(tux_bell_quiet(d.bell));
	assert_false(readable(d.fd, 0));
	assert_int_equal(owed, 1);
	tux_wakes_go(&k);
	assert_true(readable(d.fd, 0));
	assert_int_equal(owed, 0);
	tux_wake_clear(d.fd);
	tux_wakes_go(&k);
	assert_false(readable(d.fd, 0));
	tux_wake_fini(d.bell, d.fd);
}

/* More than fit are woken at once. */
static void wakes_ring__of_many(void **state)
{
	struct desk d[TUX_WAKES + 1];
	struct tux_wakes k = { 0 };
	_Atomic uint32_t owed = 0;
	int i;

	(void)state;
	for (i = 0; i <= TUX_WAKES; i++) {
		assert_int_equal(tux_wake_init(&d[i].bell, &d[i].fd, CAP), 0);
		tux_bell_set_asleep(d[i].bell, true);
		tux_wakes_ring(&k, d[i].bell, d[i].fd, &owed, 0);
		assert_int_equal(readable(d[i].fd, 0), i == TUX_WAKES);
	}
	assert_int_equal(owed, TUX_WAKES);
	tux_wakes_go(&k);
	for (i = 0; i <= TUX_WAKES; i++) {
		assert_true(readable(d[i].fd, 0));
		tux_wake_fini(d[i].bell, d[i].fd);
	}
}

static void *ringer(void *arg)
{
	struct desk *d = arg;
	uint64_t seed = (uint64_t)(uintptr_t)&seed;
	int n = 0;

	while (n < RINGS) {
		uint32_t i = test_below(&seed, CAP);

		if (atomic_exchange(&d->queued[i], 1))
			continue;
		tux_wake_ring(d->bell, d->fd, i);
		n++;
	}
	return NULL;
}

/* No wake-up is lost, whichever thread is faster: else this waits for a minute. */
static void ring__is_never_slept_through(void **state)
{
	struct desk *d = calloc(1, sizeof(*d));
	pthread_t t[RINGERS];
	int i, n = 0;
	bool woken;

	(void)state;
	assert_int_equal(tux_wake_init(&d->bell, &d->fd, CAP), 0);
	for (i = 0; i < RINGERS; i++)
		pthread_create(&t[i], NULL, ringer, d);
	while (n < RINGS * RINGERS) {
		uint32_t at;

		while (tux_bell_take(d->bell, &at)) {
			atomic_store(&d->queued[at], 0);
			n++;
		}
		tux_bell_set_asleep(d->bell, true);
		woken = false;
		if (n < RINGS * RINGERS && tux_bell_quiet(d->bell)) {
			woken = readable(d->fd, 60000);
			assert_true(woken);
		}
		tux_wake_finish_sleep(d->bell, d->fd, woken);
	}
	for (i = 0; i < RINGERS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(n, RINGS * RINGERS);
	tux_wake_fini(d->bell, d->fd);
	free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring__writes_only_to_a_sleeper),
		cmocka_unit_test(up__wakes_without_an_index),
		cmocka_unit_test(wakes_ring__wakes_later),
		cmocka_unit_test(wakes_ring__of_many),
		cmocka_unit_test(ring__is_never_slept_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
