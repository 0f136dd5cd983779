/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which loop gets which connection, and which thread runs it.
 */
#include "stack/loops.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../live/stack/side.h"
#include "../test.h"
#include "sys/clock.h"
#include "udp/udp.h"
#include "stack/stack_in.h"
#include "sys/area.h"

enum { LOOPS = 2 };

/* ---- the decision ---- */

static void pick__an_empty_loop_first(void **state)
{
	static const uint32_t ends[] = { 3, 0, 1 };

	(void)state;
	assert_int_equal(tux_loops_pick(ends, 3, 8), 1);
	assert_int_equal(tux_loops_pick(ends, 1, 1), 0);
}

static void pick__a_new_one_where_none_is(void **state)
{
	static const uint32_t ends[] = { 0 };

	(void)state;
	assert_int_equal(tux_loops_pick(ends, 0, 8), 0);
}

static void pick__then_a_new_one(void **state)
{
	static const uint32_t ends[] = { 3, 1 };

	(void)state;
	assert_int_equal(tux_loops_pick(ends, 1, 2), 1);
	assert_int_equal(tux_loops_pick(ends, 2, 3), 2);
}

static void pick__then_the_one_with_fewest(void **state)
{
	static const uint32_t ends[] = { 3, 1, 2 };

	(void)state;
	assert_int_equal(tux_loops_pick(ends, 3, 3), 1);
	assert_int_equal(tux_loops_pick(ends, 2, 2), 1);
}

/* ---- threads with connections ---- */

static struct tux_stack *stack_of(unsigned threads, unsigned loops)
{
	struct tux_stack_opts o = {
		.ifname = "lo", .io = TUX_IO_UDP, .threads = threads,
		.loops = loops,
	};

	return side_stack_as(&o);
}

static const struct tux_loop *loop_of(const struct side *x)
{
	return x->end->loop;
}

/* What a thread does that connects twice. */
struct job {
	struct tux_stack *s;
	uint16_t port;
	struct side x[2];	/* claimed one after the other */
	const struct tux_loop *runs;	/* the thread, while it waits */
};

static void *connects(void *arg)
{
	struct job *j = arg;
	unsigned i;

	for (i = 0; i < 2; i++)
		side_open(&j->x[i], j->s, side_connect(j->port), true, NULL, 0);
	j->runs = tux_loops_run(j->s, NULL)->loop;
	return NULL;
}

enum { JOBS = LOOPS + 1 };

struct jobs {
	struct tux_stack *s;
	int listener;
	unsigned n;
	struct job j[JOBS];
};

/* @n threads, one after the other. */
static struct jobs *run_jobs(struct tux_stack *s, unsigned n)
{
	struct jobs *t = calloc(1, sizeof(*t));
	uint16_t port;
	pthread_t id;

	t->s = s;
	t->n = n;
	t->listener = side_listen(s, &port);
	for (unsigned i = 0; i < n; i++) {
		t->j[i] = (struct job){ .s = s, .port = port };
		assert_int_equal(pthread_create(&id, NULL, connects, &t->j[i]),
				 0);
		assert_int_equal(pthread_join(id, NULL), 0);
	}
	return t;
}

static void end_jobs(struct jobs *t)
{
	for (unsigned i = 0; i < 2 * t->n; i++) {
		side_close(&t->j[i / 2].x[i % 2], true);
		side_free(&t->j[i / 2].x[i % 2]);
	}
	close(t->listener);
	tux_stack_free(t->s);
	free(t);
}

static void threads__have_a_loop_each(void **state)
{
	struct tux_stack *s = stack_of(0, LOOPS);
	struct jobs *t;

	(void)state;
	assert_int_equal(tux_loops_n(s), 1);
	t = run_jobs(s, JOBS);
	for (unsigned i = 0; i < JOBS; i++) {
		assert_ptr_equal(loop_of(&t->j[i].x[0]), t->j[i].runs);
		assert_ptr_equal(loop_of(&t->j[i].x[1]), t->j[i].runs);
	}
	assert_int_equal(tux_loops_n(s), LOOPS);
	assert_ptr_not_equal(t->j[0].runs, t->j[1].runs);
	end_jobs(t);
}

