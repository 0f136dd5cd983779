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

#include "../../unit/test.h"
#include "rig.h"
#include "sys/clock.h"

enum {
	ROUNDS = 2000,		/* of a ping-pong */
	PING_MAX = 20000,
	BULK = 8 << 20,
	UPGRADE_S = 30,
};

struct hosts {			/* a client's stack and a server's */
	unsigned threads;
	struct tux_stack *client, *server;
	int listener;
	uint16_t port;
};

struct pair {
	struct side client, server;
};

static void hosts_up(struct hosts *r, unsigned threads)
{
	r->threads = threads;
	r->client = side_stack(threads);
	r->server = side_stack(threads);
	r->listener = side_listen(r->server, &r->port);
}

static void hosts_down(struct hosts *r)
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

static void pair_up(struct hosts *r, struct pair *p)
{
	int fd = side_connect(r->port);

	side_open(&p->server, r->server, accept(r->listener, NULL, NULL), false,
		  NULL, 0);
	side_open(&p->client, r->client, fd, true, NULL, 0);
}

/* ---- asking a server that echoes until the end ---- */

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
	struct hosts r;
	struct pair p;
	pthread_t t;

	hosts_up(&r, threads);
	pair_up(&r, &p);
	t = rig_start(rig_echo, &p.server);
	converse(&p.client, ROUNDS);
	assert_true(atomic_load(&p.client.tux));
	side_shut(&p.client);
	assert_int_equal(side_read(&p.client, &(char){ 0 }, 1), 0);
	assert_int_equal(rig_finish(t), 0);
	pair_down(&p);
	hosts_down(&r);
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
	struct hosts r;
	struct pair p;
	uint8_t *want = malloc(BULK), *got = malloc(BULK + 1);
	size_t at = 0;
	ssize_t k;
	pthread_t t;

	hosts_up(&r, threads);
	pair_up(&r, &p);
	t = rig_start(pour, &p.client);
	while ((k = side_read(&p.server, got + at, BULK + 1 - at)) > 0)
		at += (size_t)k;
	assert_int_equal(k, 0);
	assert_int_equal(at, BULK);
	fill(want, BULK, 1);
	assert_memory_equal(got, want, BULK);
	assert_int_equal(rig_finish(t), 0);
	/* The other direction is still open. */
	assert_int_equal(side_write(&p.server, "bye", 3), 3);
	assert_int_equal(side_read(&p.client, got, 8), 3);
	assert_memory_equal(got, "bye", 3);
	pair_down(&p);
	hosts_down(&r);
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
	struct hosts r;
	struct pair p;
	pthread_t t;

	hosts_up(&r, threads);
	pair_up(&r, &p);
	t = rig_start(swallow, &p.server);
	fill(buf, sizeof(buf), 3);
	assert_int_equal(side_write(&p.client, buf, 1000), 1000);
	usleep(50000);
	assert_int_equal(side_write(&p.client, buf, sizeof(buf)), sizeof(buf));
	side_close(&p.client, false);
	assert_int_equal(rig_finish(t), 1000 + sizeof(buf));
	side_close(&p.server, false);
	side_free(&p.client);
	side_free(&p.server);
	hosts_down(&r);
}

static void resets(unsigned threads)
{
	struct hosts r;
	struct pair p;
	pthread_t t;

	hosts_up(&r, threads);
	pair_up(&r, &p);
	t = rig_start(rig_echo, &p.server);
	converse(&p.client, 1);
	side_close(&p.client, true);
	assert_int_equal(rig_finish(t), -ECONNRESET);
	side_close(&p.server, false);
	side_free(&p.client);
	side_free(&p.server);
	hosts_down(&r);
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
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
