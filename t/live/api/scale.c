/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stack whose threads follow the load: how many run, and what its connections and
 * callbacks see of that.
 *
 * The server works a while for each request.  Requests come one after another on
 * each connection (the load is high), or single ones now and then.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "sys/clock.h"
#include "sys/sys.h"

enum {
	CONNS = 8, WORK_US = 200,
	WAITERS = 2,			/* more, one of each loop */
	ALL = CONNS + WAITERS,
	DEPTH = 16,			/* requests under way on each, if it is high:
					 * the server has enough to do also while the
					 * client has no processor */
	ROUNDS = 2,			/* of high and low load */
	PATIENCE_MS = 40000,
	PAUSE_MS = 5,			/* between requests, if the load is low */
};

/* One connection: requests are numbered, and so are answers. */
struct asked {
	struct tux_connection *c;
	_Atomic uint32_t sent, answered;
};

static struct asked asked[ALL];
static _Atomic bool high;
static _Atomic unsigned ends, begun, wrong, gone, inside, over;
static _Atomic unsigned elsewhere;	/* callbacks on another than thread 0 */
static _Atomic unsigned both;		/* two callbacks of one connection */
static _Atomic pid_t first_tid;
static _Atomic unsigned turns;
static _Atomic unsigned most;		/* requests for one callback; UINT_MAX: there
					 * are slices */

static void reset(void)
{
	ends = begun = wrong = gone = inside = over = elsewhere = both = 0;
	high = false;
	memset(asked, 0, sizeof(asked));
}

/* With one, there is never a thread more. */
static void need_processors(void)
{
	if (tux_sys_cpus() < 2)
		skip();
}

static void work(tux_time ns)
{
	tux_time until = tux_clock_read() + ns;

	while (tux_clock_read() < until)
		;
}

/* ---- the server ---- */

/* What its callbacks know of a connection: the address of its flag. */
static _Atomic bool busy[ALL];

static void on_open_count(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_set_user(c, &busy[atomic_fetch_add(&ends, 1) % ALL]);
}

/* With slices it goes on for as long as requests come: it is under way all the
 * time. */
static void on_stream_answer(struct tux_connection *c, void *arg)
{
	_Atomic bool *mine = tux_user(c);
	unsigned left = most;
	ssize_t got = 0;
	uint32_t n;

	(void)arg;
	if (atomic_exchange(mine, true))
		atomic_fetch_add(&both, 1);
	while (left && (got = tux_read(c, &n, sizeof(n))) == sizeof(n)) {
		left--;
		work(TUX_USEC(WORK_US));
		if (tux_write(c, &n, sizeof(n)) != sizeof(n))
			atomic_fetch_add(&wrong, 1);
		if ((pid_t)syscall(SYS_gettid) != first_tid)
			atomic_fetch_add(&elsewhere, 1);
	}
	if (!left)
		tux_again(c);
	atomic_store(mine, false);
	if (!got)
		tux_disconnect(c);
}

static void on_message_wait(struct tux_connection *c, struct tux_message *m,
			    unsigned n, void *arg)
{
	(void)c;
	(void)m;
	(void)n;
	(void)arg;
	atomic_fetch_add(&inside, 1);
	while (!atomic_load(&over))
		tux_sleep(TUX_MSEC(20));
	atomic_fetch_sub(&inside, 1);
}

static void on_gone_count(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	(void)err;
	(void)arg;
	atomic_fetch_add(&gone, 1);
}

/* ---- the client ---- */

static void on_open_begin(struct tux_connection *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&begun, 1);
}

static void ask(struct asked *a)
{
	uint32_t n = atomic_fetch_add(&a->sent, 1);

	if (tux_write(a->c, &n, sizeof(n)) != sizeof(n))
		atomic_fetch_add(&wrong, 1);
}

static void on_stream_ask(struct tux_connection *c, void *arg)
{
	struct asked *a = tux_user(c);
	ssize_t got;
	uint32_t n;

	(void)arg;
	while ((got = tux_read(c, &n, sizeof(n))) == sizeof(n)) {
		if (n != atomic_fetch_add(&a->answered, 1))
			atomic_fetch_add(&wrong, 1);
		if (atomic_load(&high))
			ask(a);
	}
	if (!got)
		tux_disconnect(c);
}

/* ---- both ---- */

