/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of several threads that are beside each other: a server accepts by
 * itself, and hands its connections to all of them in turn.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"

enum { WORKERS = 3, CONNS = 9, ROUNDS = 200 };

struct worker {
	struct part p;
	_Atomic unsigned asked, strange;	/* callbacks, on another thread */
};

static struct worker worker[WORKERS];
static struct part client;
static struct tux_connection *_Atomic server_end[CONNS];
static _Atomic unsigned answers, wrong, gone;
static int listener;
static uint16_t port;

static void on_stream_echo(struct tux_connection *c, void *arg)
{
	struct worker *w = arg;
	char p;

	if (!pthread_equal(pthread_self(), w->p.thread))
		atomic_fetch_add(&w->strange, 1);
	while (tux_read(c, &p, 1) == 1) {
		atomic_fetch_add(&w->asked, 1);
		if (tux_write(c, &p, 1) != 1)
			atomic_fetch_add(&wrong, 1);
	}
}

/* One byte at a time, each the next of its connection's. */
static void on_stream_ask(struct tux_connection *c, void *arg)
{
	uint8_t p, *next = tux_user(c);

	(void)arg;
	while (tux_read(c, &p, 1) == 1) {
		if (p != *next)
			atomic_fetch_add(&wrong, 1);
		if (++*next < ROUNDS)
			tux_write(c, next, 1);
		atomic_fetch_add(&answers, 1);
	}
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	(void)err;
	(void)arg;
	atomic_fetch_add(&gone, 1);
}

static void *run(void *arg)
{
	struct part *p = arg;

	tux_run(p->t);
	return NULL;
}

static void start(struct part *p)
{
	assert_int_equal(pthread_create(&p->thread, NULL, run, p), 0);
	p->runs = true;
}

static void stop(struct part *p)
{
	tux_stop(p->t);
	pthread_join(p->thread, NULL);
	tux_close(p->t);
}

static void open_part(struct part *p, const struct tux_opts *o)
{
	assert_int_equal(tux_open(&p->t, o), 0);
	assert_int_equal(tux_service_new(p->t, &p->s), 0);
}

static void open_workers(void)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	unsigned i;

	/* Callbacks run on the worker's own thread. */
	o.slice_ns = TUX_NO_SLICE;
	for (i = 0; i < WORKERS; i++) {
		open_part(&worker[i].p, &o);
		tux_on_stream(worker[i].p.s, on_stream_echo, &worker[i]);
		tux_on_gone(worker[i].p.s, on_gone, NULL);
		o = (struct tux_opts){
			.size = sizeof(o), .slice_ns = TUX_NO_SLICE,
			.beside = worker[0].p.t,
		};
	}
}

static void open_listener(void)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(a);

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&a, len), 0);
	/* Through any of them, for all. */
	assert_int_equal(tux_announce(worker[WORKERS - 1].p.t, listener), 0);
	assert_int_equal(listen(listener, CONNS), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	port = ntohs(a.sin_port);
}

static uint8_t asked[CONNS];

static void connect_all(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < CONNS; i++)
		if (tux_connect(client.s, "127.0.0.1", port, &asked[i], NULL))
			atomic_fetch_add(&wrong, 1);
}

struct handed {
	struct tux_service *s;
	int fd, err;
	unsigned i;
};

static void attach(void *arg)
{
	struct handed *h = arg;
	struct tux_connection *c;

	h->err = tux_attach(h->s, h->fd, NULL, &c);
	if (h->err)
		return;
	tux_get(c);
	atomic_store(&server_end[h->i], c);
}

static void accept_all(void)
{
	struct handed h;
	unsigned i;

	for (i = 0; i < CONNS; i++) {
		h = (struct handed){ .s = worker[i % WORKERS].p.s, .i = i };
		h.fd = accept4(listener, NULL, NULL,
			       SOCK_NONBLOCK | SOCK_CLOEXEC);
		assert_true(h.fd >= 0);
		part_do(&worker[i % WORKERS].p, attach, &h);
		assert_int_equal(h.err, 0);
	}
}

