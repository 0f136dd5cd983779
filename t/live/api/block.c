/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tux_block(): a callback that waits in the kernel, and the others meanwhile.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "sys/clock.h"

enum { ROUNDS = 300, WAITERS = 20, SENDS = 50, NAP_MS = 50 };

static struct {
	_Atomic unsigned opened, waits, answers, wrong, returned;
	struct tux_connection *_Atomic c[WAITERS + 1];
	int ends[2];
} seen;

static void forget(void)
{
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(pipe(seen.ends), 0);
}

static void forget_ends(void)
{
	close(seen.ends[0]);
	close(seen.ends[1]);
}

static void read_byte(void *arg)
{
	atomic_fetch_add(&seen.waits, 1);
	*(ssize_t *)arg = read(seen.ends[0], &(char){ 0 }, 1);
}

/* 'w': waits until there is a byte in the pipe.  Then, or else at once, the
 * message goes back. */
static void on_question(struct tux_connection *c, struct tux_message *m,
			unsigned n, void *arg)
{
	(void)arg;
	for (; n; n--, m++) {
		ssize_t got = 1;

		if (*(const char *)m->p == 'w')
			tux_block(read_byte, &got);
		if (got != 1 || tux_send(c, m->p, m->len, 0))
			atomic_fetch_add(&seen.wrong, 1);
	}
}

static void on_client_open(struct tux_connection *c, void *arg)
{
	(void)arg;
	atomic_store(&seen.c[atomic_load(&seen.opened)], c);
	atomic_fetch_add(&seen.opened, 1);
}

/* Of the first connection: asks again.  The others count. */
static void on_answer(struct tux_connection *c, struct tux_message *m,
		      unsigned n, void *arg)
{
	(void)arg;
	if (*(const char *)m->p == 'w')
		atomic_fetch_add(&seen.returned, n);
	else if (atomic_fetch_add(&seen.answers, n) < ROUNDS &&
		 tux_send(c, "a", 1, 0))
		atomic_fetch_add(&seen.wrong, 1);
}

static void ask_at(unsigned i, const char *what)
{
	assert_int_equal(tux_send_wait(seen.c[i], what, strlen(what), 0,
				       TUX_FOREVER), 0);
}

struct count {
	struct tux *t;
	uint64_t n;
};

static void count_calls(void *arg)
{
	struct tux_loop_stats st;
	struct count *k = arg;

	assert_int_equal(tux_loop_stats(k->t, 0, &st, sizeof(st)), 0);
	k->n = st.block_calls;
}

/* While callbacks of twenty connections wait for a byte, another connection is
 * answered; with one byte each, they go on. */
static void others_are_answered(uint64_t slice_ns)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP), plain = o;
	struct count k;
	struct duet d;
	unsigned i;

	forget();
	o.slice_ns = slice_ns;
	duet_open_as(&d, &o, &plain);
	tux_on_message(d.server.s, on_question, NULL);
	tux_on_open(d.client.s, on_client_open, NULL);
	tux_on_message(d.client.s, on_answer, NULL);
	duet_start(&d);
	for (i = 0; i <= WAITERS; i++)
		duet_connect(&d, NULL);
	await(&seen.opened, WAITERS + 1);
	for (i = 1; i <= WAITERS; i++)
		ask_at(i, "w");
	await(&seen.waits, WAITERS);
	ask_at(0, "a");
	await(&seen.answers, ROUNDS);
	assert_int_equal(seen.returned, 0);
	for (i = 0; i < WAITERS; i++)
		assert_int_equal(write(seen.ends[1], "x", 1), 1);
	await(&seen.returned, WAITERS);
	assert_int_equal(seen.wrong, 0);
	k.t = d.server.t;
	part_do(&d.server, count_calls, &k);
	assert_int_equal(k.n, WAITERS);
	duet_close(&d);
	forget_ends();
}

static void block__others_are_answered(void **state)
{
	(void)state;
	others_are_answered(0);
}

static void block__others_are_answered_without_slices(void **state)
{
	(void)state;
	others_are_answered(TUX_NO_SLICE);
}

/* ---- what the function may do ---- */

static void send_many(void *arg)
{
	unsigned i;

	for (i = 0; i < SENDS; i++)
		if (tux_send_wait(arg, "m", 1, 0, TUX_FOREVER))
			atomic_fetch_add(&seen.wrong, 1);
	tux_sleep(1000000);
	tux_yield();
}

static void on_question_send(struct tux_connection *c, struct tux_message *m,
			     unsigned n, void *arg)
{
	(void)m;
	(void)n;
	(void)arg;
	tux_block(send_many, c);
}

static void on_answer_count(struct tux_connection *c, struct tux_message *m,
			    unsigned n, void *arg)
{
	(void)c;
	(void)m;
	(void)arg;
	atomic_fetch_add(&seen.answers, n);
}

/* A server that answers by @fn, and a client that counts the answers. */
static void prepare(struct duet *d, tux_message_fn *fn)
{
	forget();
	duet_open(d, TUX_BACKEND_UDP);
	tux_on_message(d->server.s, fn, NULL);
	tux_on_open(d->client.s, on_client_open, NULL);
	tux_on_message(d->client.s, on_answer_count, NULL);
}

/* Starts both, and asks the first question. */
static void ask_first(struct duet *d, const char *what)
{
	duet_start(d);
	duet_connect(d, NULL);
	await(&seen.opened, 1);
	ask_at(0, what);
}

