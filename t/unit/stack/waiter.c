/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/waiter.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "../test.h"

enum { CAP = 8 };

static bool readable(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 0) == 1;
}

static void ring_later__at_once_without_a_collection(void **state)
{
	struct tux_waiter w;

	(void)state;
	assert_int_equal(tux_waiter_init(&w, CAP), 0);
	tux_bell_set_asleep(w.bell, true);
	tux_waiter_ring_later(&w, 3, NULL);
	assert_true(readable(w.fd));
	tux_waiter_fini(&w);
}

static void ring_later__with_a_collection(void **state)
{
	struct tux_wakes k = { 0 };
	struct tux_waiter w;

	(void)state;
	assert_int_equal(tux_waiter_init(&w, CAP), 0);
	tux_bell_set_asleep(w.bell, true);
	tux_waiter_ring_later(&w, 3, &k);
	assert_false(readable(w.fd));
	tux_wakes_go(&k);
	assert_true(readable(w.fd));
	tux_waiter_fini(&w);
}

static _Atomic int over;

static void *fini(void *arg)
{
	tux_waiter_fini(arg);
	atomic_store(&over, 1);
	return NULL;
}

/* Its descriptor may be another file's as soon as it is closed. */
static void fini__not_while_a_wake_up_is_owed(void **state)
{
	struct tux_wakes k = { 0 };
	struct tux_waiter w;
	pthread_t t;

	(void)state;
	assert_int_equal(tux_waiter_init(&w, CAP), 0);
	tux_bell_set_asleep(w.bell, true);
	tux_waiter_ring_later(&w, 0, &k);
	assert_int_equal(pthread_create(&t, NULL, fini, &w), 0);
	usleep(20000);
	assert_int_equal(over, 0);
	tux_wakes_go(&k);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(over, 1);
	assert_int_equal(w.fd, -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_later__at_once_without_a_collection),
		cmocka_unit_test(ring_later__with_a_collection),
		cmocka_unit_test(fini__not_while_a_wake_up_is_owed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
