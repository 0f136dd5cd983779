/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which path the connections of tux.h take, over 127.0.0.1 and UDP: by
 * themselves, and when they are told.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"

enum { SMALL = 100, LARGE = 1 << 20, CHUNK = 65536, FEW = 4, ENOUGH = 9,
       MANY = 400, PASSIVE = 7, TRIES = 100 };

enum { SERVER, CLIENT };

static struct {
	_Atomic unsigned opened, gone, wrong, messages, settled;
	struct tux_connection_stats st;	/* when it went */
} seen[2];

/* The client asks so often, each time for so many bytes; and goes on until
 * @on_tux of them came over Tux. */
static struct {
	unsigned rounds, sent;
	uint64_t on_tux;
	uint32_t len, left;
	_Atomic unsigned done;
} quiz;

/* The question is the length of the answer. */
struct talk {
	uint32_t ask;
	unsigned have;
	uint32_t left;
};

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	intptr_t i = (intptr_t)arg;

	(void)err;
	if (tux_connection_stats(c, &seen[i].st, sizeof(seen[i].st)))
		atomic_fetch_add(&seen[i].wrong, 1);
	free(tux_user(c));
	atomic_fetch_add(&seen[i].gone, 1);
}

/* ---- the server ---- */

static void on_server_open(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_set_user(c, calloc(1, sizeof(struct talk)));
	atomic_fetch_add(&seen[SERVER].opened, 1);
}

/* False: there is no room, or no question. */
static bool serve_some(struct tux_connection *c, struct talk *k)
{
	static const char bytes[CHUNK];
	uint32_t n = k->left < CHUNK ? k->left : CHUNK;
	ssize_t got;

	if (n) {
		got = tux_write(c, bytes, n);
		if (got > 0)
			k->left -= (uint32_t)got;
		return got > 0;
	}
	got = tux_read(c, (char *)&k->ask + k->have, sizeof(k->ask) - k->have);
	if (got <= 0)
		return false;
	k->have += (unsigned)got;
	if (k->have == sizeof(k->ask)) {
		k->left = k->ask;
		k->have = 0;
	}
	return true;
}

static void on_server(struct tux_connection *c, void *arg)
{
	(void)arg;
	while (serve_some(c, tux_user(c)))
		;
	if (tux_ended(c))
		tux_disconnect(c);
}

/* ---- the client ---- */

static void ask(struct tux_connection *c)
{
	quiz.left = quiz.len;
	if (tux_write(c, &quiz.len, sizeof(quiz.len)) != sizeof(quiz.len))
		atomic_fetch_add(&seen[CLIENT].wrong, 1);
	quiz.sent++;
}

static bool asks_on(struct tux_connection *c)
{
	struct tux_connection_stats st;

	if (quiz.sent < quiz.rounds)
		return true;
	return quiz.on_tux && !tux_connection_stats(c, &st, sizeof(st)) &&
	       st.tux_rx < quiz.on_tux;
}

static void on_client_open(struct tux_connection *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&seen[CLIENT].opened, 1);
	if (quiz.rounds)
		ask(c);
}

static void on_client(struct tux_connection *c, void *arg)
{
	static char buf[CHUNK];
	ssize_t n;

	(void)arg;
	while ((n = tux_read(c, buf, sizeof(buf))) > 0) {
		quiz.left -= (uint32_t)n;
		if (quiz.left)
			continue;
		if (asks_on(c))
			ask(c);
		else
			atomic_store(&quiz.done, 1);
	}
}

/* ---- both ---- */

static struct tux_opts with_path(enum tux_use path)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);

	o.path = path;
	return o;
}

static void path_up(struct duet *d, enum tux_use server, enum tux_use client)
{
	struct tux_opts s = with_path(server), c = with_path(client);

	memset(seen, 0, sizeof(seen));
	memset(&quiz, 0, sizeof(quiz));
	duet_open_as(d, &s, &c);
	tux_on_open(d->server.s, on_server_open, NULL);
	tux_on_stream(d->server.s, on_server, NULL);
	tux_on_room(d->server.s, on_server, NULL);
	tux_on_gone(d->server.s, on_gone, (void *)SERVER);
	tux_on_open(d->client.s, on_client_open, NULL);
	tux_on_stream(d->client.s, on_client, NULL);
	tux_on_gone(d->client.s, on_gone, (void *)CLIENT);
}

