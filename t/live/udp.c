/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real connections over 127.0.0.1 between two stacks in one process: loops,
 * drivers, lifelines and the udp backend, as a program would use them.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/test.h"
#include "io/clock.h"
#include "side.h"

enum {
	ROUNDS = 2000,		/* of a ping-pong */
	PING_MAX = 20000,
	BULK = 8 << 20,
	MANY = 50,
	MESSAGE = 3000,
	MESSAGES = 50,
	UPGRADE_S = 5,
};

struct rig {			/* a client's stack and a server's */
	unsigned threads;
	struct tux_stack *client, *server;
	int listener;
	uint16_t port;
};

struct pair {
	struct side client, server;
};

static void rig_up(struct rig *r, unsigned threads)
{
	r->threads = threads;
	r->client = side_stack(threads);
	r->server = side_stack(threads);
	r->listener = side_listen(r->server, &r->port);
}

static void rig_down(struct rig *r)
{
	close(r->listener);
	tux_stack_free(r->client);
	tux_stack_free(r->server);
}

static void fill(uint8_t *p, size_t len, uint64_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(i % 8 ? seed >> (i % 8 * 8) :
				 test_random(&seed));
}

static void pair_up(struct rig *r, struct pair *p)
{
	int fd = side_connect(r->port);

	side_open(&p->server, r->server, accept(r->listener, NULL, NULL), false,
		  NULL, 0);
	side_open(&p->client, r->client, fd, true, NULL, 0);
}

/* ---- a server that echoes until the end ---- */

static void *echo(void *arg)
{
	struct side *x = arg;
	static _Thread_local uint8_t buf[65536];
	ssize_t k;

	while ((k = side_read(x, buf, sizeof(buf))) > 0) {
		k = side_write(x, buf, (size_t)k);
		if (k < 0)
			break;
	}
	if (k == 0)
		side_shut(x);
	return (void *)(intptr_t)k;
}

static bool exchange(struct side *x, const uint8_t *out, size_t len)
{
	static uint8_t in[PING_MAX];
	size_t at = 0;

	if (side_write(x, out, len) != (ssize_t)len)
		return false;
	while (at < len) {
		ssize_t k = side_read(x, in + at, len - at);

		if (k <= 0)
			return false;
		at += (size_t)k;
	}
	return memcmp(in, out, len) == 0;
}

/* Small messages until both directions have moved, at least @rounds. */
static void converse(struct side *x, unsigned rounds)
{
	static uint8_t out[PING_MAX];
	tux_time limit = tux_clock_read() + TUX_SEC(UPGRADE_S);
	uint64_t seed = 7;
	unsigned i;

	for (i = 0; i < rounds || !side_on_rings(x); i++) {
		size_t len = 1 + test_below(&seed, i % 10 ? 200 : PING_MAX);

		fill(out, len, seed);
		assert_true(exchange(x, out, len));
		assert_true(tux_clock_read() < limit || side_on_rings(x));
	}
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, fn, arg), 0);
	return t;
}

static intptr_t finish(pthread_t t)
{
	void *result;

	assert_int_equal(pthread_join(t, &result), 0);
	return (intptr_t)result;
}

static void pair_down(struct pair *p)
{
	side_close(&p->client, false);
	side_close(&p->server, false);
	side_free(&p->client);
	side_free(&p->server);
}

/* ---- the tests, each inline and with threads ---- */

static void moves_and_keeps_bytes(unsigned threads)
{
	struct rig r;
	struct pair p;
	pthread_t t;

	rig_up(&r, threads);
	pair_up(&r, &p);
	t = start(echo, &p.server);
	converse(&p.client, ROUNDS);
	assert_true(atomic_load(&p.client.tux));
	side_shut(&p.client);
	assert_int_equal(side_read(&p.client, &(char){ 0 }, 1), 0);
	assert_int_equal(finish(t), 0);
	pair_down(&p);
	rig_down(&r);
}

static void *pour(void *arg)
{
	struct side *x = arg;
	uint8_t *p = malloc(BULK);
	ssize_t k;

	fill(p, BULK, 1);
	k = side_write(x, p, BULK);
	side_shut(x);
	free(p);
	return (void *)(intptr_t)(k == BULK ? 0 : k);
}

