/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stack of several network threads: who gets which connection, what its threads
 * do with each other's, and how they begin and end.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "sys/clock.h"

enum {
	THREADS = 3, CONNS = 9, ROUNDS = 200, HOPS = 2000,
	LONG = 1 << 20,
	STORM = 300,
	PATIENCE_MS = 20000,
};

/* One end of the server's. */
struct end {
	struct tux_connection *c;
	_Atomic pid_t tid;		/* of its callbacks */
	_Atomic uint64_t got;		/* bytes */
};

static struct end end[CONNS];
static _Atomic unsigned begun, ends, answers, wrong, gone, inside, hops, over;
static _Atomic unsigned strange;	/* callbacks, on another thread */
static _Atomic unsigned echoes;		/* callbacks */
static uint8_t asked[CONNS];
static unsigned least;			/* threads that run */

static void reset(void)
{
	begun = ends = answers = wrong = gone = inside = hops = over = strange = 0;
	echoes = 0;
	memset(end, 0, sizeof(end));
	memset(asked, 0, sizeof(asked));
}

static pid_t my_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void check_thread(struct end *e)
{
	pid_t none = 0, tid = my_tid();

	if (!atomic_compare_exchange_strong(&e->tid, &none, tid) && none != tid)
		atomic_fetch_add(&strange, 1);
}

/* ---- callbacks of the server ---- */

static void on_open_count(struct tux_connection *c, void *arg)
{
	unsigned i = atomic_fetch_add(&begun, 1);
	struct duet *d = arg;

	if (tux_of(c) != d->server.t || tux_service_of(c) != d->server.s)
		atomic_fetch_add(&wrong, 1);
	end[i].c = c;
	tux_get(c);
	tux_set_user(c, &end[i]);
	check_thread(&end[i]);
	atomic_fetch_add(&ends, 1);
}

static void on_stream_echo(struct tux_connection *c, void *arg)
{
	ssize_t n;
	char p;

	(void)arg;
	atomic_fetch_add(&echoes, 1);
	check_thread(tux_user(c));
	while ((n = tux_read(c, &p, 1)) == 1)
		if (tux_write(c, &p, 1) != 1)
			atomic_fetch_add(&wrong, 1);
	if (!n)
		tux_disconnect(c);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)err;
	(void)arg;
	tux_put(c);
	atomic_fetch_add(&gone, 1);
}

/* ---- of the client ---- */

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

static void on_open_ask(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_write(c, tux_user(c), 1);
}

/* ---- both ---- */

static void open_both(struct duet *d, enum tux_backend backend,
		      uint64_t slice_ns)
{
	struct tux_opts o = duet_opts(backend), one = o;

	reset();
	if (backend == TUX_BACKEND_TCP)
		o.path = one.path = TUX_USE_TCP;
	o.threads = THREADS;
	o.threads_min = least;
	o.slice_ns = slice_ns;
	duet_open_as(d, &o, &one);
	tux_on_open(d->server.s, on_open_count, d);
	tux_on_stream(d->server.s, on_stream_echo, d);
	tux_on_gone(d->server.s, on_gone, d);
	tux_on_stream(d->client.s, on_stream_ask, d);
	tux_on_open(d->client.s, on_open_ask, d);
}

static void connect_all(struct duet *d)
{
	unsigned i;

	for (i = 0; i < CONNS; i++)
		duet_connect(d, &asked[i]);
	await(&ends, CONNS);
}

/* How many ends have callbacks on the thread of end @i? */
static unsigned as_many(unsigned i)
{
	unsigned j, n = 0;

	for (j = 0; j < CONNS; j++)
		n += end[j].tid == end[i].tid;
	return n;
}

static void assert_spread(void)
{
	unsigned i;

	for (i = 0; i < CONNS; i++)
		assert_int_equal(as_many(i), CONNS / THREADS);
	assert_int_equal(strange, 0);
}

static void spreads(enum tux_backend backend, uint64_t slice_ns)
{
	struct duet d;

	open_both(&d, backend, slice_ns);
	duet_start(&d);
	connect_all(&d);
	await(&answers, CONNS * ROUNDS);
	assert_spread();
	duet_close(&d);
	assert_int_equal(gone, CONNS);
	assert_int_equal(wrong, 0);
}

static void threads__get_as_many_connections(void **state)
{
	(void)state;
	spreads(TUX_BACKEND_UDP, 0);
	spreads(TUX_BACKEND_UDP, TUX_NO_SLICE);
	spreads(TUX_BACKEND_TCP, 0);
}

