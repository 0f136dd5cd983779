/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A network thread of tux.h that never sleeps, and how soon it answers.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "sys/clock.h"

enum { ROUNDS = 200, LIMIT_S = 30, IDLE_MS = 100, TRIES = 100 };

static unsigned got, wrong;

static void send_one(struct tux_connection *c, const void *p, size_t len)
{
	wrong += tux_send(c, p, len, 0) != 0;
}

static void on_first(struct tux_connection *c, void *arg)
{
	(void)arg;
	send_one(c, "round", 5);
}

static void on_round(struct tux_connection *c, struct tux_message *m,
		     unsigned n, void *arg)
{
	(void)arg;
	got += n;
	for (; n; n--, m++)
		send_one(c, m->p, m->len);
}

static struct tux_loop_stats stats(struct tux *t)
{
	struct tux_loop_stats st;

	assert_int_equal(tux_loop_stats(t, 0, &st, sizeof(st)), 0);
	return st;
}

static bool readable(struct tux *t)
{
	struct pollfd p = { tux_fd(t), POLLIN, 0 };

	return poll(&p, 1, 0) == 1;
}

static struct tux *open_one(int spin)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	struct tux *t;

	o.spin = spin;
	assert_int_equal(tux_open(&t, &o), 0);
	return t;
}

/* What the callbacks of a turn have sent leaves in that turn. */
static void turn__sends_what_it_answers(void **state)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);
	unsigned answered = 0, sent = 0;
	struct duet d;

	(void)state;
	duet_open(&d, TUX_BACKEND_UDP);
	tux_on_message(d.server.s, on_round, NULL);
	tux_on_open(d.client.s, on_first, NULL);
	tux_on_message(d.client.s, on_round, NULL);
	duet_meet(&d);
	while (answered < ROUNDS && tux_clock_read() < until) {
		struct tux_loop_stats before = stats(d.server.t), after;

		assert_true(tux_turn(d.server.t) >= 0);
		after = stats(d.server.t);
		if (after.messages != before.messages) {
			answered++;
			sent += after.packets_tx != before.packets_tx;
		}
		assert_true(tux_turn(d.client.t) >= 0);
	}
	assert_int_equal(answered, ROUNDS);
	assert_int_equal(sent, ROUNDS);
	assert_int_equal(wrong, 0);
	duet_close(&d);
}

static void *run(void *arg)
{
	return (void *)(intptr_t)tux_run(arg);
}

static uint64_t sleeps_when_idle(int spin)
{
	struct tux *t = open_one(spin);
	pthread_t thread;
	uint64_t n;
	void *r;

	assert_int_equal(pthread_create(&thread, NULL, run, t), 0);
	usleep(IDLE_MS * 1000);
	tux_stop(t);
	assert_int_equal(pthread_join(thread, &r), 0);
	assert_null(r);
	n = stats(t).sleeps;
	tux_close(t);
	return n;
}

static void run__sleeps_unless_told_not_to(void **state)
{
	uint64_t n = 0;
	unsigned i;

	(void)state;
	/* On a late machine it may run for too short a time to sleep. */
	for (i = 0; i < TRIES && !n; i++)
		n = sleeps_when_idle(0);
	assert_int_not_equal(n, 0);
	assert_int_equal(sleeps_when_idle(1), 0);
}

/* Who does not sleep is to be turned at once, also when nothing has come. */
static void fd__is_always_readable(void **state)
{
	struct tux *t = open_one(1), *u = open_one(0);
	tux_time now = tux_clock_read(), idle = now + TUX_MSEC(IDLE_MS),
		 until = now + TUX_SEC(LIMIT_S);

	(void)state;
	while (now < idle || (readable(u) && now < until)) {
		assert_true(tux_turn(t) >= 0);
		assert_true(readable(t));
		assert_true(tux_turn(u) >= 0);
		now = tux_clock_read();
	}
	assert_false(readable(u));
	tux_close(t);
	tux_close(u);
}

/* What tux_stop() asks of a later tux_run() is nothing to do now. */
static void fd__after_stop(void **state)
{
	struct tux *t = open_one(0);
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);

	(void)state;
	assert_true(tux_turn(t) >= 0);
	tux_stop(t);
	while (readable(t) && tux_clock_read() < until)
		assert_true(tux_turn(t) >= 0);
	assert_false(readable(t));
	assert_int_equal(tux_run(t), 0);
	tux_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turn__sends_what_it_answers),
		cmocka_unit_test(run__sleeps_unless_told_not_to),
		cmocka_unit_test(fd__is_always_readable),
		cmocka_unit_test(fd__after_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