/* On its thread: what the connection's loop counts is told there. */
static void look(void *arg)
{
	struct tux_connection_stats st;
	struct tux_connection *c = arg;

	while (!tux_connection_stats(c, &st, sizeof(st)) &&
	       !(st.tx_on_tux && st.rx_on_tux))
		tux_sleep(1000000);
	if (st.reason)
		atomic_fetch_add(&wrong, 1);
	tux_write(c, &(char){ 0 }, 1);
}

static void up(void)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	unsigned i;

	answers = wrong = gone = 0;
	memset(asked, 0, sizeof(asked));
	memset(worker, 0, sizeof(worker));
	open_workers();
	open_listener();
	open_part(&client, &o);
	tux_on_stream(client.s, on_stream_ask, NULL);
	start(&client);
	for (i = 0; i < WORKERS; i++)
		start(&worker[i].p);
	part_do(&client, connect_all, NULL);
	accept_all();
}

static void ask_first(unsigned first, unsigned step)
{
	unsigned i;

	for (i = first; i < CONNS; i += step)
		part_do(&worker[i % WORKERS].p, look, server_end[i]);
}

static void put_all(void)
{
	unsigned i;

	for (i = 0; i < CONNS; i++)
		tux_put(server_end[i]);
}

static void beside__all_move_and_each_is_called_on_its_thread(void **state)
{
	unsigned i;

	(void)state;
	up();
	ask_first(0, 1);
	await(&answers, CONNS * ROUNDS);
	assert_int_equal(wrong, 0);
	put_all();
	for (i = 0; i < WORKERS; i++) {
		assert_int_equal(worker[i].strange, 0);
		assert_int_equal(worker[i].asked,
				 CONNS / WORKERS * (ROUNDS - 1));
		stop(&worker[i].p);
	}
	assert_int_equal(gone, CONNS);
	stop(&client);
	close(listener);
}

/* The first, which has the port, ends; the others go on. */
static void beside__the_first_may_end_first(void **state)
{
	unsigned i;

	(void)state;
	up();
	put_all();
	stop(&worker[0].p);
	await(&gone, CONNS / WORKERS);
	ask_first(1, WORKERS);
	ask_first(2, WORKERS);
	await(&answers, CONNS / WORKERS * (WORKERS - 1) * ROUNDS);
	assert_int_equal(wrong, 0);
	for (i = 1; i < WORKERS; i++)
		stop(&worker[i].p);
	assert_int_equal(gone, CONNS);
	stop(&client);
	close(listener);
}

static void *stop_one(void *arg)
{
	stop(arg);
	return NULL;
}

static void beside__all_may_end_at_once(void **state)
{
	pthread_t t[WORKERS];
	unsigned i;

	(void)state;
	up();
	put_all();
	for (i = 0; i < WORKERS; i++)
		pthread_create(&t[i], NULL, stop_one, &worker[i].p);
	for (i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(gone, CONNS);
	stop(&client);
	close(listener);
}

/* Threads of this process, or 0. */
static unsigned threads_now(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* Each loop has a helper. */
static void beside__a_spare_loop_is_used_again(void **state)
{
	struct tux_opts o = { .size = sizeof(o) };
	unsigned i, were;
	struct part one;

	(void)state;
	open_workers();
	o.beside = worker[0].p.t;
	were = threads_now();
	for (i = 0; i < 2 * TUX_THREADS_MAX; i++) {
		assert_int_equal(tux_open(&one.t, &o), 0);
		tux_close(one.t);
	}
	/* Threads that were joined may be there for a moment. */
	for (i = 0; i < 500 && threads_now() > were + 1; i++)
		usleep(10000);
	assert_in_range(threads_now(), 1, were + 1);
	for (i = 0; i < WORKERS; i++)
		tux_close(worker[i].p.t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			beside__all_move_and_each_is_called_on_its_thread),
		cmocka_unit_test(beside__the_first_may_end_first),
		cmocka_unit_test(beside__all_may_end_at_once),
		cmocka_unit_test(beside__a_spare_loop_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