static void open_both(struct duet *d, enum tux_backend backend,
		      uint64_t slice_ns)
{
	struct tux_opts one = duet_opts(backend), o = one;

	reset();
	if (backend == TUX_BACKEND_TCP)
		o.path = one.path = TUX_USE_TCP;
	o.threads = 2;
	o.threads_min = 1;
	o.slice_ns = slice_ns;
	duet_open_as(d, &o, &one);
	tux_on_open(d->server.s, on_open_count, NULL);
	tux_on_stream(d->server.s, on_stream_answer, NULL);
	tux_on_gone(d->server.s, on_gone_count, NULL);
	tux_on_open(d->client.s, on_open_begin, NULL);
	tux_on_stream(d->client.s, on_stream_ask, NULL);
	tux_on_message(d->server.s, on_message_wait, NULL);
	tux_on_message(d->client.s, on_message_wait, NULL);
}

static void connect_all(struct duet *d)
{
	unsigned i;

	for (i = 0; i < ALL; i++) {
		asked[i].c = duet_connect(d, &asked[i]);
		await(&ends, i + 1);
		await(&begun, i + 1);
	}
}

static bool all_answered(void)
{
	unsigned i;

	for (i = 0; i < CONNS; i++)
		if (asked[i].sent != asked[i].answered)
			return false;
	return true;
}

static void await_answers(void)
{
	tux_time until = tux_clock_read() + TUX_MSEC(PATIENCE_MS);

	while (!all_answered() && tux_clock_read() < until)
		usleep(1000);
	assert_true(all_answered());
}

static void ask_all(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < CONNS; i++)
		ask(&asked[i]);
}

static void ask_many(void *arg)
{
	unsigned i;

	for (i = 0; i < DEPTH; i++)
		ask_all(arg);
}

static void ask_one(void *arg)
{
	static unsigned i;

	(void)arg;
	ask(&asked[i++ % CONNS]);
}

static struct tux_stats stats_of(const struct duet *d)
{
	struct tux_stats st;

	assert_int_equal(tux_stats(d->server.t, &st, sizeof(st)), 0);
	return st;
}

/* Until @n threads run; meanwhile, with @asks, the load is low, and not none. */
static void await_threads(struct duet *d, unsigned n, bool asks)
{
	tux_time until = tux_clock_read() + TUX_MSEC(PATIENCE_MS);

	while (stats_of(d).threads != n && tux_clock_read() < until) {
		if (asks)
			part_do(&d->client, ask_one, NULL);
		usleep(PAUSE_MS * 1000);
	}
	assert_int_equal(stats_of(d).threads, n);
}

static void load_high(struct duet *d)
{
	high = true;
	part_do(&d->client, ask_many, NULL);
}

static void load_low(void)
{
	high = false;
	await_answers();
}

static void rise(struct duet *d)
{
	load_high(d);
	await_threads(d, 2, false);
}

static void fall(struct duet *d, bool asks)
{
	load_low();
	await_threads(d, 1, asks);
	await_answers();
}

static void see_first(void *arg)
{
	struct tux_loop_stats st;
	struct duet *d = arg;

	first_tid = (pid_t)syscall(SYS_gettid);
	if (tux_loop_stats(d->server.t, 0, &st, sizeof(st)))
		atomic_fetch_add(&wrong, 1);
	most = st.slice_ns ? UINT_MAX : 4;
}

static void start(struct duet *d)
{
	duet_start(d);
	part_do(&d->server, see_first, d);
	connect_all(d);
	assert_int_equal(stats_of(d).threads, 1);
	assert_int_equal(stats_of(d).loops, 2);
}

/* The server first: it knows what its callbacks do. */
static void close_both(struct duet *d)
{
	if (d->server.runs) {
		tux_stop(d->server.t);
		pthread_join(d->server.thread, NULL);
	}
	tux_close(d->server.t);
	tux_stop(d->client.t);
	pthread_join(d->client.thread, NULL);
	tux_close(d->client.t);
	assert_int_equal(gone, ALL);
	assert_int_equal(wrong, 0);
	assert_int_equal(both, 0);
}

/* ---- threads follow the load ---- */

static void follows(enum tux_backend backend, uint64_t slice_ns)
{
	uint64_t moved;
	struct duet d;
	unsigned i;

	open_both(&d, backend, slice_ns);
	start(&d);
	for (i = 0; i < ROUNDS; i++) {
		unsigned before = elsewhere;

		rise(&d);
		await(&elsewhere, before + 1);
		fall(&d, i % 2);
		before = elsewhere;
		moved = stats_of(&d).moved;
		part_do(&d.client, ask_all, NULL);
		await_answers();
		assert_true(elsewhere == before || stats_of(&d).moved > moved);
	}
	assert_true(stats_of(&d).moved >= 2 * ROUNDS);
	close_both(&d);
}