/* The function is in no routine: its calls wait as in any other thread. */
static void block__sends(void **state)
{
	struct duet d;

	(void)state;
	prepare(&d, on_question_send);
	ask_first(&d, "a");
	await(&seen.answers, SENDS);
	assert_int_equal(seen.wrong, 0);
	duet_close(&d);
	forget_ends();
}

/* ---- the end ---- */

static void *write_late(void *arg)
{
	usleep(1000 * NAP_MS);
	return (void *)write(seen.ends[1], arg, 1);
}

/* Then it looks at the message that the routine holds. */
static void read_and_look(void *arg)
{
	const struct tux_message *m = arg;
	ssize_t n;

	read_byte(&n);
	if (n != 1 || m->len != 4 || memcmp(m->p, "held", 4))
		atomic_fetch_add(&seen.wrong, 1);
	tux_release(m);
	atomic_fetch_add(&seen.returned, 1);
}

static void look_away(void *arg)
{
	tux_block(read_and_look, arg);
}

static void on_question_hold(struct tux_connection *c, struct tux_message *m,
			     unsigned n, void *arg)
{
	static struct tux_message held;

	(void)n;
	(void)arg;
	tux_hold(m);
	held = *m;
	if (tux_go(tux_of(c), look_away, &held))
		atomic_fetch_add(&seen.wrong, 1);
	tux_disconnect(c);
}

static void on_server_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	(void)err;
	(void)arg;
	atomic_fetch_add(&seen.answers, 1);
}

/* A call may use a message that its routine holds until it returns, also when the
 * connection has ended. */
static void close__waits_for_calls(void **state)
{
	pthread_t writer;
	struct duet d;

	(void)state;
	prepare(&d, on_question_hold);
	tux_on_gone(d.server.s, on_server_gone, NULL);
	ask_first(&d, "held");
	await(&seen.waits, 1);
	await(&seen.answers, 1);
	assert_int_equal(pthread_create(&writer, NULL, write_late, (void *)"x"),
			 0);
	duet_close(&d);
	assert_int_equal(seen.returned, 1);
	assert_int_equal(seen.wrong, 0);
	pthread_join(writer, NULL);
	forget_ends();
}

static void read_away(void *arg)
{
	ssize_t n;

	(void)arg;
	tux_block(read_byte, &n);
	atomic_fetch_add(&seen.returned, n == 1);
}

static void sleep_and_write(void *arg)
{
	tux_sleep(1000000ull * NAP_MS);
	if (write(seen.ends[1], arg, 1) != 1)
		atomic_fetch_add(&seen.wrong, 1);
}

/* A call may wait for what another routine is about to do. */
static void close__runs_what_calls_wait_for(void **state)
{
	struct duet d;

	(void)state;
	forget();
	duet_open(&d, TUX_BACKEND_UDP);
	duet_start(&d);
	assert_int_equal(tux_go(d.server.t, read_away, NULL), 0);
	await(&seen.waits, 1);
	assert_int_equal(tux_go(d.server.t, sleep_and_write, (void *)"x"), 0);
	duet_close(&d);
	assert_int_equal(seen.returned, 1);
	assert_int_equal(seen.wrong, 0);
	forget_ends();
}

/* ---- what it may not do ---- */

static int turned, sent;

static void turn(void *arg)
{
	turned = tux_turn(arg);
}

static void on_question_turn(struct tux_connection *c, struct tux_message *m,
			     unsigned n, void *arg)
{
	(void)m;
	(void)n;
	(void)arg;
	tux_block(turn, tux_of(c));
	atomic_fetch_add(&seen.returned, 1);
}

/* More than there is room for, and no room before on_settled has run. */
static void send_without_end(void *arg)
{
	while (!sent)
		sent = tux_send_wait(arg, "m", 1, 0, TUX_FOREVER);
}

static void on_question_fill(struct tux_connection *c, struct tux_message *m,
			     unsigned n, void *arg)
{
	on_question_turn(c, m, n, arg);
	tux_block(send_without_end, c);
	atomic_fetch_add(&seen.returned, 1);
}

static void on_settled(struct tux_connection *c, uint64_t ref, int err, void *arg)
{
	(void)c;
	(void)ref;
	(void)err;
	(void)arg;
}

/* tux_turn() and tux_send_wait() treat the call as its callback. */
static void block__is_part_of_its_callback(void **state)
{
	struct duet d;

	(void)state;
	prepare(&d, on_question_fill);
	tux_on_settled(d.server.s, on_settled, NULL);
	ask_first(&d, "a");
	await(&seen.returned, 2);
	assert_int_equal(turned, -EBUSY);
	assert_int_equal(sent, -EDEADLK);
	duet_close(&d);
	forget_ends();
}

static void add_one(void *arg)
{
	++*(unsigned *)arg;
}

static void block__outside_of_routines(void **state)
{
	unsigned n = 0;

	(void)state;
	tux_block(add_one, &n);
	assert_int_equal(n, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(block__others_are_answered),
		cmocka_unit_test(block__others_are_answered_without_slices),
		cmocka_unit_test(block__sends),
		cmocka_unit_test(close__waits_for_calls),
		cmocka_unit_test(close__runs_what_calls_wait_for),
		cmocka_unit_test(block__is_part_of_its_callback),
		cmocka_unit_test(block__outside_of_routines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