static void carries_much_and_half_closes(unsigned threads)
{
	struct rig r;
	struct pair p;
	uint8_t *want = malloc(BULK), *got = malloc(BULK + 1);
	size_t at = 0;
	ssize_t k;
	pthread_t t;

	rig_up(&r, threads);
	pair_up(&r, &p);
	t = start(pour, &p.client);
	while ((k = side_read(&p.server, got + at, BULK + 1 - at)) > 0)
		at += (size_t)k;
	assert_int_equal(k, 0);
	assert_int_equal(at, BULK);
	fill(want, BULK, 1);
	assert_memory_equal(got, want, BULK);
	assert_int_equal(finish(t), 0);
	/* The other direction is still open. */
	assert_int_equal(side_write(&p.server, "bye", 3), 3);
	assert_int_equal(side_read(&p.client, got, 8), 3);
	assert_memory_equal(got, "bye", 3);
	pair_down(&p);
	rig_down(&r);
	free(want);
	free(got);
}

static void *swallow(void *arg)
{
	struct side *x = arg;
	static _Thread_local uint8_t buf[65536];
	intptr_t n = 0;
	ssize_t k;

	while ((k = side_read(x, buf, sizeof(buf))) > 0)
		n += k;
	return (void *)(k < 0 ? (intptr_t)k : n);
}

static void delivers_what_was_written_before_close(unsigned threads)
{
	static uint8_t buf[200000];
	struct rig r;
	struct pair p;
	pthread_t t;

	rig_up(&r, threads);
	pair_up(&r, &p);
	t = start(swallow, &p.server);
	fill(buf, sizeof(buf), 3);
	assert_int_equal(side_write(&p.client, buf, 1000), 1000);
	usleep(50000);
	assert_int_equal(side_write(&p.client, buf, sizeof(buf)), sizeof(buf));
	side_close(&p.client, false);
	assert_int_equal(finish(t), 1000 + sizeof(buf));
	side_close(&p.server, false);
	side_free(&p.client);
	side_free(&p.server);
	rig_down(&r);
}

static void resets(unsigned threads)
{
	struct rig r;
	struct pair p;
	pthread_t t;

	rig_up(&r, threads);
	pair_up(&r, &p);
	t = start(echo, &p.server);
	converse(&p.client, 1);
	side_close(&p.client, true);
	assert_int_equal(finish(t), -ECONNRESET);
	side_close(&p.server, false);
	side_free(&p.client);
	side_free(&p.server);
	rig_down(&r);
}

/* ---- many connections of one thread, on one waiter ---- */

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

/* One sleep, and who has news: those that rang, and those on TCP. */
static void wait_for_some(struct many *m, bool *news)
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
		news[i] = p[i].revents;
	while (tux_bell_take(m->w.bell, &at)) {
		atomic_store(&m->x[at].queued, 0);
		news[at] = true;
	}
}

static void *echo_many(void *arg)
{
	struct many *m = arg;
	bool news[MANY];
	unsigned i;

	while (!atomic_load(&m->x[0].gone)) {
		wait_for_some(m, news);
		for (i = 0; i < MANY; i++) {
			uint8_t buf[4096];
			ssize_t k;

			if (!news[i])
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
	bool news[MANY];

	for (i = 0; i < MANY; i++)
		ask(m, i);
	while (asking) {
		wait_for_some(m, news);
		for (i = 0; i < MANY; i++) {
			if (!news[i] || !take(m, i))
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

	rig_up(&r, threads);
	for (i = 0; i < MANY; i++) {
		near[i] = side_connect(r.port);
		far[i] = accept(r.listener, NULL, NULL);
	}
	many_up(&s, r.server, far, false);
	many_up(&c, r.client, near, true);
	t = start(echo_many, &s);
	converse_many(&c);
	for (i = 0; i < MANY; i++)
		side_close(&c.x[i], false);
	finish(t);
	for (i = 0; i < MANY; i++)
		side_close(&s.x[i], false);
	many_down(&c);
	many_down(&s);
	rig_down(&r);
}

#define BOTH(name) \
	static void name##__inline(void **state) \
	{ \
		(void)state; \
		name(0); \
	} \
	static void name##__threads(void **state) \
	{ \
		(void)state; \
		name(2); \
	}

BOTH(moves_and_keeps_bytes)
BOTH(carries_much_and_half_closes)
BOTH(delivers_what_was_written_before_close)
BOTH(resets)
BOTH(serves_many_on_one_waiter)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_and_keeps_bytes__inline),
		cmocka_unit_test(moves_and_keeps_bytes__threads),
		cmocka_unit_test(carries_much_and_half_closes__inline),
		cmocka_unit_test(carries_much_and_half_closes__threads),
		cmocka_unit_test(delivers_what_was_written_before_close__inline),
		cmocka_unit_test(delivers_what_was_written_before_close__threads),
		cmocka_unit_test(resets__inline),
		cmocka_unit_test(resets__threads),
		cmocka_unit_test(serves_many_on_one_waiter__inline),
		cmocka_unit_test(serves_many_on_one_waiter__threads),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
