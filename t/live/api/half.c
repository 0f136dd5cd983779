/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams of tux.h that end behind bytes which the callback leaves unread: it
 * learns of the end, sees all bytes until then, and no connection is left.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "sys/clock.h"

enum { LIMIT_S = 60, PARTS = 60, REPLY = 1 << 20, WORDS = 40 };

static struct {
	_Atomic unsigned opened, gone, lines, parts, wrong, messages, peeked;
	_Atomic int err;
} seen;

static void on_open(struct tux_connection *c, void *arg)
{
	(void)c, (void)arg;
	atomic_fetch_add(&seen.opened, 1);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c, (void)arg;
	atomic_store(&seen.err, err);
	atomic_fetch_add(&seen.gone, 1);
}

/* ---- a server of lines that keeps nothing ---- */

/* A line is answered when all of it is there; until then it stays unread. */
static ssize_t take_lines(struct tux_connection *c, char *buf, size_t len)
{
	ssize_t n;
	char *end;

	while ((n = tux_peek(c, buf, len)) > 0) {
		atomic_store(&seen.peeked, (unsigned)n);
		end = memchr(buf, '\n', (size_t)n);
		if (!end)
			return n;
		n = end + 1 - buf;
		if (tux_write(c, buf, (size_t)n) != n ||
		    tux_read(c, buf, (size_t)n) != n)
			atomic_fetch_add(&seen.wrong, 1);
		atomic_fetch_add(&seen.lines, 1);
	}
	return n;
}

static bool is_part(const char *p, ssize_t n)
{
	return n >= 4 && n <= 7 && !memcmp(p, "partial", (size_t)n);
}

static void on_lines(struct tux_connection *c, void *arg)
{
	char buf[256];
	ssize_t n = take_lines(c, buf, sizeof(buf));

	(void)arg;
	if (n < 0 || !tux_ended(c))
		return;
	/* All of it was there when the end was. */
	if (n > 0 && (tux_readable(c) != (size_t)n || !is_part(buf, n)))
		atomic_fetch_add(&seen.wrong, 1);
	atomic_fetch_add(&seen.parts, n > 0);
	tux_disconnect(c);
}

static void up(struct duet *d, enum tux_backend backend)
{
	memset(&seen, 0, sizeof(seen));
	duet_open(d, backend);
	tux_on_open(d->server.s, on_open, NULL);
	tux_on_stream(d->server.s, on_lines, NULL);
	tux_on_gone(d->server.s, on_gone, NULL);
}

static struct tux_stats stats;

static void ask(void *arg)
{
	assert_int_equal(tux_stats(arg, &stats, sizeof(stats)), 0);
}

static void check_none_left(struct duet *d, unsigned n)
{
	await(&seen.gone, n);
	part_do(&d->server, ask, d->server.t);
	assert_int_equal(stats.connections_now, 0);
	assert_int_equal(seen.opened, n);
	assert_int_equal(seen.gone, n);
	assert_int_equal(seen.parts, n);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(seen.err, 0);
}

/* ---- plain peers ---- */

/* printf 'line\npart' | nc: it reads the answer, and then the end. */
static void say_part(uint16_t port, unsigned pause_us)
{
	char buf[64];
	size_t got = 0;
	ssize_t k;
	int fd = plain_connect(port);

	assert_int_equal(send(fd, "line\npart", 9, 0), 9);
	usleep(pause_us);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	while ((k = read(fd, buf + got, sizeof(buf) - got)) > 0)
		got += (size_t)k;
	assert_int_equal(k, 0);
	assert_int_equal(got, 5);
	assert_memory_equal(buf, "line\n", 5);
	close(fd);
}

static void plain_peers(enum tux_backend backend)
{
	struct duet d;
	unsigned i;

	up(&d, backend);
	duet_start(&d);
	for (i = 0; i < PARTS; i++)
		say_part(d.port, i % 3 * 1000);
	check_none_left(&d, PARTS);
	duet_close(&d);
}

static void part__plain_peer(void **state)
{
	(void)state;
	plain_peers(TUX_BACKEND_UDP);
}

static void part__tcp(void **state)
{
	(void)state;
	plain_peers(TUX_BACKEND_TCP);
}

