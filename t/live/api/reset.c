/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers of tux.h that reset at any moment: gone is told for each accepted
 * connection for which open was told, for no other, and nothing is left.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "sys/clock.h"

enum { STORM = 400, MESSAGES = 120, EARLY = 50, LIMIT_S = 60,
       SETTLE_S = 5 };

static struct {
	_Atomic unsigned opened, gone, stateless, odd, streamed;
} seen;

static char state_of_a_connection;

static void on_open(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_set_user(c, &state_of_a_connection);
	atomic_fetch_add(&seen.opened, 1);
}

static void on_stream(struct tux_connection *c, void *arg)
{
	char b[256];
	ssize_t k;

	(void)arg;
	atomic_fetch_add(&seen.streamed, 1);
	atomic_fetch_add(&seen.stateless, !tux_user(c));
	while ((k = tux_read(c, b, sizeof(b))) > 0)
		(void)!tux_write(c, b, (size_t)k);
	if (k == 0)
		tux_disconnect(c);
}

static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	(void)arg;
	atomic_fetch_add(&seen.stateless, !tux_user(c));
	for (; n; n--, m++)
		(void)!tux_send(c, m->p, m->len, 0);
}

/* What tux_on_message(3) lists for a peer that resets. */
static bool listed(int err)
{
	return !err || err == ECONNRESET || err == EPIPE;
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	uint16_t port = 0;

	(void)arg;
	atomic_fetch_add(&seen.stateless, !tux_user(c));
	if (!listed(err) || tux_peer(c, NULL, 0, &port) || !port) {
		print_message("gone: %s, port %u\n", strerror(err), port);
		atomic_fetch_add(&seen.odd, 1);
	}
	atomic_fetch_add(&seen.gone, 1);
}

/* ---- what is left ---- */

static struct tux_stats left;

static void ask(void *arg)
{
	assert_int_equal(tux_stats(arg, &left, sizeof(left)), 0);
}

/* Sees that all connections of the server end. */
static void await_none(struct duet *d)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);

	do {
		usleep(1000);
		part_do(&d->server, ask, d->server.t);
	} while (left.connections_now && tux_clock_read() < until);
	assert_int_equal(left.connections_now, 0);
}

static void check_told(void)
{
	assert_int_equal(seen.gone, seen.opened);
	assert_int_equal(seen.stateless, 0);
	assert_int_equal(seen.odd, 0);
}

static void up(struct duet *d, enum tux_backend backend)
{
	memset(&seen, 0, sizeof(seen));
	duet_open(d, backend);
	tux_on_open(d->server.s, on_open, NULL);
	tux_on_stream(d->server.s, on_stream, NULL);
	tux_on_gone(d->server.s, on_gone, NULL);
}

/* ---- by this thread alone ---- */

static void listen_alone(struct duet *d)
{
	assert_int_equal(tux_listen(d->server.s, "127.0.0.1", 0), 0);
	d->port = (uint16_t)tux_port(d->server.s);
}

static void turn_for(struct duet *d, unsigned ms)
{
	tux_time until = tux_clock_read() + TUX_MSEC(ms);

	while (tux_clock_read() < until) {
		assert_true(tux_turn(d->server.t) >= 0);
		usleep(50);
	}
}

static void turn_until(struct duet *d, const _Atomic unsigned *n, unsigned want)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);

	while (atomic_load(n) < want && tux_clock_read() < until) {
		assert_true(tux_turn(d->server.t) >= 0);
		usleep(50);
	}
	assert_int_equal(*n, want);
}

static uint64_t accepted(struct duet *d)
{
	struct tux_stats st;

	assert_int_equal(tux_stats(d->server.t, &st, sizeof(st)), 0);
	return st.connections;
}

static void turn_until_accepted(struct duet *d, unsigned n)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);

	while (accepted(d) < n && tux_clock_read() < until) {
		assert_true(tux_turn(d->server.t) >= 0);
		usleep(50);
	}
	assert_int_equal(accepted(d), n);
}

static void reset(int fd)
{
	const struct linger now = { .l_onoff = 1 };

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now,
				    sizeof(now)), 0);
	close(fd);
}

