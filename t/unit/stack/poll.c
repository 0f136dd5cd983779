/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/poll.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "../test.h"
#include "stack/drive.h"
#include "sys/clock.h"

enum { MANY = 100, SLEEPERS = 3, ROUNDS = 300 };

static tux_time in(tux_time t)
{
	return tux_clock_read() + t;
}

static void poll__fills_revents(void **state)
{
	int p[2], i;
	struct pollfd fds[MANY];
	struct tux_poll x = { .fds = fds, .n = MANY };

	(void)state;
	assert_int_equal(pipe(p), 0);
	for (i = 0; i < MANY; i++)
		fds[i] = (struct pollfd){ p[0], POLLIN, 77 };
	fds[MANY - 1].fd = p[1];
	fds[MANY - 1].events = POLLOUT;
	assert_int_equal(tux_poll(&x, TUX_NEVER, 0), TUX_POLL_FDS);
	assert_int_equal(fds[0].revents, 0);
	assert_int_equal(fds[MANY - 1].revents, POLLOUT);
	x.n = 3;
	assert_int_equal(tux_poll(&x, in(TUX_MSEC(5)), tux_clock_read()), 0);
	close(p[0]);
	close(p[1]);
}

static void passive_wait__ends_in_time(void **state)
{
	struct tux_poll x = { 0 };
	tux_time began = tux_clock_read();

	(void)state;
	assert_int_equal(tux_passive_wait(&x, began + TUX_MSEC(20)), 0);
	assert_true(tux_clock_read() - began >= TUX_MSEC(20));
	assert_int_equal(tux_passive_wait(&x, 0), 0);
}

static void passive_wait__sees_what_rang_before(void **state)
{
	struct tux_waiter w;
	struct tux_poll x = { .w = &w };
	uint32_t i;

	(void)state;
	assert_int_equal(tux_waiter_init(&w, 8), 0);
	tux_waiter_ring(&w, 5);
	assert_int_equal(tux_passive_wait(&x, TUX_NEVER), 1);
	assert_true(tux_bell_take(w.bell, &i));
	assert_int_equal(i, 5);
	assert_int_equal(tux_passive_wait(&x, in(TUX_MSEC(1))), 0);
	tux_waiter_fini(&w);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void passive_wait__ends_at_a_signal(void **state)
{
	/* Again and again: the first may come before the wait. */
	const struct itimerval t = { { 0, 20000 }, { 0, 20000 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction a = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct tux_poll x = { 0 };

	(void)state;
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
	assert_int_equal(tux_passive_wait(&x, TUX_NEVER), -EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
}

static void passive_wait__uses_the_mask(void **state)
{
	struct tux_poll x = { 0 };
	sigset_t block, none;

	(void)state;
	signal(SIGUSR1, on_alarm);
	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	raise(SIGUSR1);
	assert_int_equal(tux_passive_wait(&x, in(TUX_MSEC(5))), 0);
	x.mask = &none;
	assert_int_equal(tux_passive_wait(&x, TUX_NEVER), -EINTR);
	sigprocmask(SIG_UNBLOCK, &block, NULL);
}

/* Several threads asleep on one bell: each ring must find one of them. */
struct hall {
	struct tux_waiter w;
	_Atomic uint32_t left;
	_Atomic uint32_t queued;
	struct tux_latch latch;		/* one takes at a time */
};

static void *answer(void *arg)
{
	struct hall *h = arg;
	struct tux_poll x = { .w = &h->w };
	uint32_t i;

	while (atomic_load(&h->left)) {
		if (tux_passive_wait(&x, in(TUX_SEC(60))) == 0)
			return h;
		if (!tux_latch_try(&h->latch))
			continue;
		while (tux_bell_take(h->w.bell, &i)) {
			if (i)
				continue;
			atomic_store(&h->queued, 0);
			atomic_fetch_sub(&h->left, 1);
		}
		tux_latch_drop(&h->latch);
	}
	tux_waiter_ring(&h->w, 1);	/* for the others: it is over */
	return NULL;
}

static void passive_wait__several_on_one_bell(void **state)
{
	static struct hall h;
	pthread_t t[SLEEPERS];
	void *late;
	int i;

	(void)state;
	assert_int_equal(tux_waiter_init(&h.w, 8), 0);
	atomic_store(&h.left, ROUNDS);
	for (i = 0; i < SLEEPERS; i++)
		pthread_create(&t[i], NULL, answer, &h);
	for (i = 0; i < ROUNDS; i++) {
		if (i % 10 == 0)
			usleep(1000);
		while (atomic_exchange(&h.queued, 1))
			sched_yield();
		tux_waiter_ring(&h.w, 0);
	}
	for (i = 0; i < SLEEPERS; i++) {
		pthread_join(t[i], &late);
		assert_null(late);
	}
	tux_waiter_fini(&h.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poll__fills_revents),
		cmocka_unit_test(passive_wait__ends_in_time),
		cmocka_unit_test(passive_wait__sees_what_rang_before),
		cmocka_unit_test(passive_wait__ends_at_a_signal),
		cmocka_unit_test(passive_wait__uses_the_mask),
		cmocka_unit_test(passive_wait__several_on_one_bell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