/* ---- in parallel ---- */

/* Each waits, awake, until all threads are here. */
static void on_stream_meet(struct tux_connection *c, void *arg)
{
	tux_time until = tux_clock_read() + TUX_MSEC(PATIENCE_MS);
	char p;

	(void)arg;
	if (tux_read(c, &p, 1) != 1)
		return;
	atomic_fetch_add(&inside, 1);
	while (atomic_load(&inside) < THREADS && tux_clock_read() < until)
		;
	atomic_fetch_add(&over, atomic_load(&inside) == THREADS);
}

static void threads__run_callbacks_in_parallel(void **state)
{
	struct tux_connection *c[THREADS];
	struct duet d;
	unsigned i;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, TUX_NO_SLICE);
	tux_on_stream(d.server.s, on_stream_meet, &d);
	tux_on_open(d.client.s, NULL, NULL);
	duet_start(&d);
	for (i = 0; i < THREADS; i++)
		c[i] = duet_connect(&d, &asked[i]);
	await(&ends, THREADS);		/* the first thread accepts */
	for (i = 0; i < THREADS; i++)
		assert_int_equal(tux_write_wait(c[i], "?", 1, TUX_FOREVER), 1);
	await(&over, THREADS);
	duet_close(&d);
	assert_int_equal(wrong, 0);
}

static void on_stream_alone(struct tux_connection *c, void *arg)
{
	if (atomic_fetch_add(&inside, 1))
		atomic_fetch_add(&wrong, 1);
	tux_yield();
	on_stream_echo(c, arg);
	atomic_fetch_sub(&inside, 1);
}

static void threads__are_one_for_a_serial_service(void **state)
{
	struct duet d;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	tux_set_serial(d.server.s, 1);
	tux_on_stream(d.server.s, on_stream_alone, &d);
	duet_start(&d);
	connect_all(&d);
	await(&answers, CONNS * ROUNDS);
	assert_int_equal(as_many(0), CONNS);
	assert_int_equal(strange, 0);
	duet_close(&d);
	assert_int_equal(gone, CONNS);
	assert_int_equal(wrong, 0);
}

/* ---- connections of other threads ---- */

static struct tux_connection *next_to(struct tux_connection *c)
{
	return end[((struct end *)tux_user(c) - end + 1) % CONNS].c;
}

/* A message goes on to the client of the next end. */
static void on_message_pass(struct tux_connection *c, struct tux_message *m,
			    unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		if (tux_send_wait(next_to(c), m[i].p, m[i].len, 0,
				  TUX_FOREVER) && atomic_load(&hops) < HOPS)
			atomic_fetch_add(&wrong, 1);
}

static void on_message_return(struct tux_connection *c, struct tux_message *m,
			      unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		if (atomic_fetch_add(&hops, 1) < HOPS &&
		    tux_send_wait(c, m[i].p, m[i].len, 0, TUX_FOREVER))
			atomic_fetch_add(&wrong, 1);
}

static void start_messages(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < CONNS; i++)
		if (tux_send_wait(end[i].c, "token", 5, 0, TUX_FOREVER))
			atomic_fetch_add(&wrong, 1);
}

static void threads__send_over_each_others_connections(void **state)
{
	struct duet d;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	tux_on_message(d.server.s, on_message_pass, &d);
	tux_on_message(d.client.s, on_message_return, &d);
	duet_start(&d);
	connect_all(&d);
	part_do(&d.server, start_messages, NULL);
	await(&hops, HOPS);
	duet_close(&d);
	assert_int_equal(gone, CONNS);
	assert_int_equal(wrong, 0);
}

/* What end @arg does: it writes more than there is room for to the next one. */
static void write_long(void *arg)
{
	static char p[LONG];
	struct end *e = arg;

	if (tux_write_wait(next_to(e->c), p, LONG, TUX_FOREVER) != LONG)
		atomic_fetch_add(&wrong, 1);
	atomic_fetch_add(&over, 1);
}

static void on_stream_count(struct tux_connection *c, void *arg)
{
	static char p[4096];
	ssize_t n;

	(void)arg;
	while ((n = tux_read(c, p, sizeof(p))) > 0)
		atomic_fetch_add(&answers, (unsigned)n);
}

