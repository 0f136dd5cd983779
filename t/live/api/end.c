/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How connections of tux.h end: what is told before, and that all is told.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "run/fiber.h"
#include "run/hook.h"
#include "run/switch.h"
#include "sys/clock.h"

enum { LIMIT_S = 30, LEN = 16000, MANY = 600, LINES = 100, LINE = 4,
       KEPT = 64, SETTLE_S = 5, LOOKS = 3 };

static struct tux_message kept[KEPT];
static unsigned kept_n;
static unsigned opened, gone, got, settled, failed, noted;
static int gone_err;
static char journal[64];

static void note(char c)
{
	size_t n = strlen(journal);

	if (n < sizeof(journal) - 1)
		journal[n] = c;
}

static void up(struct duet *d)
{
	kept_n = opened = gone = got = settled = failed = noted = 0;
	gone_err = 0;
	memset(journal, 0, sizeof(journal));
	duet_open(d, TUX_BACKEND_UDP);
	assert_int_equal(tux_listen(d->server.s, "127.0.0.1", 0), 0);
	d->port = (uint16_t)tux_port(d->server.s);
}

/* Both by this thread, until *@n is @want, for @ns at most. */
static void turn(struct duet *d, const unsigned *n, unsigned want, tux_time ns)
{
	tux_time until = tux_clock_read() + ns;

	while (*n < want && tux_clock_read() < until) {
		assert_true(tux_turn(d->server.t) >= 0);
		assert_true(tux_turn(d->client.t) >= 0);
		usleep(50);
	}
}

static void turn_for(struct duet *d, unsigned ms)
{
	unsigned never = 0;

	turn(d, &never, 1, TUX_MSEC(ms));
}

static void await_all(struct duet *d, const unsigned *n, unsigned want)
{
	turn(d, n, want, TUX_SEC(LIMIT_S));
	assert_int_equal(*n, want);
}

static void on_open(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_get(c);
	opened++;
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)arg;
	gone++;
	gone_err = err;
	note('G');
	tux_put(c);
}

static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	(void)c, (void)m, (void)arg;
	got += n;
}

static void on_settled(struct tux_connection *c, uint64_t ref, int err,
		       void *arg)
{
	(void)c, (void)ref, (void)arg;
	settled++;
	failed += err != 0;
	note(err ? 'f' : 's');
}

static struct tux_connection *meet(struct duet *d)
{
	struct tux_connection *c;

	tux_on_open(d->client.s, on_open, NULL);
	tux_on_gone(d->client.s, on_gone, NULL);
	assert_int_equal(tux_connect(d->client.s, "127.0.0.1", d->port, NULL,
				     &c), 0);
	await_all(d, &opened, 1);
	return c;
}

/* ---- messages that are not settled ---- */

static void keep(struct tux_connection *c, struct tux_message *m, unsigned n,
		 void *arg)
{
	(void)c, (void)arg;
	for (got += n; n; n--, m++) {
		tux_hold(m);
		if (kept_n < KEPT)
			kept[kept_n++] = *m;
	}
}

/* A peer that keeps all it gets, and as many messages as find room. */
static unsigned fill(struct duet *d, struct tux_connection *c)
{
	static char much[LEN];
	unsigned n = 0, i;

	for (i = 0; i < 40; i++) {
		while (!tux_send(c, much, sizeof(much), 0))
			n++;
		turn_for(d, 3);
	}
	return n;
}

/* With @n messages under way. */
static struct tux_connection *meet_a_hoarder(struct duet *d, unsigned *n)
{
	struct tux_connection *c;

	up(d);
	tux_on_message(d->server.s, keep, NULL);
	tux_on_message(d->client.s, on_message, NULL);
	tux_on_settled(d->client.s, on_settled, NULL);
	c = meet(d);
	*n = fill(d, c);
	return c;
}

