/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of tux.h that wait for room, in routines and in other threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "sys/clock.h"

enum {
	MANY = 5000,			/* messages of each sender */
	SENDERS = 2,
	BLOCK = 300000,			/* more than any buffer has room for */
	BLOCKS = 10,
	SHORT_NS = 20000000,
};

static struct {
	_Atomic unsigned opened, got, gone, wrong, done;
	_Atomic unsigned bytes;
	_Atomic long result;
	struct tux_connection *_Atomic c;
} seen;

static void forget(void)
{
	memset(&seen, 0, sizeof(seen));
}

static void on_open(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_get(c);
	atomic_store(&seen.c, c);
	atomic_fetch_add(&seen.opened, 1);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	(void)err;
	(void)arg;
	atomic_fetch_add(&seen.gone, 1);
}

/* ---- messages ---- */

static void on_message_echo(struct tux_connection *c, struct tux_message *m,
			    unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		if (tux_send_wait(c, m[i].p, m[i].len, TUX_ORDERED,
				  TUX_FOREVER))
			atomic_fetch_add(&seen.wrong, 1);
}

static void on_message_count(struct tux_connection *c, struct tux_message *m,
			     unsigned n, void *arg)
{
	static uint32_t next[SENDERS];
	uint32_t v[2];
	unsigned i;

	(void)c;
	(void)arg;
	for (i = 0; i < n; i++) {
		memcpy(v, m[i].p, sizeof(v));
		if (v[1] != next[v[0]]++ % MANY)
			atomic_fetch_add(&seen.wrong, 1);
	}
	atomic_fetch_add(&seen.got, n);
}

static void *send_many(void *arg)
{
	uint32_t v[2] = { (uint32_t)(intptr_t)arg, 0 };
	char pad[1000] = { 0 };
	const struct iovec iov[2] = { { v, sizeof(v) }, { pad, sizeof(pad) } };

	for (; v[1] < MANY; v[1]++)
		if (tux_sendv_wait(seen.c, iov, 2, TUX_ORDERED, NULL,
				   TUX_FOREVER))
			atomic_fetch_add(&seen.wrong, 1);
	return NULL;
}

static void send__threads_and_callbacks_without_a_queue(void **state)
{
	pthread_t t[SENDERS];
	struct duet d;
	intptr_t i;

	(void)state;
	forget();
	duet_open(&d, TUX_BACKEND_UDP);
	tux_on_message(d.server.s, on_message_echo, NULL);
	tux_on_open(d.client.s, on_open, NULL);
	tux_on_message(d.client.s, on_message_count, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen.opened, 1);
	for (i = 0; i < SENDERS; i++)
		pthread_create(&t[i], NULL, send_many, (void *)i);
	for (i = 0; i < SENDERS; i++)
		pthread_join(t[i], NULL);
	await(&seen.got, SENDERS * MANY);
	assert_int_equal(seen.wrong, 0);
	tux_put(seen.c);
	duet_close(&d);
}

/* The fate of a message is told behind the callback that would wait. */
static void on_message_deadlock(struct tux_connection *c, struct tux_message *m,
				unsigned n, void *arg)
{
	int err = 0;

	(void)m;
	(void)n;
	(void)arg;
	while (!err)
		err = tux_send_wait(c, "x", 1, 0, TUX_FOREVER);
	atomic_store(&seen.result, err);
	atomic_store(&seen.done, 1);
}

static void on_settled(struct tux_connection *c, uint64_t ref, int err,
		       void *arg)
{
	(void)c;
	(void)ref;
	(void)err;
	(void)arg;
}

static void on_message_drop(struct tux_connection *c, struct tux_message *m,
			    unsigned n, void *arg)
{
	(void)c;
	(void)m;
	(void)n;
	(void)arg;
}

static void send__no_wait_for_what_comes_behind_it(void **state)
{
	struct duet d;

	(void)state;
	forget();
	duet_open(&d, TUX_BACKEND_UDP);
	tux_on_message(d.server.s, on_message_deadlock, NULL);
	tux_on_settled(d.server.s, on_settled, NULL);
	tux_on_message(d.client.s, on_message_drop, NULL);
	tux_on_open(d.client.s, on_open, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen.opened, 1);
	assert_int_equal(tux_send_wait(seen.c, "go", 2, 0, TUX_FOREVER), 0);
	await(&seen.done, 1);
	assert_int_equal(seen.result, -EDEADLK);
	tux_put(seen.c);
	duet_close(&d);
}

/* Room comes when fates are told, which a callback that sleeps holds up. */
static void on_stream_sleeps(struct tux_connection *c, void *arg)
{
	char p;

	(void)arg;
	while (tux_read(c, &p, 1) == 1)
		tux_sleep(100000000);
}

static void *send_more(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < MANY; i++) {
		if (i % 1000 == 0 && tux_write(seen.c, "x", 1) != 1)
			atomic_fetch_add(&seen.wrong, 1);
		if (tux_send_wait(seen.c, "message", 7, 0, TUX_FOREVER))
			atomic_fetch_add(&seen.wrong, 1);
	}
	return NULL;
}

