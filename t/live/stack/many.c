/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many connections of one thread, on one waiter.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "rig.h"
#include "sys/clock.h"

enum {
	MANY = 50,
	MESSAGE = 3000,
	MESSAGES = 50,
	UPGRADE_S = 30,
};

struct many {
	struct side *x;
	size_t *at;		/* bytes of the answer that are there */
	struct tux_waiter w;
};

/* Bytes of connection @i that tell it and their place. */
static uint8_t byte_of(unsigned i, size_t at)
{
	return (uint8_t)(i * 31 + at * 7);
}

/* What @i has for us; true when its answer is complete. */
static bool take(struct many *m, unsigned i)
{
	size_t j, before = m->at[i];
	uint8_t buf[4096];
	ssize_t k;

	while ((k = side_try_read(&m->x[i], buf, sizeof(buf))) > 0)
		for (j = 0; j < (size_t)k; j++)
			assert_int_equal(buf[j], byte_of(i, m->at[i]++));
	assert_int_equal(k, -EAGAIN);
	return m->at[i] > before && m->at[i] % MESSAGE == 0;
}

static void ask(struct many *m, unsigned i)
{
	uint8_t buf[MESSAGE];
	size_t j;

	for (j = 0; j < MESSAGE; j++)
		buf[j] = byte_of(i, m->at[i] + j);
	assert_int_equal(side_write(&m->x[i], buf, MESSAGE), MESSAGE);
}

/* One sleep, and which sides are ready: those that rang, and those on TCP. */
static void wait_for_some(struct many *m, bool *ready)
{
	struct pollfd p[MANY];
	unsigned i;
	uint32_t at;

	for (i = 0; i < MANY; i++) {
		bool ring = tux_duplex_poll(m->x[i].dx) & TUX_RX_ON_RING;

		p[i] = (struct pollfd){ ring ? -1 : m->x[i].fd, POLLIN, 0 };
	}
	tux_channel_wait(m->x[0].stack, &m->w, p, MANY, TUX_NEVER, NULL);
	for (i = 0; i < MANY; i++)
		ready[i] = p[i].revents;
	while (tux_bell_take(m->w.bell, &at)) {
		atomic_store(&m->x[at].queued, 0);
		ready[at] = true;
	}
}

static void *echo_many(void *arg)
{
	struct many *m = arg;
	bool ready[MANY];
	unsigned i;

	while (!atomic_load(&m->x[0].gone)) {
		wait_for_some(m, ready);
		for (i = 0; i < MANY; i++) {
			uint8_t buf[4096];
			ssize_t k;

			if (!ready[i])
				continue;
			while ((k = side_try_read(&m->x[i], buf,
						  sizeof(buf))) > 0)
				side_write(&m->x[i], buf, (size_t)k);
			if (k == 0)
				return NULL;
		}
	}
	return NULL;
}

static void many_up(struct many *m, struct tux_stack *s, const int *fd,
		    bool active)
{
	unsigned i;

	m->x = calloc(MANY, sizeof(*m->x));
	m->at = calloc(MANY, sizeof(*m->at));
	assert_int_equal(tux_waiter_init(&m->w, 64), 0);
	for (i = 0; i < MANY; i++)
		side_open(&m->x[i], s, fd[i], active, &m->w, i);
}

static void many_down(struct many *m)
{
	unsigned i;

	for (i = 0; i < MANY; i++)
		side_free(&m->x[i]);
	tux_waiter_fini(&m->w);
	free(m->x);
	free(m->at);
}

static unsigned on_rings(const struct many *m)
{
	unsigned i, n = 0;

	for (i = 0; i < MANY; i++)
		n += side_on_rings(&m->x[i]);
	return n;
}

/* At least so many messages on each, and until all have moved. */
static void converse_many(struct many *m)
{
	tux_time limit = tux_clock_read() + TUX_SEC(UPGRADE_S);
	unsigned i, asking = MANY;
	bool ready[MANY];

	for (i = 0; i < MANY; i++)
		ask(m, i);
	while (asking) {
		wait_for_some(m, ready);
		for (i = 0; i < MANY; i++) {
			if (!ready[i] || !take(m, i))
				continue;
			if (m->at[i] < MESSAGES * MESSAGE ||
			    (on_rings(m) < MANY && tux_clock_read() < limit))
				ask(m, i);
			else
				asking--;
		}
	}
	assert_int_equal(on_rings(m), MANY);
}

static void serves_many_on_one_waiter(unsigned threads)
{
	int near[MANY], far[MANY];
	struct many c, s;
	struct rig r;
	unsigned i;
	pthread_t t;

	rig_listen(&r, threads);
	r.client = side_stack(threads);
	for (i = 0; i < MANY; i++) {
		near[i] = side_connect(r.port);
		far[i] = accept(r.listener, NULL, NULL);
	}
	many_up(&s, r.server, far, false);
	many_up(&c, r.client, near, true);
	t = rig_start(echo_many, &s);
	converse_many(&c);
	for (i = 0; i < MANY; i++)
		side_close(&c.x[i], false);
	rig_finish(t);
	for (i = 0; i < MANY; i++)
		side_close(&s.x[i], false);
	many_down(&c);
	many_down(&s);
	close(r.listener);
	tux_stack_free(r.client);
	tux_stack_free(r.server);
}

static void one_waiter__inline(void **state)
{
	(void)state;
	serves_many_on_one_waiter(0);
}

static void one_waiter__threads(void **state)
{
	(void)state;
	serves_many_on_one_waiter(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_waiter__inline),
		cmocka_unit_test(one_waiter__threads),
	};

	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