/* Each is told once, and before gone is. */
static void settled__after_abort(void **state)
{
	struct tux_connection_stats st;
	struct tux_connection *c;
	struct duet d;
	unsigned n;

	(void)state;
	c = meet_a_hoarder(&d, &n);
	tux_get(c);
	tux_abort(c);
	await_all(&d, &gone, 1);
	assert_int_equal(gone_err, ECONNABORTED);
	assert_int_equal(settled, n);
	assert_true(failed > 0);
	assert_int_equal(tux_connection_stats(c, &st, sizeof(st)), 0);
	assert_int_equal(st.failed, failed);
	tux_put(c);
	duet_close(&d);
}

/* Whoever waits for them already waits no longer than tux_close() does. */
static void settled__before_close(void **state)
{
	tux_time began;
	struct tux_connection *c;
	struct duet d;
	unsigned n;

	(void)state;
	c = meet_a_hoarder(&d, &n);
	began = tux_clock_read();
	tux_disconnect(c);
	turn_for(&d, 20);
	assert_true(!gone || tux_clock_read() - began >= TUX_SEC(SETTLE_S));
	tux_close(d.client.t);
	d.client.t = NULL;
	assert_int_equal(gone, 1);
	assert_int_equal(settled, n);
	duet_close(&d);
}

/* ---- a lane with one that was cancelled ---- */

static void on_room(struct tux_connection *c, void *arg)
{
	(void)c, (void)arg;
}

static _Atomic unsigned there;

static void on_there(struct tux_connection *c, void *arg)
{
	(void)c, (void)arg;
	atomic_fetch_add(&there, 1);
}

/* As long as there is room, and a little longer. */
static bool send_soon(struct tux_connection *c)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);
	int err;

	do {
		err = tux_send(c, "x", 1, 0);
		usleep(500);
	} while (err == -EAGAIN && tux_clock_read() < until);
	return !err;
}

/* The program does not ask for the fate of the message, so that takes no room.
 * The pauses let the first message be settled: on a late machine less is seen. */
static void cancel__gives_room_back(void **state)
{
	struct tux_connection *c;
	struct duet d;
	uint64_t ref;
	unsigned i;
	void *p;

	(void)state;
	duet_open(&d, TUX_BACKEND_UDP);
	tux_on_message(d.server.s, on_message, NULL);
	tux_on_message(d.client.s, on_message, NULL);
	tux_on_room(d.client.s, on_room, NULL);
	tux_on_open(d.client.s, on_there, NULL);
	duet_start(&d);
	c = duet_connect(&d, NULL);
	await(&there, 1);
	assert_true(send_soon(c));
	usleep(300000);
	assert_int_equal(tux_reserve(c, 10, 0, &p, &ref), 0);
	assert_int_equal(tux_cancel(c, ref), 0);
	usleep(100000);
	for (i = 0; i < MANY; i++)
		assert_true(send_soon(c));
	duet_close(&d);
}

/* ---- the end comes last ---- */

static void slowly(struct tux_connection *c, uint64_t ref, int err, void *arg)
{
	(void)c, (void)ref, (void)err, (void)arg;
	settled++;
	tux_sleep(200000000);
}

static void answer(struct tux_connection *c, struct tux_message *m, unsigned n,
		   void *arg)
{
	(void)m, (void)arg;
	got += n;
	noted += n;
	while (n--)
		note('M');
	if (tux_send(c, "a", 1, 0))
		note('!');
}

static void to_the_end(struct tux_connection *c, void *arg)
{
	char b[8];

	(void)arg;
	if (tux_read(c, b, sizeof(b)) == 0) {
		noted++;
		note('E');
		tux_disconnect(c);
	}
}