static void path_down(struct duet *d, struct tux_connection *c)
{
	tux_disconnect(c);
	await(&seen[CLIENT].gone, 1);
	await(&seen[SERVER].gone, 1);
	assert_int_equal(seen[CLIENT].wrong, 0);
	assert_int_equal(seen[SERVER].wrong, 0);
	duet_close(d);
}

/* One connection that asks @rounds times for @len bytes, and until @on_tux of
 * the answers came over Tux; seen[].st has what both ends knew at its end. */
static void ask_until(enum tux_use server, enum tux_use client, unsigned rounds,
		      uint32_t len, unsigned on_tux)
{
	struct tux_connection *c;
	struct duet d;

	path_up(&d, server, client);
	quiz.rounds = rounds;
	quiz.len = len;
	quiz.on_tux = (uint64_t)on_tux * len;
	duet_start(&d);
	c = duet_connect(&d, NULL);
	await(&quiz.done, 1);
	path_down(&d, c);
}

static void ask_for(enum tux_use server, enum tux_use client, unsigned rounds,
		    uint32_t len)
{
	ask_until(server, client, rounds, len, 0);
}

static void assert_on_tcp(const struct tux_connection_stats *st,
			  const char *why)
{
	assert_int_equal(st->tux_tx + st->tux_rx, 0);
	assert_int_equal(st->frame_tx + st->frame_rx, 0);
	assert_int_equal(st->packets_tx + st->packets_rx, 0);
	assert_false(st->tx_on_tux || st->rx_on_tux);
	assert_string_equal(tux_reason_word(st->reason), why);
}

static void on_path_message(struct tux_connection *c, struct tux_message *m,
			    unsigned n, void *arg)
{
	(void)c;
	(void)m;
	atomic_fetch_add(&seen[(intptr_t)arg].messages, n);
}

static void on_path_settled(struct tux_connection *c, uint64_t ref, int err,
			    void *arg)
{
	(void)c;
	(void)ref;
	atomic_fetch_add(err ? &seen[(intptr_t)arg].wrong :
			 &seen[(intptr_t)arg].settled, 1);
}

/* ---- by itself ---- */

static void auto__a_few_requests_stay(void **state)
{
	(void)state;
	ask_for(TUX_USE_AUTO, TUX_USE_AUTO, FEW, SMALL);
	assert_on_tcp(&seen[CLIENT].st, "young");
	assert_on_tcp(&seen[SERVER].st, "young");
	assert_int_equal(seen[CLIENT].st.tcp_rx, FEW * SMALL);
	assert_int_equal(seen[CLIENT].st.turns, FEW - 1);
	assert_int_equal(seen[CLIENT].st.burst_rx, SMALL);
	assert_int_equal(seen[SERVER].st.tcp_rx, FEW * sizeof(uint32_t));
}

static void auto__many_requests_move(void **state)
{
	const struct tux_connection_stats *st = &seen[CLIENT].st;

	(void)state;
	ask_until(TUX_USE_AUTO, TUX_USE_AUTO, MANY, SMALL, MANY / 8);
	/* The rest of an answer that went across N comes in a frame. */
	assert_true(st->tcp_rx + st->frame_rx + st->tux_rx >=
		    quiz.sent * SMALL);
	/* It began on TCP. */
	assert_true(st->tcp_rx >= 8 * SMALL);
	assert_true(st->tux_tx > 0);
	/* That is why. */
	assert_int_equal(st->turns, quiz.sent - 1);
	assert_int_equal(st->burst_tx, sizeof(uint32_t));
	assert_int_equal(st->burst_rx, SMALL);
	assert_true(st->burst_max > SMALL);
	assert_true(!st->tux_rate && !st->tcp_rate);
	assert_int_equal(seen[SERVER].st.tcp_tx, st->tcp_rx);
}