/* ---- peers with Tux ---- */

static _Atomic unsigned client_gone, client_heard;

static void on_client_stream(struct tux_connection *c, void *arg)
{
	char buf[4096];
	ssize_t k;

	(void)arg;
	while ((k = tux_read(c, buf, sizeof(buf))) > 0)
		atomic_fetch_add(&client_heard, (unsigned)k);
	if (k == 0)
		tux_disconnect(c);
}

static void on_client_gone(struct tux_connection *c, int err, void *arg)
{
	(void)arg;
	atomic_fetch_add(&seen.wrong, err != 0);
	tux_put(c);
	atomic_fetch_add(&client_gone, 1);
}

static _Atomic unsigned client_open;

static void on_client_open(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_get(c);
	atomic_fetch_add(&client_open, 1);
}

static void drop(struct tux_connection *c, struct tux_message *m, unsigned n,
		 void *arg)
{
	(void)c, (void)m, (void)n, (void)arg;
}

static struct tux_connection *join(struct duet *d)
{
	unsigned n = client_open + 1;
	struct tux_connection *c = duet_connect(d, NULL);

	await(&client_open, n);
	return c;
}

static void up_with_client(struct duet *d, enum tux_backend backend)
{
	up(d, backend);
	client_gone = client_heard = client_open = 0;
	tux_on_open(d->client.s, on_client_open, NULL);
	tux_on_stream(d->client.s, on_client_stream, NULL);
	tux_on_gone(d->client.s, on_client_gone, NULL);
}

static void say(struct tux_connection *c, const char *s)
{
	assert_int_equal(tux_write(c, s, strlen(s)), strlen(s));
}

/* The two halves of the part, and the end, fall before, into and behind the
 * switch. */
static void around_the_switch(enum tux_backend backend)
{
	struct duet d;
	unsigned i;

	up_with_client(&d, backend);
	duet_start(&d);
	for (i = 0; i < PARTS; i++) {
		struct tux_connection *c = join(&d);

		say(c, "line\npart");
		usleep(i % 6 * 500);
		say(c, "ial");
		usleep(i / 6 * 500);
		assert_int_equal(tux_shut(c), 0);
	}
	await(&client_gone, PARTS);
	check_none_left(&d, PARTS);
	assert_int_equal(client_heard, PARTS * 5);
	duet_close(&d);
}

static void part__around_the_switch(void **state)
{
	(void)state;
	around_the_switch(TUX_BACKEND_UDP);
}

static void part__around_no_switch(void **state)
{
	(void)state;
	around_the_switch(TUX_BACKEND_TCP);
}

struct look {
	struct tux_connection *c;
	bool moved;
};

static void look(void *arg)
{
	struct tux_connection_stats st;
	struct look *l = arg;

	l->moved = !tux_connection_stats(l->c, &st, sizeof(st)) &&
		   st.tx_on_tux;
}

static void await_moved(struct duet *d, struct tux_connection *c)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);
	struct look l = { .c = c };

	do {
		usleep(1000);
		part_do(&d->client, look, &l);
	} while (!l.moved && tux_clock_read() < until);
	assert_true(l.moved);
}

/* The switch comes behind bytes that stay unread, and the rest over Tux. */
static void part__switch_in_the_middle(void **state)
{
	struct tux_connection *c;
	struct duet d;

	(void)state;
	up_with_client(&d, TUX_BACKEND_UDP);
	duet_start(&d);
	c = join(&d);
	say(c, "part");
	await_moved(&d, c);
	say(c, "ial");
	await(&seen.peeked, 7);
	say(c, "\npart");
	await(&seen.lines, 1);
	await(&client_heard, 8);
	assert_int_equal(tux_shut(c), 0);
	await(&client_gone, 1);
	check_none_left(&d, 1);
	duet_close(&d);
}

/* Nothing is said behind the switch but the end. */
static void part__switch_then_end(void **state)
{
	struct tux_connection *c;
	struct duet d;

	(void)state;
	up_with_client(&d, TUX_BACKEND_UDP);
	duet_start(&d);
	c = join(&d);
	say(c, "part");
	await_moved(&d, c);
	usleep(50000);
	assert_int_equal(seen.gone, 0);
	assert_int_equal(tux_shut(c), 0);
	await(&client_gone, 1);
	check_none_left(&d, 1);
	duet_close(&d);
}