/* While what has settled is told, messages come, and the end behind them. */
static void end__behind_messages(bool stream)
{
	struct tux_connection *c;
	struct duet d;

	up(&d);
	tux_on_message(d.server.s, answer, NULL);
	tux_on_settled(d.server.s, slowly, NULL);
	if (stream)
		tux_on_stream(d.server.s, to_the_end, NULL);
	tux_on_message(d.client.s, on_message, NULL);
	tux_on_stream(d.client.s, on_room, NULL);
	c = meet(&d);
	assert_int_equal(tux_send(c, "1", 1, 0), 0);
	await_all(&d, &settled, 1);
	assert_int_equal(tux_send(c, "2", 1, 0), 0);
	assert_int_equal(tux_send(c, "3", 1, 0), 0);
	assert_int_equal(tux_shut(c), 0);
	await_all(&d, &noted, stream ? 4 : 3);
	journal[stream ? 4 : 3] = 0;
	assert_string_equal(journal, stream ? "MMME" : "MMM");
	duet_close(&d);
}

static void end__told_to_the_stream(void **state)
{
	(void)state;
	end__behind_messages(true);
}

static void end__without_a_stream(void **state)
{
	(void)state;
	end__behind_messages(false);
}

/* A line at a time, by tux_again(): all of them, and then the error. */
static void a_line(struct tux_connection *c, void *arg)
{
	char b[LINE];

	(void)arg;
	if (tux_read(c, b, sizeof(b)) != sizeof(b))
		return;
	got++;
	tux_again(c);
}

static void error__behind_bytes(void **state)
{
	const struct linger now = { .l_onoff = 1 };
	char text[LINES * LINE] = { 0 };
	struct duet d;
	int fd;

	(void)state;
	up(&d);
	tux_on_stream(d.server.s, a_line, NULL);
	tux_on_open(d.server.s, on_open, NULL);
	tux_on_gone(d.server.s, on_gone, NULL);
	fd = plain_connect(d.port);
	await_all(&d, &opened, 1);
	assert_int_equal(send(fd, text, sizeof(text), 0), sizeof(text));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
	await_all(&d, &gone, 1);
	assert_int_equal(got, LINES);
	assert_int_equal(gone_err, ECONNRESET);
	duet_close(&d);
}

/* ---- who asks too late, or too early ---- */

static struct duet *again;
static int refused;

static void connect_again(struct tux_connection *c, int err, void *arg)
{
	(void)err, (void)arg;
	gone++;
	refused = tux_connect(tux_service_of(c), "127.0.0.1", again->port,
			      NULL, NULL);
	tux_put(c);
}

static void close__takes_no_more(void **state)
{
	struct duet d;

	(void)state;
	up(&d);
	again = &d;
	meet(&d);
	tux_on_gone(d.client.s, connect_again, NULL);
	tux_close(d.client.t);
	d.client.t = NULL;
	assert_int_equal(gone, 1);
	assert_int_equal(refused, -ESHUTDOWN);
	duet_close(&d);
}

static void disconnect__before_it_is_open(void **state)
{
	struct tux_connection *c;
	struct duet d;

	(void)state;
	up(&d);
	tux_on_open(d.client.s, on_open, NULL);
	assert_int_equal(tux_connect(d.client.s, "127.0.0.1", d.port, NULL,
				     &c), 0);
	tux_disconnect(c);
	turn_for(&d, 100);
	assert_int_equal(opened, 0);
	duet_close(&d);
}

static void note_it(struct tux_connection *c, void *arg)
{
	struct tux_connection **first = arg;
	char b;

	if (tux_read(c, &b, 1) == 1)
		*first = c;
}

/* Over TCP, as close(2): the peer has the end before anything that is written to
 * others afterwards. */
static void disconnect__ends_tcp_at_once(void **state)
{
	struct tux_connection *c = NULL;
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);
	struct pollfd p = { .events = POLLIN };
	struct duet d;
	char b = 'b';

	(void)state;
	up(&d);
	tux_on_stream(d.server.s, note_it, &c);
	p.fd = plain_connect(d.port);
	assert_int_equal(write(p.fd, &b, 1), 1);
	while (!c && tux_clock_read() < until)
		assert_true(tux_turn(d.server.t) >= 0);
	assert_non_null(c);
	tux_disconnect(c);
	assert_int_equal(poll(&p, 1, 1000 * LIMIT_S), 1);
	assert_int_equal(read(p.fd, &b, 1), 0);
	close(p.fd);
	duet_close(&d);
}