/* Where the thread waits for the connections of another, it runs their loop. */
static void waiter__follows_a_connection(void **state)
{
	struct jobs *t = run_jobs(stack_of(0, LOOPS), 2);
	struct tux_waiter w;

	(void)state;
	assert_int_equal(tux_waiter_init(&w, 2), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct side *x = &t->j[1 - i].x[0];

		tux_waiter_follow(&w, x->end);
		assert_ptr_equal(tux_loops_run(t->s, &w)->loop, loop_of(x));
	}
	tux_waiter_fini(&w);
	end_jobs(t);
}

/* The calling thread's connection goes to the loop that will be waited for. */
static void choose__as_asked(void **state)
{
	struct jobs *t = run_jobs(stack_of(0, LOOPS), 2);
	struct tux_driver *d;

	(void)state;
	for (unsigned i = 1; i <= LOOPS; i++) {
		d = tux_loops_choose(t->s, i);
		assert_ptr_equal(d, &t->s->driver[i - 1]);
		atomic_fetch_sub(&d->loop->end_n, 1);
	}
	/* There is no such loop, or not any more. */
	d = tux_loops_choose(t->s, LOOPS + 1);
	assert_non_null(d);
	atomic_fetch_sub(&d->loop->end_n, 1);
	end_jobs(t);
}

static void away__of_the_loop_that_is_asked_for(void **state)
{
	struct jobs *t = run_jobs(stack_of(0, LOOPS), 2);

	(void)state;
	t->s->driver[1].loop->away_until = TUX_SEC(2);
	assert_false(tux_loops_away(t->s, 1, TUX_SEC(1)));
	assert_true(tux_loops_away(t->s, 2, TUX_SEC(1)));
	assert_false(tux_loops_away(t->s, 2, TUX_SEC(2)));
	assert_false(tux_loops_away(t->s, LOOPS + 1, TUX_SEC(1)));
	end_jobs(t);
}

/* Of dedicated loops, any may get it. */
static void away__if_all_are(void **state)
{
	struct tux_stack *s = stack_of(LOOPS, 0);
	struct jobs *t = run_jobs(s, 1);

	(void)state;
	s->driver[0].loop->away_until = TUX_SEC(2);
	assert_false(tux_loops_away(s, 0, TUX_SEC(1)));
	s->driver[1].loop->away_until = TUX_SEC(2);
	assert_true(tux_loops_away(s, 0, TUX_SEC(1)));
	end_jobs(t);
}

/* One is all where more were not asked for. */
static void loops__one(void **state)
{
	struct jobs *t = run_jobs(stack_of(0, 0), 2);

	(void)state;
	assert_int_equal(tux_loops_n(t->s), 1);
	end_jobs(t);
}

/* Dedicated threads have their loops from the start, and share connections. */
static void loops__dedicated(void **state)
{
	struct tux_stack *s = stack_of(LOOPS, 0);
	struct jobs *t;

	(void)state;
	assert_int_equal(tux_loops_n(s), LOOPS);
	t = run_jobs(s, 1);
	assert_ptr_not_equal(loop_of(&t->j[0].x[0]), loop_of(&t->j[0].x[1]));
	end_jobs(t);
}

/* ---- the first loop, where handshakes announce its port ---- */

/* As where tuxd is. */
static struct tux_stack *announcing(void)
{
	struct tux_stack *s;

	assert_int_equal(tux_area_map((void **)&s, sizeof(*s),
				      TUX_AREA_PRIVATE), 0);
	s->o.io = TUX_IO_UDP;
	s->link = &tux_udp;
	s->queue.fd = -1;
	s->held = (struct tux_loop_held){ -1, -1 };
	tux_announce_init(&s->announce);
	s->announce.shared = true;
	assert_int_equal(tux_ends_init(&s->ends), 0);
	assert_int_equal(tux_loops_open(s), 0);
	return s;
}

static void first__comes_with_a_connection(void **state)
{
	struct tux_stack *s = announcing();
	uint16_t port = tux_loops_port(s);
	struct tux_driver *d;

	(void)state;
	assert_int_equal(tux_loops_n(s), 0);
	assert_int_not_equal(port, 0);
	assert_false(tux_loops_run(s, NULL)->started);
	d = tux_loops_choose(s, 0);
	assert_ptr_equal(d, &s->driver[0]);
	assert_true(d->started);
	assert_int_equal(tux_loops_n(s), 1);
	assert_int_equal(d->loop->link->port, port);
	assert_int_equal(tux_loops_port(s), port);
	assert_ptr_equal(tux_loops_first(s), d);
	assert_int_equal(tux_loops_n(s), 1);
	atomic_fetch_sub(&d->loop->end_n, 1);
	tux_stack_free(s);
}