static void threads__wait_for_room_of_each_other(void **state)
{
	struct duet d;
	unsigned i;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	tux_on_stream(d.client.s, on_stream_count, &d);
	tux_on_open(d.client.s, NULL, NULL);
	duet_start(&d);
	connect_all(&d);
	for (i = 0; i < CONNS; i++)
		assert_int_equal(tux_go(d.server.t, write_long, &end[i]), 0);
	await(&over, CONNS);
	await(&answers, CONNS * LONG);
	assert_int_equal(answers, CONNS * LONG);
	duet_close(&d);
	assert_int_equal(wrong, 0);
}

/* ---- tux_go() ---- */

static _Atomic pid_t seen[2 * THREADS];

static void see_thread(void *arg)
{
	*(_Atomic pid_t *)arg = my_tid();
	atomic_fetch_add(&over, 1);
}

static void go_on(void *arg)
{
	struct duet *d = arg;
	pid_t tid = my_tid();
	unsigned i, before = atomic_load(&over);

	for (i = 0; i < THREADS; i++)
		tux_go(d->server.t, see_thread, &seen[i]);
	while (atomic_load(&over) < before + THREADS)
		tux_yield();
	for (i = 0; i < THREADS; i++)
		if (seen[i] != tid)
			atomic_fetch_add(&wrong, 1);
}

static void go__takes_all_threads_in_turn(void **state)
{
	struct duet d;
	unsigned i, j;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	duet_start(&d);
	part_do(&d.server, see_thread, &seen[0]);	/* they run */
	over = 0;
	for (i = 0; i < 2 * THREADS; i++)
		assert_int_equal(tux_go(d.server.t, see_thread, &seen[i]), 0);
	await(&over, 2 * THREADS);
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(seen[i], seen[i + THREADS]);
		for (j = 0; j < i; j++)
			assert_int_not_equal(seen[i], seen[j]);
	}
	for (i = 0; i < THREADS; i++)
		part_do(&d.server, go_on, &d);
	assert_int_equal(wrong, 0);
	duet_close(&d);
}

/* ---- services, in callbacks of each thread ---- */

static void on_stream_tell(struct tux_connection *c, void *arg)
{
	char p;

	(void)arg;
	if (tux_read(c, &p, 1) == 1)
		tux_write(c, "!", 1);
}

static void use_service(void *arg)
{
	struct duet *d = arg;
	struct tux_service *s;
	struct pollfd f = { .events = POLLIN };
	char p = 0;

	if (tux_service_new(d->server.t, &s) || tux_port(s)) {
		atomic_fetch_add(&wrong, 1);
		return;
	}
	tux_on_stream(s, on_stream_tell, NULL);
	if (tux_listen(s, "127.0.0.1", 0) || !tux_port(s) ||
	    tux_listen(s, "nobody", 0) != -EINVAL)
		atomic_fetch_add(&wrong, 1);
	f.fd = plain_connect((uint16_t)tux_port(s));
	if (write(f.fd, "?", 1) != 1)
		atomic_fetch_add(&wrong, 1);
	while (!poll(&f, 1, 0))
		tux_sleep(100000);
	if (read(f.fd, &p, 1) != 1 || p != '!')
		atomic_fetch_add(&wrong, 1);
	tux_service_free(s);
	while (!poll(&f, 1, 0))
		tux_sleep(100000);
	if (read(f.fd, &p, 1) > 0)
		atomic_fetch_add(&wrong, 1);
	close(f.fd);
	atomic_fetch_add(&over, 1);
}

static void await_none(void *arg)
{
	struct tux_stats st;

	while (!tux_stats(arg, &st, sizeof(st)) && st.connections_now)
		tux_sleep(100000);
}

static void services__are_all_threads(void **state)
{
	struct tux_stats st;
	struct duet d;
	unsigned i;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	duet_start(&d);
	for (i = 0; i < 4 * THREADS; i++)
		assert_int_equal(tux_go(d.server.t, use_service, &d), 0);
	await(&over, 4 * THREADS);
	assert_int_equal(wrong, 0);
	part_do(&d.server, await_none, d.server.t);
	tux_stop(d.server.t);
	pthread_join(d.server.thread, NULL);
	d.server.runs = false;
	assert_int_equal(tux_stats(d.server.t, &st, sizeof(st)), 0);
	assert_int_equal(st.services, 1);
	assert_int_equal(st.listeners, 1);
	assert_int_equal(st.connections_now, 0);
	assert_int_equal(st.connections, 4 * THREADS);
	duet_close(&d);
}

struct storm {
	struct duet *d;
	struct tux_service *s;
	uint16_t port;
};