static void auto__bulk_stays(void **state)
{
	(void)state;
	ask_for(TUX_USE_AUTO, TUX_USE_AUTO, 20, LARGE);
	assert_on_tcp(&seen[CLIENT].st, "bulk");
	assert_on_tcp(&seen[SERVER].st, "bulk");
	assert_int_equal(seen[CLIENT].st.tcp_rx, 20 * LARGE);
}

/* The passive end has seen enough by then to move.  It begins to, unless the end
 * of the stream is what it hears next. */
static void auto__the_peer_ends_first(void **state)
{
	const struct tux_connection_stats *st = &seen[SERVER].st;
	unsigned i = 0;

	(void)state;
	do
		ask_for(TUX_USE_AUTO, TUX_USE_AUTO, PASSIVE, SMALL);
	while (!st->reason && ++i < TRIES);
	assert_on_tcp(st, "closed");
	assert_int_equal(st->turns, PASSIVE - 1);
	assert_on_tcp(&seen[CLIENT].st, "young");
}

/* It has shown enough, but has shut down before its next bytes come. */
static void on_last_answer(struct tux_connection *c, void *arg)
{
	bool was = atomic_load(&quiz.done);

	on_client(c, arg);
	if (!was && atomic_load(&quiz.done) &&
	    (tux_shut(c) || tux_write(c, "x", 1) != -EPIPE))
		atomic_fetch_add(&seen[CLIENT].wrong, 1);
}

static struct tux_connection *ended;

static void on_more_behind_the_end(struct tux_connection *c, void *arg)
{
	(void)arg;
	while (serve_some(c, tux_user(c)))
		;
	if (!tux_ended(c) || ended)
		return;
	ended = c;
	if (tux_write(c, "more", 4) != 4)
		atomic_fetch_add(&seen[SERVER].wrong, 1);
	atomic_fetch_add(&seen[SERVER].settled, 1);
}

static void auto__not_after_shutting_down(void **state)
{
	struct tux_connection *c;
	struct duet d;

	(void)state;
	path_up(&d, TUX_USE_AUTO, TUX_USE_AUTO);
	tux_on_stream(d.server.s, on_more_behind_the_end, NULL);
	tux_on_stream(d.client.s, on_last_answer, NULL);
	quiz.rounds = ENOUGH;
	quiz.len = SMALL;
	duet_start(&d);
	c = duet_connect(&d, NULL);
	await(&quiz.done, 1);
	await(&seen[SERVER].settled, 1);
	usleep(20000);
	tux_disconnect(ended);
	path_down(&d, c);
	assert_int_equal(seen[CLIENT].st.tcp_rx, ENOUGH * SMALL + 4);
	assert_on_tcp(&seen[CLIENT].st, "closed");
}

/* ---- as it is told ---- */

static void tux__moves_at_once(void **state)
{
	(void)state;
	ask_until(TUX_USE_TUX, TUX_USE_TUX, 20, LARGE, 10);
	assert_true(seen[CLIENT].st.backs == 0 || !test_thorough());
}

static void await_files(unsigned n)
{
	unsigned tries = 10000;

	while (test_files() != n && --tries)
		usleep(1000);
	assert_int_equal(test_files(), n);
}

/* One for each end, as over TCP; and when both ends are gone, none. */
static void tux__takes_no_second_descriptor(void **state)
{
	struct tux_connection *c[3];
	unsigned i, n = 0;
	struct duet d;

	(void)state;
	path_up(&d, TUX_USE_TUX, TUX_USE_TUX);
	quiz.len = SMALL;
	duet_start(&d);
	/* What both stacks open for the first is there with the second. */
	for (i = 0; i < 3; i++) {
		quiz.sent = 0;
		quiz.done = 0;
		quiz.rounds = MANY;
		quiz.on_tux = SMALL;
		c[i] = duet_connect(&d, NULL);
		await(&quiz.done, 1);
		if (i == 1)
			n = test_files();
	}
	assert_int_equal(test_files(), n + 2);
	tux_disconnect(c[2]);
	await_files(n);
	for (i = 0; i < 2; i++)
		tux_disconnect(c[i]);
	await(&seen[CLIENT].gone, 3);
	await(&seen[SERVER].gone, 3);
	assert_int_equal(seen[CLIENT].wrong, 0);
	await_files(n - 4);
	duet_close(&d);
}