static void on_stream_echo(struct tux_connection *c, void *arg)
{
	char p;

	(void)arg;
	while (tux_read(c, &p, 1) == 1)
		tux_write(c, &p, 1);
}

static void send__behind_fates_that_are_told(void **state)
{
	struct duet d;
	pthread_t t;

	(void)state;
	forget();
	duet_open(&d, TUX_BACKEND_UDP);
	tux_on_stream(d.server.s, on_stream_echo, NULL);
	tux_on_message(d.server.s, on_message_drop, NULL);
	tux_on_open(d.client.s, on_open, NULL);
	tux_on_stream(d.client.s, on_stream_sleeps, NULL);
	tux_on_settled(d.client.s, on_settled, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen.opened, 1);
	pthread_create(&t, NULL, send_more, NULL);
	pthread_join(t, NULL);
	assert_int_equal(seen.wrong, 0);
	tux_put(seen.c);
	duet_close(&d);
}

/* ---- bytes ---- */

/* Each block has one value: blocks of two writers do not mix. */
static void on_stream_blocks(struct tux_connection *c, void *arg)
{
	static uint8_t buf[65536], is;
	ssize_t i, n;

	(void)arg;
	while ((n = tux_read(c, buf, sizeof(buf))) > 0) {
		for (i = 0; i < n; i++) {
			if (!(seen.bytes % BLOCK))
				is = buf[i];
			if (buf[i] != is)
				atomic_fetch_add(&seen.wrong, 1);
			atomic_fetch_add(&seen.bytes, 1);
		}
	}
	if (seen.bytes == SENDERS * BLOCKS * BLOCK)
		atomic_store(&seen.done, 1);
}

static void *write_blocks(void *arg)
{
	uint8_t *p = malloc(BLOCK);
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		memset(p, (int)(i * SENDERS + (uintptr_t)arg), BLOCK);
		if (tux_write_wait(seen.c, p, BLOCK, TUX_FOREVER) != BLOCK)
			atomic_fetch_add(&seen.wrong, 1);
	}
	free(p);
	return NULL;
}

static void write_in_routine(void *arg)
{
	write_blocks(arg);
}

/* A thread and a routine, which the stack ends with. */
static void write__blocks_stay_whole(enum tux_backend backend)
{
	struct duet d;
	pthread_t t;

	forget();
	duet_open(&d, backend);
	tux_on_stream(d.server.s, on_stream_blocks, NULL);
	tux_on_open(d.client.s, on_open, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen.opened, 1);
	pthread_create(&t, NULL, write_blocks, (void *)0);
	assert_int_equal(tux_go(d.client.t, write_in_routine, (void *)1), 0);
	await(&seen.done, 1);
	pthread_join(t, NULL);
	assert_int_equal(seen.wrong, 0);
	tux_put(seen.c);
	duet_close(&d);
}

static void write__over_tux(void **state)
{
	(void)state;
	write__blocks_stay_whole(TUX_BACKEND_UDP);
}

static void write__over_tcp(void **state)
{
	(void)state;
	write__blocks_stay_whole(TUX_BACKEND_TCP);
}

/* ---- how a wait ends without room ---- */

/* To a peer that reads nothing. */
static ssize_t fill_up(struct tux_connection *c, uint64_t ns)
{
	static const char p[BLOCK];
	ssize_t n = 1;

	while (n > 0)
		n = tux_write_wait(c, p, sizeof(p), ns);
	return n;
}

static void *fill_up_thread(void *arg)
{
	(void)arg;
	atomic_store(&seen.done, 1);
	atomic_store(&seen.result, fill_up(seen.c, TUX_FOREVER));
	return NULL;
}

static void on_stream_none(struct tux_connection *c, void *arg)
{
	(void)c;
	(void)arg;
}

/* A server with a connection to a plain peer, which reads nothing. */
static int up_with_peer(struct duet *d)
{
	int fd;

	forget();
	duet_open(d, TUX_BACKEND_UDP);
	tux_on_open(d->server.s, on_open, NULL);
	tux_on_stream(d->server.s, on_stream_none, NULL);
	tux_on_gone(d->server.s, on_gone, NULL);
	duet_start(d);
	fd = plain_connect(d->port);
	await(&seen.opened, 1);
	return fd;
}

static void fill_in_routine(void *arg)
{
	(void)arg;
	atomic_store(&seen.result, fill_up(seen.c, SHORT_NS));
	atomic_store(&seen.done, 1);
}

static void wait__until_its_time_is_up(void **state)
{
	struct duet d;
	int fd = up_with_peer(&d);

	(void)state;
	assert_int_equal(fill_up(seen.c, SHORT_NS), -ETIMEDOUT);
	assert_int_equal(tux_go(d.server.t, fill_in_routine, NULL), 0);
	await(&seen.done, 1);
	assert_int_equal(seen.result, -ETIMEDOUT);
	close(fd);
	tux_put(seen.c);
	duet_close(&d);
}

static void end_by_abort(struct duet *d, int fd)
{
	(void)d;
	(void)fd;
	tux_abort(seen.c);
}