static void begin_storm(void *arg)
{
	struct storm *x = arg;

	if (tux_service_new(x->d->server.t, &x->s) ||
	    tux_listen(x->s, "127.0.0.1", 0))
		atomic_fetch_add(&wrong, 1);
	x->port = (uint16_t)tux_port(x->s);
}

static void end_storm(void *arg)
{
	struct storm *x = arg;

	tux_service_free(x->s);
	atomic_fetch_add(&over, 1);
}

/* Nobody may listen any more. */
static int connect_if_heard(uint16_t port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	(void)!connect(fd, (struct sockaddr *)&a, sizeof(a));
	return fd;
}

static unsigned open_files(void)
{
	unsigned n = 0;
	int fd;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* It is freed while connections are accepted and given to the others. */
static void services__end_in_a_storm(void **state)
{
	int fd[STORM];
	struct storm x;
	struct duet d;
	unsigned i, before;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	duet_start(&d);
	x.d = &d;
	part_do(&d.server, begin_storm, &x);
	before = open_files();
	for (i = 0; i < STORM && !atomic_load(&over); i++) {
		fd[i] = connect_if_heard(x.port);
		if (i == STORM / 3)
			assert_int_equal(tux_go(d.server.t, end_storm, &x), 0);
	}
	await(&over, 1);
	while (i--)
		close(fd[i]);
	for (i = 0; open_files() > before && i < PATIENCE_MS; i++)
		usleep(1000);
	assert_true(open_files() <= before);
	assert_int_equal(wrong, 0);
	duet_close(&d);
}

/* ---- statistics ---- */

static void look_at_all(void *arg)
{
	struct duet *d = arg;
	struct tux_loop_stats loop;
	struct tux_connection_stats c;
	struct tux_stats all;
	uint64_t callbacks = 0;
	unsigned i;

	for (i = 0; i < THREADS; i++) {
		if (tux_loop_stats(d->server.t, i, &loop, sizeof(loop)) ||
		    !loop.callbacks || !loop.turns)
			atomic_fetch_add(&wrong, 1);
		callbacks += loop.callbacks;
	}
	if (callbacks < CONNS ||
	    tux_loop_stats(d->server.t, i, &loop, sizeof(loop)) != -EINVAL)
		atomic_fetch_add(&wrong, 1);
	if (tux_stats(d->server.t, &all, sizeof(all)) ||
	    all.loops != THREADS || all.connections_now != CONNS ||
	    all.connections != CONNS || all.services != 1 ||
	    all.listeners != 1)
		atomic_fetch_add(&wrong, 1);
	for (i = 0; i < CONNS; i++)
		if (tux_connection_stats(end[i].c, &c, sizeof(c)) ||
		    c.tux_rx + c.tcp_rx + c.frame_rx < ROUNDS)
			atomic_fetch_add(&wrong, 1);
	atomic_fetch_add(&over, 1);
}

static void stats__are_of_all_loops(void **state)
{
	struct duet d;
	unsigned i;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	duet_start(&d);
	connect_all(&d);
	await(&answers, CONNS * ROUNDS);
	for (i = 0; i < 2 * THREADS; i++)
		assert_int_equal(tux_go(d.server.t, look_at_all, &d), 0);
	await(&over, 2 * THREADS);
	tux_stop(d.server.t);
	pthread_join(d.server.thread, NULL);
	d.server.runs = false;
	look_at_all(&d);
	assert_int_equal(wrong, 0);
	duet_close(&d);
}

/* ---- beginning and ending ---- */

static void *run_again(void *arg)
{
	return (void *)(intptr_t)tux_run(arg);
}

static void stop_here(void *arg)
{
	tux_stop(arg);
}

/* A callback of any thread ends tux_run(), and no thread runs then. */
static void run__ends_and_goes_on(void **state)
{
	struct duet d;
	unsigned i, before;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	duet_start(&d);
	connect_all(&d);
	for (i = 0; i < 2 * THREADS; i++) {
		assert_int_equal(tux_go(d.server.t, stop_here, d.server.t), 0);
		pthread_join(d.server.thread, NULL);
		before = echoes;
		usleep(20000);		/* time for those that must not be */
		assert_int_equal(echoes, before);
		pthread_create(&d.server.thread, NULL, run_again, d.server.t);
	}
	await(&answers, CONNS * ROUNDS);
	duet_close(&d);
	assert_int_equal(gone, CONNS);
	assert_int_equal(wrong, 0);
}

/* The program has a loop of its own. */
static void turn__runs_the_others(void **state)
{
	tux_time until = tux_clock_read() + TUX_MSEC(PATIENCE_MS);
	struct duet d;
	struct pollfd f;
	unsigned i;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	duet_start(&d);
	tux_stop(d.server.t);
	pthread_join(d.server.thread, NULL);
	d.server.runs = false;
	f = (struct pollfd){ tux_fd(d.server.t), POLLIN, 0 };
	for (i = 0; i < CONNS; i++)
		duet_connect(&d, &asked[i]);
	while (atomic_load(&answers) < CONNS * ROUNDS &&
	       tux_clock_read() < until) {
		/* The others may be the last that have something to do. */
		poll(&f, 1, 10);
		assert_true(tux_turn(d.server.t) >= 0);
	}
	assert_int_equal(answers, CONNS * ROUNDS);
	assert_spread();
	look_at_all(&d);
	duet_close(&d);
	assert_int_equal(gone, CONNS);
	assert_int_equal(wrong, 0);
}

static void on_stream_sleep(struct tux_connection *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&inside, 1);
	tux_sleep(1000 * TUX_MSEC(1000));
}