static void threads__follow_the_load(void **state)
{
	(void)state;
	need_processors();
	follows(TUX_BACKEND_UDP, 0);
	follows(TUX_BACKEND_TCP, 0);
}

static void threads__follow_without_preemption(void **state)
{
	(void)state;
	need_processors();
	follows(TUX_BACKEND_UDP, TUX_NO_SLICE);
}

/* ---- a loop of the program's own ---- */

static struct duet turned;
static _Atomic bool turns_end;

/* Between turns, the thread asks what only the loops can tell, wherever they are. */
static void look_around(struct tux *t)
{
	struct tux_loop_stats st;

	if (tux_loop_stats(t, 0, &st, sizeof(st)) ||
	    tux_loop_stats(t, 1, &st, sizeof(st)))
		atomic_fetch_add(&wrong, 1);
}

static void *turn(void *arg)
{
	struct pollfd f = { tux_fd(turned.server.t), POLLIN, 0 };

	(void)arg;
	while (!atomic_load(&turns_end)) {
		poll(&f, 1, 200);
		if (tux_turn(turned.server.t) < 0)
			atomic_fetch_add(&wrong, 1);
		look_around(turned.server.t);
	}
	return NULL;
}

static void start_turns(struct duet *d)
{
	turns_end = false;
	start(d);
	tux_stop(d->server.t);
	pthread_join(d->server.thread, NULL);
	pthread_create(&d->server.thread, NULL, turn, NULL);
	part_do(&d->server, see_first, d);
}

static void stop_turns(struct duet *d)
{
	turns_end = true;
	pthread_join(d->server.thread, NULL);
	d->server.runs = false;
}

static void turns__follow_the_load(void **state)
{
	struct duet *d = &turned;
	unsigned i;

	(void)state;
	need_processors();
	open_both(d, TUX_BACKEND_UDP, 0);
	start_turns(d);
	for (i = 0; i < ROUNDS; i++) {
		rise(d);
		fall(d, i % 2);
	}
	assert_true(stats_of(d).moved >= 2 * ROUNDS);
	stop_turns(d);
	close_both(d);
}

/* ---- what does not move ---- */

static void send_waiters(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = CONNS; i < ALL; i++)
		if (tux_send(asked[i].c, "wait", 4, 0) < 0)
			atomic_fetch_add(&wrong, 1);
}

/* A callback that waits is on a connection of each loop. */
static void wait_in_callbacks(struct duet *d)
{
	over = 0;
	part_do(&d->client, send_waiters, NULL);
	await(&inside, WAITERS);
}

static void keep_their_loop(struct duet *d)
{
	wait_in_callbacks(d);
	load_high(d);
	usleep(400000);		/* time for a move that must not be */
	assert_int_equal(stats_of(d).moved, 0);
	assert_int_equal(elsewhere, 0);
	over = 1;
	await_threads(d, 2, false);
	await(&elsewhere, 10);
	fall(d, false);
	assert_int_equal(inside, 0);
}

/* Without storage of their own; the others of the loop go on. */
static void callbacks__keep_their_loop(void **state)
{
	struct duet d;

	(void)state;
	need_processors();
	open_both(&d, TUX_BACKEND_UDP, TUX_NO_SLICE);
	start(&d);
	keep_their_loop(&d);
	close_both(&d);
	open_both(&turned, TUX_BACKEND_UDP, TUX_NO_SLICE);
	start_turns(&turned);
	keep_their_loop(&turned);
	stop_turns(&turned);
	close_both(&turned);
}

/* With it, they are under way all the time. */
static void callbacks__move_with_their_loop(void **state)
{
	struct duet d;
	unsigned i;

	(void)state;
	need_processors();
	open_both(&d, TUX_BACKEND_UDP, 0);
	start(&d);
	for (i = 0; most == UINT_MAX && i < ROUNDS; i++) {
		wait_in_callbacks(&d);
		rise(&d);
		fall(&d, false);
		assert_int_equal(inside, WAITERS);
		over = 1;
		while (atomic_load(&inside))
			usleep(1000);
	}
	close_both(&d);
	if (most != UINT_MAX)
		skip();
}

/* ---- beginning and ending ---- */

static void *run_again(void *arg)
{
	return (void *)(intptr_t)tux_run(arg);
}

static void stop_and_run(struct duet *d)
{
	tux_stop(d->server.t);
	pthread_join(d->server.thread, NULL);
	pthread_create(&d->server.thread, NULL, run_again, d->server.t);
}