/* The loop needs no more of them, but its helper does.  The port stays, and the
 * next connection tries again. */
static void first__without_descriptors(void **state)
{
	struct tux_stack *s = announcing();
	uint16_t port = tux_loops_port(s);
	struct rlimit old, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_null(tux_loops_choose(s, 0));
	assert_int_equal(tux_loops_n(s), 1);
	assert_int_equal(s->driver[0].loop->end_n, 0);
	assert_null(tux_loops_first(s));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_non_null(tux_loops_first(s));
	assert_int_equal(tux_loops_n(s), 1);
	assert_int_equal(s->driver[0].loop->link->port, port);
	tux_stack_free(s);
}

/* ---- bytes, in two loops at a time ---- */

enum { ROUNDS = 2000, SIZE = 100 };

struct talk {
	struct tux_stack *s;
	int fd;
	bool active;
	bool tux;		/* the connection has moved */
};

/* One message there, and the same one back.  False: the other end is done. */
static bool talk_once(const struct talk *t, struct side *x, int c)
{
	char out[SIZE], in[SIZE];
	ssize_t k;

	memset(out, c, SIZE);
	if (t->active)
		assert_int_equal(side_write(x, out, SIZE), SIZE);
	for (ssize_t n = 0; n < SIZE; n += k) {
		k = side_read(x, in + n, SIZE - (size_t)n);
		if (!k && !n && !t->active)
			return false;
		assert_true(k > 0);
	}
	assert_memory_equal(in, out, SIZE);
	if (!t->active)
		assert_int_equal(side_write(x, out, SIZE), SIZE);
	return true;
}

/* The active end talks until the connection has moved, and ROUNDS more times. */
static void *talks(void *arg)
{
	tux_time until = tux_clock_read() + TUX_SEC(60);
	unsigned i, after = 0;
	struct talk *t = arg;
	struct side x = { 0 };

	side_open(&x, t->s, t->fd, t->active, NULL, 0);
	for (i = 0; after < ROUNDS && talk_once(t, &x, (int)i); i++) {
		assert_true(tux_clock_read() < until);
		t->tux = x.tux;
		after += t->active && x.tux;
	}
	side_close(&x, false);
	side_free(&x);
	return NULL;
}

/* Four threads in two stacks: both ends of each connection have a thread, and
 * each thread runs a loop. */
static void bytes__both_ways(void **state)
{
	struct tux_stack *s[2] = { stack_of(0, LOOPS), stack_of(0, LOOPS) };
	struct talk t[4];
	pthread_t id[4];
	uint16_t port;
	int l;

	(void)state;
	l = side_listen(s[1], &port);
	for (unsigned i = 0; i < 4; i += 2) {
		t[i] = (struct talk){ s[0], side_connect(port), true, false };
		t[i + 1] = (struct talk){ s[1], accept(l, NULL, NULL), false,
					  false };
	}
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&id[i], NULL, talks, &t[i]), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_join(id[i], NULL), 0);
	assert_int_equal(tux_loops_n(s[0]), LOOPS);
	assert_int_equal(tux_loops_n(s[1]), LOOPS);
	assert_true(t[0].tux && t[1].tux && t[2].tux && t[3].tux);
	close(l);
	tux_stack_free(s[0]);
	tux_stack_free(s[1]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pick__an_empty_loop_first),
		cmocka_unit_test(pick__a_new_one_where_none_is),
		cmocka_unit_test(pick__then_a_new_one),
		cmocka_unit_test(pick__then_the_one_with_fewest),
		cmocka_unit_test(threads__have_a_loop_each),
		cmocka_unit_test(waiter__follows_a_connection),
		cmocka_unit_test(choose__as_asked),
		cmocka_unit_test(away__of_the_loop_that_is_asked_for),
		cmocka_unit_test(away__if_all_are),
		cmocka_unit_test(loops__one),
		cmocka_unit_test(loops__dedicated),
		cmocka_unit_test(first__comes_with_a_connection),
		cmocka_unit_test(first__without_descriptors),
		cmocka_unit_test(bytes__both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