/* What sleeps, or waits for another thread's connection, stands still then. */
static void close__ends_what_does_not_return(void **state)
{
	struct duet d;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	tux_on_stream(d.server.s, on_stream_sleep, &d);
	duet_start(&d);
	connect_all(&d);
	await(&inside, CONNS);
	tux_stop(d.server.t);
	pthread_join(d.server.thread, NULL);
	d.server.runs = false;
	duet_close(&d);
	assert_int_equal(wrong, 0);
}

/* Messages that callbacks of the next end hold, until that one is gone. */
static struct tux_message held[CONNS];

static void on_message_hold(struct tux_connection *c, struct tux_message *m,
			    unsigned n, void *arg)
{
	struct end *e = tux_user(c);
	struct tux_message *next = &held[(e - end + 1) % CONNS];

	(void)arg;
	if (n > 1 || next->p)
		atomic_fetch_add(&wrong, 1);
	tux_hold(m);
	*next = *m;
	atomic_fetch_add(&over, 1);
}

static void on_gone_release(struct tux_connection *c, int err, void *arg)
{
	struct end *e = tux_user(c);
	struct tux_loop_stats st;
	struct duet *d = arg;
	unsigned i;

	/* The threads answer each other until the last is gone. */
	for (i = 0; i < THREADS; i++)
		if (tux_loop_stats(d->server.t, i, &st, sizeof(st)))
			atomic_fetch_add(&wrong, 1);
	if (memcmp(held[e - end].p, "held", 4))
		atomic_fetch_add(&wrong, 1);
	tux_release(&held[e - end]);
	on_gone(c, err, arg);
}

static void on_open_send(struct tux_connection *c, void *arg)
{
	(void)arg;
	if (tux_send_wait(c, "held", 4, 0, TUX_FOREVER))
		atomic_fetch_add(&wrong, 1);
}

static void close__lets_callbacks_use_each_others_connections(void **state)
{
	struct duet d;

	(void)state;
	memset(held, 0, sizeof(held));
	open_both(&d, TUX_BACKEND_UDP, 0);
	tux_on_message(d.server.s, on_message_hold, &d);
	tux_on_gone(d.server.s, on_gone_release, &d);
	tux_on_message(d.client.s, on_message_return, &d);
	tux_on_open(d.client.s, on_open_send, &d);
	duet_start(&d);
	connect_all(&d);
	await(&over, CONNS);
	tux_stop(d.server.t);
	pthread_join(d.server.thread, NULL);
	d.server.runs = false;
	tux_close(d.server.t);
	assert_int_equal(gone, CONNS);
	assert_int_equal(wrong, 0);
	tux_stop(d.client.t);
	pthread_join(d.client.thread, NULL);
	tux_close(d.client.t);
}

/* Callbacks of all threads have the signals of the thread that runs the first. */
static void see_mask(void *arg)
{
	sigset_t set;

	(void)arg;
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	if (!sigismember(&set, SIGUSR2) || sigismember(&set, SIGTERM) ||
	    sigismember(&set, SIGSEGV))
		atomic_fetch_add(&wrong, 1);
	atomic_fetch_add(&over, 1);
}