/* ---- with messages ---- */

/* The callback takes its time, so that messages wait. */
static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	(void)c, (void)m, (void)arg;
	tux_sleep(3000000);
	atomic_fetch_add(&seen.messages, n);
}

static void on_lines_last(struct tux_connection *c, void *arg)
{
	if (tux_ended(c) && seen.messages % WORDS)
		atomic_fetch_add(&seen.wrong, 1);
	on_lines(c, arg);
}

static bool send_soon(struct tux_connection *c)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);
	int err;

	while ((err = tux_send(c, "word", 4, 0)) == -EAGAIN &&
	       tux_clock_read() < until)
		usleep(500);
	return !err;
}

static void part__behind_messages(void **state)
{
	unsigned i, rounds;
	struct duet d;

	(void)state;
	up_with_client(&d, TUX_BACKEND_UDP);
	tux_on_message(d.server.s, on_message, NULL);
	tux_on_message(d.client.s, drop, NULL);
	tux_on_stream(d.server.s, on_lines_last, NULL);
	assert_int_equal(tux_set_group(d.server.s, 4), 0);
	duet_start(&d);
	for (rounds = 1; rounds <= 5; rounds++) {
		struct tux_connection *c = join(&d);

		say(c, "part");
		await_moved(&d, c);
		say(c, rounds % 2 ? "ial" : "i");
		for (i = 0; i < WORDS; i++)
			assert_true(send_soon(c));
		assert_int_equal(tux_shut(c), 0);
		await(&client_gone, rounds);
		assert_int_equal(seen.messages, rounds * WORDS);
	}
	check_none_left(&d, 5);
	duet_close(&d);
}

/* ---- half of it goes on ---- */

static struct {
	struct tux_connection *c;
	size_t out;
	bool ended;
} reply;

/* The peer has ended its stream behind a part: it still gets an answer. */
static void pour(struct tux_connection *c, void *arg)
{
	static const char p[65536];
	ssize_t k = 1;

	(void)arg;
	reply.ended |= tux_ended(c);
	while (reply.ended && reply.out < REPLY && k > 0) {
		size_t n = REPLY - reply.out;

		k = tux_write(c, p, n < sizeof(p) ? n : sizeof(p));
		reply.out += k > 0 ? (size_t)k : 0;
	}
	if (reply.out < REPLY)
		return;
	if (tux_readable(c) != 4 || !tux_ended(c))
		atomic_fetch_add(&seen.wrong, 1);
	atomic_fetch_add(&seen.parts, 1);
	tux_disconnect(c);
}

static void answer_after_the_end(enum tux_backend backend, bool move)
{
	struct tux_connection *c;
	struct duet d;

	up_with_client(&d, backend);
	memset(&reply, 0, sizeof(reply));
	tux_on_stream(d.server.s, pour, NULL);
	tux_on_room(d.server.s, pour, NULL);
	duet_start(&d);
	c = join(&d);
	say(c, "part");
	if (move)
		await_moved(&d, c);
	assert_int_equal(tux_shut(c), 0);
	await(&client_gone, 1);
	check_none_left(&d, 1);
	assert_int_equal(client_heard, REPLY);
	duet_close(&d);
}

static void half__peer_first(void **state)
{
	(void)state;
	answer_after_the_end(TUX_BACKEND_UDP, false);
	answer_after_the_end(TUX_BACKEND_UDP, true);
	answer_after_the_end(TUX_BACKEND_TCP, false);
}

static void on_open_shut(struct tux_connection *c, void *arg)
{
	if (tux_shut(c))
		atomic_fetch_add(&seen.wrong, 1);
	on_open(c, arg);
}

static void on_client_end(struct tux_connection *c, void *arg)
{
	char b[4];

	(void)arg;
	if (tux_read(c, b, sizeof(b)) == 0)
		atomic_store(&client_heard, 1);
}

static void disconnect(void *c)
{
	tux_disconnect(c);
}

