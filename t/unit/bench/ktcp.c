/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../../bench/ktcp.h"

#include "../test.h"

enum { WIRE = 4096, ONE_WAY = 1000000 };	/* 1 ms */

/* A path that takes so long, and loses what it is told to. */
struct path {
	struct ktcp *t;
	tux_time now;
	struct {
		tux_time at;		/* 0: none */
		bool ack;
		uint64_t n;
		struct ktcp_ack k;
	} wire[WIRE];
	unsigned used, next;
	const uint64_t *lose;		/* segments, once each */
	unsigned lose_n;
	uint64_t read;			/* what the reader has */
	tux_time read_at;
	unsigned acks, segments;
};

static bool lost(struct path *p, uint64_t n)
{
	if (!p->lose_n || *p->lose != n)
		return false;
	p->lose++;
	p->lose_n--;
	return true;
}

static void on_segment(void *arg, uint64_t n, uint32_t len)
{
	struct path *p = arg;

	assert_in_range(len, 1, KTCP_MSS);
	p->segments++;
	if (lost(p, n))
		return;
	assert_true(p->used < WIRE);
	p->wire[p->used].at = p->now + ONE_WAY;
	p->wire[p->used++].n = n;
}

static void on_ack(void *arg, const struct ktcp_ack *a)
{
	struct path *p = arg;

	p->acks++;
	assert_true(p->used < WIRE);
	p->wire[p->used].at = p->now + ONE_WAY;
	p->wire[p->used].ack = true;
	p->wire[p->used++].k = *a;
}

static void on_deliver(void *arg, uint64_t off)
{
	struct path *p = arg;

	assert_true(off > p->read);
	p->read = off;
	p->read_at = p->now;
}

static const struct ktcp_ops ops = { on_segment, on_ack, on_deliver };

/* All takes the same time, so what left first arrives first. */
static void run(struct path *p, tux_time until)
{
	for (;;) {
		tux_time due = ktcp_deadline(p->t);
		bool any = p->next < p->used;
		tux_time at = any ? p->wire[p->next].at : TUX_NEVER;

		p->now = tux_time_min(due, at);
		if (p->now > until)
			break;
		if (due <= at)
			ktcp_expire(p->t, p->now);
		else if (p->wire[p->next].ack)
			ktcp_ack_in(p->t, &p->wire[p->next++].k, p->now);
		else
			ktcp_segment_in(p->t, p->wire[p->next++].n, p->now);
	}
	p->now = until;
}

static struct path *path(void)
{
	struct path *p = calloc(1, sizeof(*p));

	p->t = malloc(sizeof(*p->t));
	ktcp_init(p->t, &ops, p);
	return p;
}

static void free_path(struct path *p)
{
	free(p->t);
	free(p);
}

/* A round trip is known, and nothing is under way. */
static struct path *warm(void)
{
	struct path *p = path();
	unsigned i;

	for (i = 0; i < 4; i++) {
		ktcp_write(p->t, 1000, p->now);
		run(p, p->now + TUX_MSEC(1));
	}
	run(p, TUX_MSEC(100));
	assert_int_equal(p->read, 4000);
	return p;
}

static void write__goes_at_once(void **state)
{
	struct path *p = path();

	(void)state;
	ktcp_write(p->t, 3000, 0);
	run(p, TUX_MSEC(60));
	assert_int_equal(p->read, 3000);
	assert_int_equal(p->read_at, ONE_WAY);
	assert_int_equal(p->segments, 3);
	assert_int_equal(p->acks, 2);		/* two, and the third late */
	assert_int_equal(ktcp_deadline(p->t), TUX_NEVER);
	free_path(p);
}

static void write__no_more_than_the_window(void **state)
{
	struct path *p = path();

	(void)state;
	ktcp_write(p->t, 100 * KTCP_MSS, 0);
	assert_int_equal(p->segments, 11);	/* 14,600 bytes, begun */
	run(p, TUX_SEC(1));
	assert_int_equal(p->read, 100 * KTCP_MSS);
	assert_int_equal(p->t->resent_n, 0);
	free_path(p);
}

/* Three behind it say that it is lost: a round trip later it is there. */
static void loss__by_order(void **state)
{
	static const uint64_t lose[] = { 4 };
	struct path *p = warm();
	tux_time began = p->now;
	unsigned i;

	(void)state;
	p->lose = lose;
	p->lose_n = 1;
	for (i = 0; i < 8; i++)
		ktcp_write(p->t, 1000, p->now);
	run(p, began + TUX_MSEC(3));
	assert_int_equal(p->read, 12000);
	assert_int_equal(p->read_at, began + 3 * ONE_WAY);
	assert_int_equal(p->t->resent_n, 1);
	assert_true(p->t->cc.w.cwnd < 10 * KTCP_MSS);
	free_path(p);
}

/* Lost twice: that the next one behind the first retransmission arrives, says
 * so. */
static void loss__of_a_retransmission(void **state)
{
	static const uint64_t lose[] = { 4, 4 };
	struct path *p = warm();
	tux_time began = p->now;
	unsigned i;

	(void)state;
	p->lose = lose;
	p->lose_n = 2;
	for (i = 0; i < 30; i++) {
		ktcp_write(p->t, 1000, p->now);
		run(p, p->now + TUX_USEC(200));
	}
	run(p, began + TUX_MSEC(20));
	assert_int_equal(p->read, 34000);
	assert_int_equal(p->t->resent_n, 2);
	assert_int_equal(p->t->timeout_n, 0);
	free_path(p);
}

/* Nothing behind it: a probe, twice the round trip and two ticks later. */
static void loss__of_the_tail(void **state)
{
	static const uint64_t lose[] = { 5 };
	struct path *p = warm();
	tux_time began = p->now;

	(void)state;
	p->lose = lose;
	p->lose_n = 1;
	ktcp_write(p->t, 1000, p->now);
	ktcp_write(p->t, 1000, p->now);
	run(p, began + TUX_MSEC(150));
	assert_int_equal(p->read, 6000);
	assert_int_equal(p->t->probe_n, 1);
	assert_int_equal(p->t->timeout_n, 0);
	free_path(p);
}

/* One alone, and its probe: the timer of 200 ms. */
static void loss__of_all(void **state)
{
	static const uint64_t lose[] = { 4, 4 };
	struct path *p = warm();
	tux_time began = p->now;

	(void)state;
	p->lose = lose;
	p->lose_n = 2;
	ktcp_write(p->t, 1000, p->now);
	run(p, began + TUX_MSEC(190));
	assert_int_equal(p->read, 4000);
	run(p, began + TUX_SEC(2));
	assert_int_equal(p->read, 5000);
	assert_true(p->read_at > began + TUX_MSEC(200));
	assert_in_range(p->t->timeout_n, 1, 2);
	free_path(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write__goes_at_once),
		cmocka_unit_test(write__no_more_than_the_window),
		cmocka_unit_test(loss__by_order),
		cmocka_unit_test(loss__of_a_retransmission),
		cmocka_unit_test(loss__of_the_tail),
		cmocka_unit_test(loss__of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