/* tux_run() ends and begins while loops are wherever they are. */
static void run__ends_in_any_state(void **state)
{
	struct duet d;
	unsigned i;

	(void)state;
	need_processors();
	open_both(&d, TUX_BACKEND_UDP, 0);
	start(&d);
	load_high(&d);
	for (i = 0; i < 24; i++) {
		/* The second look, and the move, come some 100 ms after the
		 * beginning. */
		usleep(95000 + 1000 * i);
		stop_and_run(&d);
		if (i % 12 == 11) {
			fall(&d, false);
			rise(&d);
		}
	}
	load_low();
	close_both(&d);
}

static void count_turns(void *arg)
{
	struct duet *d = arg;
	struct tux_loop_stats st;
	unsigned i, all = 0;

	for (i = 0; i < 2; i++) {
		if (tux_loop_stats(d->server.t, i, &st, sizeof(st)))
			atomic_fetch_add(&wrong, 1);
		all += (unsigned)st.turns;
	}
	turns = all;
}

/* It ends while a loop waits to leave its thread: later, nothing waits. */
static void run__ends_while_a_loop_waits(void **state)
{
	struct duet d;
	unsigned i, before;
	tux_time from;

	(void)state;
	need_processors();
	open_both(&d, TUX_BACKEND_UDP, TUX_NO_SLICE);
	start(&d);
	for (i = 0; i < 6; i++) {
		wait_in_callbacks(&d);
		load_high(&d);
		usleep(95000 + 5000 * i);
		stop_and_run(&d);
		load_low();
		part_do(&d.server, count_turns, &d);
		before = turns;
		from = tux_clock_read();
		usleep(100000);	/* the time in which turns are counted */
		part_do(&d.server, count_turns, &d);
		/* One that does not sleep has a turn each microsecond or two. */
		assert_in_range(turns - before, 0,
				(tux_clock_read() - from) / TUX_USEC(5));
		over = 1;
		fall(&d, false);
		while (atomic_load(&inside))
			usleep(1000);
	}
	close_both(&d);
}

/* Both loops are one thread's at the end, or each has its own. */
static void close__with_one_and_with_two(void **state)
{
	struct duet d;
	unsigned i;

	(void)state;
	need_processors();
	for (i = 0; i < 2; i++) {
		open_both(&d, TUX_BACKEND_UDP, 0);
		start(&d);
		rise(&d);
		if (i)
			fall(&d, false);
		load_low();
		close_both(&d);
	}
}

static void close__while_a_loop_waits(void **state)
{
	struct duet *d = &turned;
	unsigned i;

	(void)state;
	need_processors();
	for (i = 0; i < 6; i++) {
		open_both(d, TUX_BACKEND_UDP, TUX_NO_SLICE);
		start_turns(d);
		wait_in_callbacks(d);
		load_high(d);
		usleep(95000 + 5000 * i);
		high = false;
		stop_turns(d);
		over = 1;
		close_both(d);
	}
}

/* The thread that has no loop has hardly begun. */
static void close__at_once(void **state)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_TCP);
	struct tux *t;
	unsigned i;

	(void)state;
	o.threads = 2;
	o.threads_min = 1;
	for (i = 0; i < 200; i++) {
		assert_int_equal(tux_open(&t, &o), 0);
		assert_true(tux_turn(t) >= 0);
		work(i * 500);
		tux_close(t);
	}
}

/* ---- options ---- */

static void options__are_a_range(void **state)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	struct tux_stats st;
	struct tux *t;

	(void)state;
	o.threads_min = 2;
	assert_int_equal(tux_open(&t, &o), -EINVAL);
	o.threads = 1;
	assert_int_equal(tux_open(&t, &o), -EINVAL);
	o.threads = 3;
	assert_int_equal(tux_open(&t, &o), 0);
	assert_int_equal(tux_stats(t, &st, sizeof(st)), 0);
	assert_int_equal(st.loops, 3);
	assert_int_equal(st.threads, 2);
	tux_close(t);
	o.threads_min = 0;
	assert_int_equal(tux_open(&t, &o), 0);
	assert_int_equal(tux_stats(t, &st, sizeof(st)), 0);
	assert_int_equal(st.threads, 3);
	tux_close(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads__follow_the_load),
		cmocka_unit_test(threads__follow_without_preemption),
		cmocka_unit_test(turns__follow_the_load),
		cmocka_unit_test(callbacks__keep_their_loop),
		cmocka_unit_test(callbacks__move_with_their_loop),
		cmocka_unit_test(run__ends_in_any_state),
		cmocka_unit_test(run__ends_while_a_loop_waits),
		cmocka_unit_test(close__with_one_and_with_two),
		cmocka_unit_test(close__while_a_loop_waits),
		cmocka_unit_test(close__at_once),
		cmocka_unit_test(options__are_a_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