/* Nothing was told about it, so that it has ended is not told, either. */
static void before_it_is_accepted(enum tux_backend backend, bool with_open)
{
	unsigned i, before = test_files();
	struct tux_stats st;
	struct duet d;

	up(&d, backend);
	if (!with_open)
		tux_on_open(d.server.s, NULL, NULL);
	listen_alone(&d);
	for (i = 0; i < EARLY; i++)
		reset(plain_connect(d.port));
	turn_for(&d, 50);
	assert_int_equal(seen.gone + seen.streamed, 0);
	check_told();
	assert_int_equal(tux_stats(d.server.t, &st, sizeof(st)), 0);
	assert_int_equal(st.connections_now, 0);
	assert_int_equal(st.connections, 0);
	assert_int_equal(st.refused, 0);
	duet_close(&d);
	assert_int_equal(test_files(), before);
}

static void accept__reset_before(void **state)
{
	(void)state;
	before_it_is_accepted(TUX_BACKEND_UDP, true);
	before_it_is_accepted(TUX_BACKEND_TCP, true);
	before_it_is_accepted(TUX_BACKEND_UDP, false);
}

/* The first callback of a serial service holds up all others. */
static _Atomic bool may_go;

static void on_busy(struct tux_connection *c, void *arg)
{
	on_open(c, arg);
	while (!atomic_load(&may_go))
		tux_sleep(1000000);
}

/* One connection whose open callback does not return, and a second one. */
static int hold_up(struct duet *d, enum tux_backend backend, int *second)
{
	int fd;

	up(d, backend);
	tux_set_serial(d->server.s, 1);
	tux_on_open(d->server.s, on_busy, NULL);
	atomic_store(&may_go, false);
	listen_alone(d);
	fd = plain_connect(d->port);
	turn_until(d, &seen.opened, 1);
	*second = plain_connect(d->port);
	turn_until_accepted(d, 2);
	turn_for(d, 20);
	assert_int_equal(seen.opened, 1);
	return fd;
}

/* It was accepted while it lived: open comes first, and tells its peer. */
static void reset_before_open(enum tux_backend backend)
{
	struct duet d;
	int second, fd = hold_up(&d, backend, &second);

	reset(second);
	turn_for(&d, 20);
	assert_int_equal(seen.opened + seen.gone, 1);
	atomic_store(&may_go, true);
	turn_until(&d, &seen.gone, 1);
	assert_int_equal(seen.opened, 2);
	close(fd);
	turn_until(&d, &seen.gone, 2);
	turn_for(&d, 20);
	check_told();
	duet_close(&d);
}

static void open__before_gone(void **state)
{
	(void)state;
	reset_before_open(TUX_BACKEND_UDP);
	reset_before_open(TUX_BACKEND_TCP);
}

/* The program ends it before it is told of it. */
static void service_ends_before_open(enum tux_backend backend)
{
	struct duet d;
	int second, fd = hold_up(&d, backend, &second);

	tux_service_free(d.server.s);
	atomic_store(&may_go, true);
	turn_until(&d, &seen.gone, 1);
	turn_for(&d, 20);
	assert_int_equal(seen.opened, 1);
	check_told();
	close(second);
	close(fd);
	duet_close(&d);
}

static void free__before_open(void **state)
{
	(void)state;
	service_ends_before_open(TUX_BACKEND_UDP);
	service_ends_before_open(TUX_BACKEND_TCP);
}

/* ---- while it closes ---- */

/* Answers with a message, which a peer without Tux never settles, and ends the
 * connection behind it. */
static void answer_and_end(struct tux_connection *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&seen.streamed, 1);
	assert_int_equal(tux_send(c, "message", 7, 0), 0);
	tux_disconnect(c);
}

/* A reset ends the wait for the message, whether the peer had ended its side
 * before or not. */
static void reset_while_closing(bool half_closed)
{
	tux_time began;
	struct duet d;
	int fd;

	up(&d, TUX_BACKEND_UDP);
	tux_on_stream(d.server.s, answer_and_end, NULL);
	tux_on_message(d.server.s, on_message, NULL);
	listen_alone(&d);
	fd = plain_connect(d.port);
	turn_until(&d, &seen.opened, 1);
	began = tux_clock_read();
	assert_int_equal(send(fd, "bytes", 5, MSG_NOSIGNAL), 5);
	if (half_closed)
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
	turn_until(&d, &seen.streamed, 1);
	turn_for(&d, 20);
	/* The message would have five seconds. */
	assert_true(!seen.gone ||
		    tux_clock_read() - began >= TUX_SEC(SETTLE_S));
	reset(fd);
	turn_until(&d, &seen.gone, 1);
	check_told();
	duet_close(&d);
}