static void run__gives_its_mask_of_signals(void **state)
{
	sigset_t block, old;
	struct duet d;
	unsigned i;

	(void)state;
	sigemptyset(&block);
	sigaddset(&block, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &block, &old);
	open_both(&d, TUX_BACKEND_UDP, 0);
	duet_start(&d);
	for (i = 0; i < 4 * THREADS; i++)
		part_do(&d.server, see_mask, NULL);
	assert_int_equal(wrong, 0);
	duet_close(&d);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* A connection that a callback begins is its thread's; a serial service has none
 * there. */
static void connect_here(void *arg)
{
	struct duet *d = arg;
	struct tux_connection *c;
	struct tux_service *s;
	bool first = my_tid() == seen[0];

	if (tux_service_new(d->server.t, &s))
		atomic_fetch_add(&wrong, 1);
	tux_set_serial(s, 1);
	if (tux_connect(s, "127.0.0.1", d->port, NULL, &c) !=
	    (first ? 0 : -EXDEV))
		atomic_fetch_add(&wrong, 1);
	tux_service_free(s);
	if (tux_connect(d->server.s, "127.0.0.1", d->port, NULL, NULL))
		atomic_fetch_add(&wrong, 1);
	atomic_fetch_add(&over, 1);
}

static void connections__begin_on_the_callers_thread(void **state)
{
	struct duet d;
	unsigned i;

	(void)state;
	open_both(&d, TUX_BACKEND_TCP, 0);
	tux_on_open(d.server.s, NULL, NULL);
	tux_on_stream(d.server.s, on_stream_tell, NULL);
	tux_on_gone(d.server.s, NULL, NULL);
	tux_set_serial(d.server.s, 0);
	duet_start(&d);
	/* The first of those that are taken in turn is the first thread. */
	part_do(&d.server, see_thread, &seen[0]);
	over = 0;
	for (i = 0; i < THREADS; i++)
		part_do(&d.server, connect_here, &d);
	assert_int_equal(wrong, 0);
	assert_int_equal(over, THREADS);
	duet_close(&d);
}

static void child__has_none(void **state)
{
	struct duet d;
	int status;
	pid_t pid;

	(void)state;
	open_both(&d, TUX_BACKEND_UDP, 0);
	duet_start(&d);
	connect_all(&d);
	pid = fork();
	if (!pid) {
		struct tux_service *s;

		_exit(tux_service_new(d.server.t, &s) != -EOWNERDEAD ||
		      tux_listen(d.server.s, NULL, 0) != -EOWNERDEAD ||
		      tux_run(d.server.t) != -EOWNERDEAD);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	await(&answers, CONNS * ROUNDS);
	duet_close(&d);
	assert_int_equal(gone, CONNS);
}

static void options__are_checked(void **state)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	struct tux *t;

	(void)state;
	o.threads = TUX_THREADS_MAX + 1;
	assert_int_equal(tux_open(&t, &o), -EINVAL);
	o.threads = TUX_THREADS_MAX;
	assert_int_equal(tux_open(&t, &o), 0);
	tux_close(t);
}

/* ---- with one thread for all loops, at first ---- */

static int with_one(void **state)
{
	(void)state;
	least = 1;
	return 0;
}

static int with_all(void **state)
{
	(void)state;
	least = 0;
	return 0;
}

#define ONE(f) { #f " (one thread)", f, with_one, with_all, NULL }

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads__get_as_many_connections),
		cmocka_unit_test(threads__run_callbacks_in_parallel),
		cmocka_unit_test(threads__are_one_for_a_serial_service),
		cmocka_unit_test(threads__send_over_each_others_connections),
		cmocka_unit_test(threads__wait_for_room_of_each_other),
		cmocka_unit_test(go__takes_all_threads_in_turn),
		cmocka_unit_test(services__are_all_threads),
		cmocka_unit_test(services__end_in_a_storm),
		cmocka_unit_test(stats__are_of_all_loops),
		cmocka_unit_test(run__ends_and_goes_on),
		cmocka_unit_test(turn__runs_the_others),
		cmocka_unit_test(close__ends_what_does_not_return),
		cmocka_unit_test(
			close__lets_callbacks_use_each_others_connections),
		cmocka_unit_test(run__gives_its_mask_of_signals),
		cmocka_unit_test(connections__begin_on_the_callers_thread),
		ONE(threads__send_over_each_others_connections),
		ONE(threads__wait_for_room_of_each_other),
		ONE(services__are_all_threads),
		ONE(services__end_in_a_storm),
		ONE(stats__are_of_all_loops),
		ONE(run__ends_and_goes_on),
		ONE(close__ends_what_does_not_return),
		ONE(close__lets_callbacks_use_each_others_connections),
		ONE(child__has_none),
		cmocka_unit_test(child__has_none),
		cmocka_unit_test(options__are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