/* ---- a callback that sleeps when the time is up ---- */

static tux_time used(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	return TUX_SEC(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       TUX_USEC(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static _Atomic bool may_go, sleeps;

static void sleep_once(struct tux_connection *c, uint64_t ref, int err,
		       void *arg)
{
	(void)c, (void)ref, (void)err, (void)arg;
	atomic_store(&sleeps, true);
	while (!atomic_load(&may_go))
		tux_sleep(100000000);
}

static void *run(void *arg)
{
	return (void *)(intptr_t)tux_run(arg);
}

static tux_time used_in_a_while(void)
{
	tux_time before = used();

	usleep(500000);
	return used() - before;
}

/* Messages have five seconds; nothing turns round and round after that. */
static void expire__while_a_callback_sleeps(void **state)
{
	tux_time until, least = TUX_NEVER;
	struct tux_connection *c;
	pthread_t thread;
	struct duet d;
	unsigned i;
	void *r;

	(void)state;
	/* The sanitizer thinks that a stack stays with its thread. */
	if (TUX_FIBERS)
		skip();
	atomic_store(&may_go, false);
	c = meet_a_hoarder(&d, &i);
	tux_on_settled(d.client.s, sleep_once, NULL);
	tux_disconnect(c);
	assert_int_equal(pthread_create(&thread, NULL, run, d.client.t), 0);
	while (kept_n)
		tux_release(&kept[--kept_n]);
	until = tux_clock_read() + TUX_SEC(LIMIT_S);
	while (!atomic_load(&sleeps) && tux_clock_read() < until) {
		assert_true(tux_turn(d.server.t) >= 0);
		usleep(1000);
	}
	assert_true(atomic_load(&sleeps));
	usleep(SETTLE_S * 1000000 + 500000);
	for (i = 0; i < LOOKS && least >= TUX_MSEC(200); i++)
		least = used_in_a_while();
	assert_true(least < TUX_MSEC(200));
	atomic_store(&may_go, true);
	usleep(300000);
	tux_stop(d.client.t);
	assert_int_equal(pthread_join(thread, &r), 0);
	duet_close(&d);
}

/* ---- a callback that waits in the kernel ---- */

static int ends[2];

static void wait_long(void *arg)
{
	char c;

	(void)arg;
	atomic_store(&sleeps, true);
	(void)!read(ends[0], &c, 1);
}

/* It ran in a thread that is no more. */
static void close__with_one_that_waits(void **state)
{
	tux_time before, took;
	pthread_t thread;
	struct duet d;
	void *r;

	(void)state;
	/* Without preemption it has to end by itself. */
	if (!TUX_HOOKED || !tux_switch_has_tls())
		skip();
	up(&d);
	assert_int_equal(pipe(ends), 0);
	atomic_store(&sleeps, false);
	assert_int_equal(tux_go(d.client.t, wait_long, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, run, d.client.t), 0);
	while (!atomic_load(&sleeps))
		usleep(1000);
	usleep(20000);
	tux_stop(d.client.t);
	assert_int_equal(pthread_join(thread, &r), 0);
	before = tux_clock_read();
	tux_close(d.client.t);
	took = tux_clock_read() - before;
	assert_true(took < TUX_SEC(test_thorough() ? 3 : LIMIT_S));
	d.client.t = NULL;
	duet_close(&d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settled__after_abort),
		cmocka_unit_test(settled__before_close),
		cmocka_unit_test(cancel__gives_room_back),
		cmocka_unit_test(end__told_to_the_stream),
		cmocka_unit_test(end__without_a_stream),
		cmocka_unit_test(error__behind_bytes),
		cmocka_unit_test(close__takes_no_more),
		cmocka_unit_test(disconnect__before_it_is_open),
		cmocka_unit_test(disconnect__ends_tcp_at_once),
		cmocka_unit_test(expire__while_a_callback_sleeps),
		cmocka_unit_test(close__with_one_that_waits),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
