/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/pair.h"

#include "../test.h"

enum { MSS = 1000 };

static const uint8_t here[16] = { 3 }, there[16] = { 4 };
static const uint8_t ip[16] = { 1 }, other[16] = { 2 };
static struct tux_pairs ps;

static void *take(void *arg, size_t len)
{
	(void)arg;
	return calloc(1, len);
}

static void give(void *arg, void *p)
{
	(void)arg;
	free(p);
}

static const struct tux_mem mem = { take, give, NULL };

static void start(void)
{
	tux_pairs_init(&ps, &(struct tux_key){ 1, 2 }, &tux_cc_cubic, &mem);
}

static void get__one_for_the_same_loop(void **state)
{
	struct tux_pair *p, *q, *r, *t;

	(void)state;
	start();
	p = tux_pair_get(&ps, here, ip, 7, MSS);
	assert_ptr_equal(tux_pair_get(&ps, here, ip, 7, 2 * MSS), p);
	assert_int_equal(p->cc.mss, 2 * MSS);
	q = tux_pair_get(&ps, here, ip, 8, MSS);
	r = tux_pair_get(&ps, here, other, 7, MSS);
	t = tux_pair_get(&ps, there, ip, 7, MSS);
	assert_true(p != q && q != r && r != p && t != p);
	assert_int_equal(ps.n, 4);
	tux_pair_put(&ps, p);
	assert_int_equal(ps.n, 4);
	tux_pair_put(&ps, t);
	tux_pair_put(&ps, p);
	tux_pair_put(&ps, q);
	tux_pair_put(&ps, r);
	assert_int_equal(ps.n, 0);
	tux_pairs_fini(&ps);
}

static void get__no_token_no_company(void **state)
{
	struct tux_pair *p, *q;

	(void)state;
	start();
	p = tux_pair_get(&ps, here, ip, 0, MSS);
	q = tux_pair_get(&ps, here, ip, 0, MSS);
	assert_true(p != q);
	tux_pair_put(&ps, p);
	tux_pair_put(&ps, q);
	tux_pairs_fini(&ps);
}

/* Where a pair is in the map is a secret: a peer cannot aim its token. */
static void get__keyed(void **state)
{
	struct tux_pairs qs;
	struct tux_pair *p, *q;

	(void)state;
	start();
	tux_pairs_init(&qs, &(struct tux_key){ 1, 3 }, &tux_cc_cubic, &mem);
	p = tux_pair_get(&ps, here, ip, 7, MSS);
	q = tux_pair_get(&qs, here, ip, 7, MSS);
	assert_true(p->key != q->key);
	tux_pair_put(&ps, p);
	tux_pair_put(&qs, q);
	tux_pairs_fini(&ps);
	tux_pairs_fini(&qs);
}

/* Whoever has a pair can wait for its pace, and be woken to look after it. */
static void get__place_in_both_heaps(void **state)
{
	struct tux_pair *p[40];
	struct test_mem m;
	unsigned i;

	(void)state;
	test_mem_init(&m, -1);
	tux_pairs_init(&ps, &(struct tux_key){ 1, 2 }, &tux_cc_cubic, &m.mem);
	for (i = 0; i < 40; i++) {
		p[i] = tux_pair_get(&ps, here, ip, i, MSS);
		m.left = 0;
		tux_heap_set(&ps.paces, &p[i]->timer, 1000 - i);
		tux_heap_set(&ps.idle, &p[i]->idle, 2000 - i);
		assert_int_equal(tux_pairs_deadline(&ps), 1000 - i);
		m.left = -1;
	}
	for (i = 0; i < 40; i++)
		tux_pair_put(&ps, p[i]);
	tux_pairs_fini(&ps);
	assert_int_equal(m.live, 0);
}

static void get__without_memory(void **state)
{
	struct tux_pair *p = NULL;
	struct test_mem m;
	int left;

	(void)state;
	for (left = 0; !p; left++) {
		test_mem_init(&m, left);
		tux_pairs_init(&ps, &(struct tux_key){ 1, 2 }, &tux_cc_cubic,
			       &m.mem);
		p = tux_pair_get(&ps, here, ip, 7, MSS);
		assert_int_equal(ps.n, p != NULL);
		if (p)
			tux_pair_put(&ps, p);
		tux_pairs_fini(&ps);
		assert_int_equal(m.live, 0);
	}
	assert_true(left > 3);
}

static void next__in_the_order_of_the_line(void **state)
{
	struct tux_pair *p;
	struct tux_list a, b;

	(void)state;
	start();
	tux_list_init(&a);
	tux_list_init(&b);
	p = tux_pair_get(&ps, here, ip, 7, MSS);
	p->in_flight = p->cc.w.cwnd;
	assert_false(tux_pair_room(p, 5));
	tux_pair_wait(&ps, p, &a);
	tux_pair_wait(&ps, p, &b);
	tux_pair_wait(&ps, p, &a);
	assert_true(tux_pairs_deadline(&ps) == TUX_NEVER);
	assert_null(tux_pair_next(p, 5));
	p->in_flight--;
	assert_ptr_equal(tux_pair_next(p, 5), &a);
	assert_ptr_equal(tux_pair_next(p, 5), &b);
	assert_null(tux_pair_next(p, 5));
	tux_pair_put(&ps, p);
	tux_pairs_fini(&ps);
}