static void end_by_peer(struct duet *d, int fd)
{
	const struct linger now = { .l_onoff = 1 };

	(void)d;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

static void end_by_stop(struct duet *d, int fd)
{
	(void)fd;
	tux_stop(d->server.t);
}

/* A thread waits for ever: its result. */
static long ends_with(void (*end)(struct duet *d, int fd))
{
	struct duet d;
	int fd = up_with_peer(&d);
	pthread_t t;

	pthread_create(&t, NULL, fill_up_thread, NULL);
	await(&seen.done, 1);
	usleep(20000);
	end(&d, fd);
	pthread_join(t, NULL);
	/* Not before: that would be another end of the connection. */
	if (end != end_by_peer)
		close(fd);
	tux_put(seen.c);
	duet_close(&d);
	assert_int_equal(seen.gone, 1);
	return seen.result;
}

static void wait__ends_with_the_connection(void **state)
{
	long err;

	(void)state;
	assert_int_equal(ends_with(end_by_abort), -ENOTCONN);
	err = ends_with(end_by_peer);
	/* The connection may be gone before the thread looks. */
	assert_true(err == -ECONNRESET || err == -EPIPE || err == -ENOTCONN);
}

static void wait__ends_with_the_run(void **state)
{
	(void)state;
	assert_int_equal(ends_with(end_by_stop), -ESHUTDOWN);
}

static void end_by_shut(struct duet *d, int fd)
{
	(void)d;
	(void)fd;
	assert_int_equal(tux_shut(seen.c), 0);
	/* TCP may have room all the same, to tell so by; then it ends. */
	tux_abort(seen.c);
}

static void wait__ends_when_it_is_shut(void **state)
{
	long err;

	(void)state;
	err = ends_with(end_by_shut);
	assert_true(err == -EPIPE || err == -ENOTCONN);
}

/* A connection that cannot be established: the waiter is told why. */
static void *write_early(void *arg)
{
	(void)arg;
	atomic_store(&seen.result, tux_write_wait(seen.c, "x", 1, TUX_FOREVER));
	tux_put(seen.c);
	atomic_store(&seen.done, 1);
	return NULL;
}

static void on_gone_when_done(struct tux_connection *c, int err, void *arg)
{
	tux_time until = tux_clock_read() + TUX_SEC(30);

	/* Gone may wait for the thread. */
	while (!seen.done && tux_clock_read() < until)
		tux_sleep(1000000);
	on_gone(c, err, arg);
}

static void connect_nowhere(void *arg)
{
	struct duet *d = arg;
	struct tux_connection *c;

	if (tux_connect(d->client.s, "127.0.0.1", 1, NULL, &c))
		return;
	tux_get(c);
	atomic_store(&seen.c, c);
}

static void wait__ends_when_it_cannot_connect(void **state)
{
	struct duet d;
	pthread_t t;

	(void)state;
	forget();
	duet_open(&d, TUX_BACKEND_TCP);
	tux_on_gone(d.client.s, on_gone_when_done, NULL);
	duet_start(&d);
	part_do(&d.client, connect_nowhere, &d);
	assert_non_null(seen.c);
	pthread_create(&t, NULL, write_early, NULL);
	pthread_join(t, NULL);
	await(&seen.gone, 1);
	assert_true(seen.result == -ECONNREFUSED || seen.result == -ENOTCONN);
	duet_close(&d);
}

/* Without a thread of its own: no room comes while this one sleeps. */
static void wait__not_on_the_network_thread(void **state)
{
	struct tux_connection *c;
	struct duet d;
	int i;

	(void)state;
	forget();
	duet_open(&d, TUX_BACKEND_UDP);
	tux_on_message(d.server.s, on_message_drop, NULL);
	tux_on_message(d.client.s, on_message_drop, NULL);
	assert_int_equal(tux_listen(d.server.s, "127.0.0.1", 0), 0);
	assert_int_equal(tux_connect(d.client.s, "127.0.0.1",
				     (uint16_t)tux_port(d.server.s), NULL, &c),
			 0);
	assert_true(tux_turn(d.client.t) >= 0);
	for (i = 0; i < 1000 && tux_send(c, "x", 1, 0) != -EAGAIN; i++)
		;
	assert_int_equal(tux_send_wait(c, "x", 1, 0, TUX_FOREVER), -EDEADLK);
	duet_close(&d);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(send__threads_and_callbacks_without_a_queue),
		cmocka_unit_test(send__no_wait_for_what_comes_behind_it),
		cmocka_unit_test(send__behind_fates_that_are_told),
		cmocka_unit_test(write__over_tux),
		cmocka_unit_test(write__over_tcp),
		cmocka_unit_test(wait__until_its_time_is_up),
		cmocka_unit_test(wait__ends_with_the_connection),
		cmocka_unit_test(wait__ends_with_the_run),
		cmocka_unit_test(wait__ends_when_it_is_shut),
		cmocka_unit_test(wait__ends_when_it_cannot_connect),
		cmocka_unit_test(wait__not_on_the_network_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