static void tcp__never(void **state)
{
	(void)state;
	ask_for(TUX_USE_AUTO, TUX_USE_TCP, MANY, SMALL);
	assert_on_tcp(&seen[CLIENT].st, "chosen");
	assert_int_equal(seen[SERVER].st.tux_tx + seen[SERVER].st.tux_rx, 0);
	ask_for(TUX_USE_TCP, TUX_USE_TCP, MANY, SMALL);
	assert_on_tcp(&seen[SERVER].st, "chosen");
}

static void tcp__has_no_messages(void **state)
{
	struct tux_connection *c;
	struct duet d;

	(void)state;
	path_up(&d, TUX_USE_TCP, TUX_USE_TCP);
	tux_on_message(d.server.s, on_path_message, (void *)SERVER);
	tux_on_message(d.client.s, on_path_message, (void *)CLIENT);
	duet_start(&d);
	c = duet_connect(&d, NULL);
	await(&seen[CLIENT].opened, 1);
	assert_int_equal(tux_send(c, "x", 1, 0), -EPROTONOSUPPORT);
	path_down(&d, c);
}

/* ---- messages ---- */

static void send_now(struct tux_connection *c)
{
	int err;

	while ((err = tux_send(c, "message", 7, 0)) == -EAGAIN)
		usleep(100);
	assert_int_equal(err, 0);
}

/* No byte of the stream is needed; only one end sends. */
static void message__moves_at_once(void **state)
{
	struct tux_connection *c;
	struct duet d;

	(void)state;
	path_up(&d, TUX_USE_AUTO, TUX_USE_AUTO);
	tux_on_message(d.server.s, on_path_message, (void *)SERVER);
	tux_on_settled(d.client.s, on_path_settled, (void *)CLIENT);
	duet_start(&d);
	c = duet_connect(&d, NULL);
	await(&seen[CLIENT].opened, 1);
	send_now(c);
	await(&seen[SERVER].messages, 1);
	await(&seen[CLIENT].settled, 1);
	path_down(&d, c);
	assert_int_equal(seen[CLIENT].st.messages_tx, 1);
}

/* A server of both kinds, and a client with a stream only: the client waits for
 * its turns, and the server is ready. */
static void message__server_and_stream_client(void **state)
{
	struct tux_connection *c;
	struct duet d;

	(void)state;
	path_up(&d, TUX_USE_AUTO, TUX_USE_AUTO);
	tux_on_message(d.server.s, on_path_message, (void *)SERVER);
	quiz.rounds = MANY;
	quiz.len = SMALL;
	quiz.on_tux = MANY / 8 * SMALL;
	duet_start(&d);
	c = duet_connect(&d, NULL);
	await(&quiz.done, 1);
	path_down(&d, c);
	assert_true(seen[CLIENT].st.tcp_rx >= 8 * SMALL);
}

/* ---- options ---- */

static void path__bad_values(void **state)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	struct tux *t;

	(void)state;
	o.path = (enum tux_use)3;
	assert_int_equal(tux_open(&t, &o), -EINVAL);
	o.path = (enum tux_use)-1;
	assert_int_equal(tux_open(&t, &o), -EINVAL);
	/* An older caller does not know the field. */
	o.size = offsetof(struct tux_opts, path);
	assert_int_equal(tux_open(&t, &o), 0);
	tux_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto__a_few_requests_stay),
		cmocka_unit_test(auto__many_requests_move),
		cmocka_unit_test(auto__bulk_stays),
		cmocka_unit_test(auto__the_peer_ends_first),
		cmocka_unit_test(auto__not_after_shutting_down),
		cmocka_unit_test(tux__moves_at_once),
		cmocka_unit_test(tux__takes_no_second_descriptor),
		cmocka_unit_test(tcp__never),
		cmocka_unit_test(tcp__has_no_messages),
		cmocka_unit_test(message__moves_at_once),
		cmocka_unit_test(message__server_and_stream_client),
		cmocka_unit_test(path__bad_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