static void due__when_the_pace_lets_go(void **state)
{
	struct tux_pair *p;
	struct tux_list a;
	tux_time at;

	(void)state;
	start();
	tux_list_init(&a);
	p = tux_pair_get(&ps, here, ip, 7, MSS);
	p->pace.next = 1000;
	assert_false(tux_pair_room(p, 5));
	tux_pair_wait(&ps, p, &a);
	at = tux_pairs_deadline(&ps);
	assert_int_equal(at, 1000);
	/* Another one has left meanwhile. */
	p->pace.next = 2000;
	assert_null(tux_pairs_due(&ps, at));
	assert_int_equal(tux_pairs_deadline(&ps), 2000);
	assert_ptr_equal(tux_pairs_due(&ps, 2000), &a);
	assert_null(tux_pairs_due(&ps, 2000));
	tux_pair_put(&ps, p);
	tux_pairs_fini(&ps);
}

/* The window held it back; when that has room again, the pace does. */
static void hold__until_the_pace_lets_go(void **state)
{
	struct tux_pair *p;
	struct tux_list a;

	(void)state;
	start();
	tux_list_init(&a);
	p = tux_pair_get(&ps, here, ip, 7, MSS);
	p->in_flight = p->cc.w.cwnd;
	tux_pair_wait(&ps, p, &a);
	tux_pair_hold(&ps, p);
	assert_true(tux_pairs_deadline(&ps) == TUX_NEVER);
	p->in_flight = 0;
	p->pace.next = 1000;
	assert_null(tux_pair_next(p, 5));
	tux_pair_hold(&ps, p);
	assert_int_equal(tux_pairs_deadline(&ps), 1000);
	assert_ptr_equal(tux_pairs_due(&ps, 1000), &a);
	tux_pair_put(&ps, p);
	tux_pairs_fini(&ps);
}

static void fit__packets_of_the_path(void **state)
{
	struct tux_pair *p;

	(void)state;
	start();
	p = tux_pair_get(&ps, here, ip, 7, 9000);
	p->pmtu.len = 1442;
	tux_pair_fit(p);
	assert_int_equal(p->cc.mss, 1442);
	assert_ptr_equal(tux_pair_get(&ps, here, ip, 7, 9500), p);
	assert_int_equal(p->cc.mss, 1442);
	p->pmtu.len = UINT32_MAX;
	tux_pair_fit(p);
	assert_int_equal(p->cc.mss, 9500);
	tux_pair_put(&ps, p);
	tux_pair_put(&ps, p);
	tux_pairs_fini(&ps);
}

static void timeout__of_one_while_others_are_answered(void **state)
{
	struct tux_pair *p;

	(void)state;
	start();
	p = tux_pair_get(&ps, here, ip, 7, MSS);
	p->cc.w.cwnd = 100 * MSS;
	p->ack_at = 900;
	tux_pair_timeout(p, 1, 500, 600, 1000);
	assert_int_equal(p->cc.w.cwnd, 70 * MSS);
	/* The last acknowledgment came when the wait began, not after that. */
	tux_pair_timeout(p, 1, 900, 600, 1000);
	assert_int_equal(p->cc.w.cwnd, MSS);
	/* No connection is acknowledged anything: the path is at fault. */
	p->cc.w.cwnd = 100 * MSS;
	tux_pair_timeout(p, 1, 1000, 600, 2000);
	assert_int_equal(p->cc.w.cwnd, MSS);
	tux_pair_put(&ps, p);
	tux_pairs_fini(&ps);
}

/* A pair with two users, the first time that it is looked at. */
static struct tux_pair *used(struct tux_list *a, struct tux_list *b)
{
	struct tux_pair *p;

	start();
	tux_list_init(a);
	tux_list_init(b);
	p = tux_pair_get(&ps, here, ip, 7, MSS);
	p->ack_at = 1000;
	tux_pair_use(&ps, p, a, 1000);
	tux_pair_use(&ps, p, b, 1000);
	assert_null(tux_pairs_idle(&ps, 100, 1000));
	assert_int_equal(tux_pairs_deadline(&ps), 1100);
	return p;
}

static void rested__each_in_its_turn(void **state)
{
	struct tux_list a, b;
	struct tux_pair *p;

	(void)state;
	p = used(&a, &b);
	assert_ptr_equal(tux_pairs_idle(&ps, 100, 1100), &a);
	assert_null(tux_pairs_idle(&ps, 100, 1100));
	assert_ptr_equal(tux_pairs_idle(&ps, 100, 1200), &b);
	assert_ptr_equal(tux_pairs_idle(&ps, 100, 1300), &a);
	tux_pair_put(&ps, p);
	assert_true(tux_pairs_deadline(&ps) == TUX_NEVER);
	tux_pairs_fini(&ps);
}