/* This end has said its last, and the peer goes on. */
static void shut_first(enum tux_backend backend, bool move)
{
	struct tux_connection *c;
	struct duet d;

	up_with_client(&d, backend);
	tux_on_open(d.server.s, on_open_shut, NULL);
	tux_on_stream(d.client.s, on_client_end, NULL);
	duet_start(&d);
	c = join(&d);
	await(&client_heard, 1);
	say(c, "part");
	if (move)
		await_moved(&d, c);
	say(c, "ial");
	usleep(20000);
	assert_int_equal(seen.gone, 0);
	part_do(&d.client, disconnect, c);
	await(&client_gone, 1);
	check_none_left(&d, 1);
	duet_close(&d);
}

static void half__this_end_first(void **state)
{
	(void)state;
	shut_first(TUX_BACKEND_UDP, false);
	shut_first(TUX_BACKEND_UDP, true);
	shut_first(TUX_BACKEND_TCP, false);
}

/* ---- what is no end ---- */

/* A reset behind unread bytes is an error, with and without a FIN before. */
static void reset_behind_a_part(enum tux_backend backend)
{
	const struct linger now = { .l_onoff = 1 };
	struct duet d;
	int fd;

	up(&d, backend);
	duet_start(&d);
	fd = plain_connect(d.port);
	assert_int_equal(send(fd, "part", 4, 0), 4);
	await(&seen.peeked, 4);
	usleep(20000);
	assert_int_equal(seen.gone, 0);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
	await(&seen.gone, 1);
	assert_int_equal(seen.err, ECONNRESET);
	assert_int_equal(seen.parts, 0);
	duet_close(&d);
}

static void reset__is_no_end(void **state)
{
	(void)state;
	reset_behind_a_part(TUX_BACKEND_UDP);
	reset_behind_a_part(TUX_BACKEND_TCP);
}

static void ended__of_one_that_is_not_open(void **state)
{
	struct tux_connection *c;
	struct duet d;

	(void)state;
	up_with_client(&d, TUX_BACKEND_UDP);
	tux_on_open(d.client.s, NULL, NULL);
	tux_on_gone(d.client.s, NULL, NULL);
	assert_int_equal(tux_listen(d.server.s, "127.0.0.1", 0), 0);
	d.port = (uint16_t)tux_port(d.server.s);
	assert_int_equal(tux_connect(d.client.s, "127.0.0.1", d.port, NULL,
				     &c), 0);
	assert_int_equal(tux_ended(c), 0);
	tux_get(c);
	tux_abort(c);
	assert_int_equal(tux_ended(c), 0);
	tux_put(c);
	duet_close(&d);
}

/* ---- in a loop of the program ---- */

static void *talk(void *arg)
{
	unsigned i;

	for (i = 0; i < PARTS; i++)
		say_part(*(uint16_t *)arg, i % 3 * 1000);
	return NULL;
}

static void part__embedded(void **state)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);
	pthread_t thread;
	struct duet d;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	assert_int_equal(tux_listen(d.server.s, "127.0.0.1", 0), 0);
	d.port = (uint16_t)tux_port(d.server.s);
	assert_int_equal(pthread_create(&thread, NULL, talk, &d.port), 0);
	while (seen.gone < PARTS && tux_clock_read() < until) {
		struct pollfd p = { tux_fd(d.server.t), POLLIN, 0 };

		poll(&p, 1, 100);
		assert_true(tux_turn(d.server.t) >= 0);
	}
	assert_int_equal(seen.gone, PARTS);
	pthread_join(thread, NULL);
	ask(d.server.t);
	assert_int_equal(stats.connections_now, 0);
	assert_int_equal(seen.parts, PARTS);
	assert_int_equal(seen.wrong, 0);
	duet_close(&d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(part__plain_peer),
		cmocka_unit_test(part__tcp),
		cmocka_unit_test(part__around_the_switch),
		cmocka_unit_test(part__around_no_switch),
		cmocka_unit_test(part__switch_in_the_middle),
		cmocka_unit_test(part__switch_then_end),
		cmocka_unit_test(part__behind_messages),
		cmocka_unit_test(half__peer_first),
		cmocka_unit_test(half__this_end_first),
		cmocka_unit_test(reset__is_no_end),
		cmocka_unit_test(ended__of_one_that_is_not_open),
		cmocka_unit_test(part__embedded),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