static void disconnect__reset(void **state)
{
	(void)state;
	reset_while_closing(false);
	reset_while_closing(true);
}

/* ---- a storm ---- */

struct storm {
	struct duet d;
	enum tux_backend backend;
	bool messages, serial;
};

/* At moments around those at which it is accepted, opened and upgraded. */
static void linger_a_while(unsigned *r)
{
	static const unsigned most_us[] = { 0, 50, 500, 5000 };
	unsigned most = most_us[(unsigned)rand_r(r) % N_OF(most_us)];

	if (most)
		usleep((unsigned)rand_r(r) % most);
}

static void storm_plain(struct storm *s, unsigned *r)
{
	int fd = plain_connect(s->d.port);

	linger_a_while(r);
	if (rand_r(r) % 2)
		(void)!send(fd, "bytes", 5, MSG_NOSIGNAL);
	linger_a_while(r);
	if (rand_r(r) % 4 == 0)
		shutdown(fd, SHUT_WR);
	linger_a_while(r);
	reset(fd);
}

struct victim {
	struct storm *s;
	struct tux_connection *c;
};

static void begin_one(void *arg)
{
	struct victim *v = arg;

	assert_int_equal(tux_connect(v->s->d.client.s, "127.0.0.1",
				     v->s->d.port, NULL, &v->c), 0);
	tux_get(v->c);
}

static void abort_one(void *arg)
{
	struct victim *v = arg;

	tux_abort(v->c);
	tux_put(v->c);
}

static void storm_tux(struct storm *s, unsigned *r)
{
	struct victim v = { .s = s };

	part_do(&s->d.client, begin_one, &v);
	linger_a_while(r);
	(void)!tux_write(v.c, "bytes", 5);
	if (s->messages)
		(void)!tux_send(v.c, "message", 7, 0);
	linger_a_while(r);
	if (rand_r(r) % 4 == 0)
		tux_shut(v.c);
	linger_a_while(r);
	part_do(&s->d.client, abort_one, &v);
}

static void drop(struct tux_connection *c, struct tux_message *m, unsigned n,
		 void *arg)
{
	(void)c, (void)m, (void)n, (void)arg;
}

static void blow(struct storm *s, unsigned seed)
{
	unsigned i, before = test_files();

	up(&s->d, s->backend);
	if (s->messages) {
		tux_on_message(s->d.server.s, on_message, NULL);
		tux_on_message(s->d.client.s, drop, NULL);
	}
	tux_set_serial(s->d.server.s, s->serial);
	duet_start(&s->d);
	for (i = 0; i < STORM; i++)
		storm_plain(s, &seed);
	for (i = 0; i < MESSAGES; i++)
		storm_tux(s, &seed);
	await_none(&s->d);
	check_told();
	assert_true(seen.opened > 0);
	duet_close(&s->d);
	assert_int_equal(test_files(), before);
}

static void storm__udp(void **state)
{
	(void)state;
	blow(&(struct storm){ .backend = TUX_BACKEND_UDP }, 1);
}

static void storm__udp_messages(void **state)
{
	(void)state;
	blow(&(struct storm){ .backend = TUX_BACKEND_UDP, .messages = true },
	     2);
}

static void storm__udp_serial(void **state)
{
	(void)state;
	blow(&(struct storm){ .backend = TUX_BACKEND_UDP, .messages = true,
			      .serial = true }, 3);
}

static void storm__tcp(void **state)
{
	(void)state;
	blow(&(struct storm){ .backend = TUX_BACKEND_TCP }, 4);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accept__reset_before),
		cmocka_unit_test(open__before_gone),
		cmocka_unit_test(free__before_open),
		cmocka_unit_test(disconnect__reset),
		cmocka_unit_test(storm__udp),
		cmocka_unit_test(storm__udp_messages),
		cmocka_unit_test(storm__udp_serial),
		cmocka_unit_test(storm__tcp),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