static void rested__not_while_there_is_news(void **state)
{
	struct tux_list a, b;
	struct tux_pair *p;

	(void)state;
	p = used(&a, &b);
	p->ack_at = 1050;
	assert_null(tux_pairs_idle(&ps, 100, 1100));
	assert_int_equal(tux_pairs_deadline(&ps), 1150);
	p->in_flight = 1;
	assert_null(tux_pairs_idle(&ps, 100, 1150));
	assert_int_equal(tux_pairs_deadline(&ps), 1250);
	tux_pair_put(&ps, p);
	tux_pairs_fini(&ps);
}

static void rested__nobody_uses_it(void **state)
{
	struct tux_list a, b;
	struct tux_pair *p;

	(void)state;
	p = used(&a, &b);
	tux_list_remove(&a);
	tux_list_remove(&b);
	assert_null(tux_pairs_idle(&ps, 100, 1100));
	assert_true(tux_pairs_deadline(&ps) == TUX_NEVER);
	tux_pair_use(&ps, p, &a, 5000);
	assert_ptr_equal(tux_pairs_idle(&ps, 100, 5000), &a);
	tux_pair_put(&ps, p);
	tux_pairs_fini(&ps);
}

static void stalled__unless_others_were_answered(void **state)
{
	struct tux_pair *p;

	(void)state;
	start();
	p = tux_pair_get(&ps, here, ip, 7, MSS);
	p->ack_at = 1000;
	tux_pair_stalled(p, 900);
	assert_false(p->down);
	tux_pair_stalled(p, 1000);
	assert_true(p->down);
	tux_pair_acked(p, &(struct tux_cc_ack){ .bytes = 1 }, &p->rtt, 2000);
	assert_false(p->down);
	tux_pair_put(&ps, p);
	tux_pairs_fini(&ps);
}

/* @n packets are acknowledged, one after another, while connections are
 * held back; as many bytes as before stay in flight. */
static void acknowledge(struct tux_pair *p, unsigned n, tux_time *now)
{
	struct tux_rtt rtt = { .srtt = TUX_MSEC(2) };

	while (n--) {
		*now += TUX_USEC(100);
		tux_pair_sent(p);
		tux_pair_acked(p, &(struct tux_cc_ack){
			.bytes = MSS, .sent_at = *now - TUX_MSEC(2),
			.full = tux_pair_in_use(p) }, &rtt, *now);
	}
}

/* If the pace holds connections back, what is in flight limits the window. */
static void acked__no_window_that_nobody_uses(void **state)
{
	tux_time now = TUX_SEC(1);
	struct tux_pair *p;

	(void)state;
	start();
	p = tux_pair_get(&ps, here, ip, 7, MSS);
	p->full = true;
	p->in_flight = 20 * MSS;
	acknowledge(p, 1000, &now);
	assert_in_range(p->cc.w.cwnd, 2 * p->in_flight,
			2 * p->in_flight + MSS);
	tux_pair_put(&ps, p);
	tux_pairs_fini(&ps);
}

/* What was in flight in the last round trip counts, and nothing earlier. */
static void acked__looks_back_one_round_trip(void **state)
{
	tux_time now = TUX_SEC(1);
	struct tux_pair *p;
	uint64_t before;

	(void)state;
	start();
	p = tux_pair_get(&ps, here, ip, 7, MSS);
	p->full = true;
	p->in_flight = p->cc.w.cwnd;
	acknowledge(p, 1, &now);
	p->in_flight = 0;
	before = p->cc.w.cwnd;
	acknowledge(p, 5, &now);
	assert_in_range(p->cc.w.cwnd, before + 5 * MSS, before + 5 * MSS);
	acknowledge(p, 40, &now);
	before = p->cc.w.cwnd;
	acknowledge(p, 40, &now);
	assert_int_equal(p->cc.w.cwnd, before);
	tux_pair_put(&ps, p);
	tux_pairs_fini(&ps);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(get__one_for_the_same_loop),
		cmocka_unit_test(get__no_token_no_company),
		cmocka_unit_test(get__keyed),
		cmocka_unit_test(get__place_in_both_heaps),
		cmocka_unit_test(get__without_memory),
		cmocka_unit_test(next__in_the_order_of_the_line),
		cmocka_unit_test(due__when_the_pace_lets_go),
		cmocka_unit_test(hold__until_the_pace_lets_go),
		cmocka_unit_test(fit__packets_of_the_path),
		cmocka_unit_test(timeout__of_one_while_others_are_answered),
		cmocka_unit_test(rested__each_in_its_turn),
		cmocka_unit_test(rested__not_while_there_is_news),
		cmocka_unit_test(rested__nobody_uses_it),
		cmocka_unit_test(stalled__unless_others_were_answered),
		cmocka_unit_test(acked__no_window_that_nobody_uses),
		cmocka_unit_test(acked__looks_back_one_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
