/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Series of looks at threads that ran a loop over UDP on two processors, or
 * carried bytes over TCP, with n clients of one Redis, a connection and a process
 * each: what a look over 100 ms found.
 */
#include "policy/cpu_busy.h"

#include "../test.h"

static const struct tux_cpu_busy_seen
	alone = {		/* n = 1: it spins */
		.ran = TUX_USEC(89500), .waited = TUX_USEC(1200),
		.sleeps = 504, .packets = 10146,
	},
	two = {			/* n = 2: the other one's as well */
		.ran = TUX_USEC(67000), .waited = TUX_USEC(1900),
		.sleeps = 3535, .packets = 5125,
	},
	four = {		/* n = 4 */
		.ran = TUX_USEC(32500), .waited = TUX_USEC(33200),
		.sleeps = 1958, .packets = 2473,
	},
	fifty = {		/* n = 50 */
		.ran = TUX_USEC(3200), .waited = TUX_USEC(21200),
		.sleeps = 203, .packets = 161,
	},
	server = {		/* of fifty: several packets at a time */
		.conns = 50,
		.ran = TUX_USEC(55700), .waited = TUX_USEC(64200),
		.sleeps = 2207, .packets = 8032,
	},
	slow = {		/* 100 requests a second beside other work */
		.ran = TUX_USEC(200), .waited = TUX_USEC(2000),
		.sleeps = 10, .packets = 10,
	},
	rare = {		/* ten requests a second */
		.ran = TUX_USEC(20), .waited = TUX_USEC(200),
		.sleeps = 1, .packets = 1,
	};

struct series {
	struct tux_cpu_busy b;
	struct tux_cpu_busy_seen seen;
	tux_time now;
};

static struct series series_of(void)
{
	struct series s = { .now = TUX_SEC(1000), .seen.thread = 1 };

	tux_cpu_busy_init(&s.b);
	assert_int_equal(tux_cpu_busy_look(&s.b, &s.seen, s.now),
			 TUX_CPU_BUSY_STAY);
	return s;
}

/* 100 ms more of @d. */
static enum tux_cpu_busy_do more(struct series *s,
				 const struct tux_cpu_busy_seen *d)
{
	s->now += TUX_MSEC(TUX_CPU_BUSY_LOOK_MS);
	s->seen.ran += d->ran;
	s->seen.waited += d->waited;
	s->seen.sleeps += d->sleeps;
	s->seen.packets += d->packets;
	s->seen.conns = d->conns;
	return tux_cpu_busy_look(&s->b, &s->seen, s->now);
}

/* After how many looks, of 1000 at most, are the connections left to TCP? */
static unsigned leaves_after(struct series *s,
			     const struct tux_cpu_busy_seen *d)
{
	for (unsigned i = 1; i <= 1000; i++)
		if (more(s, d) == TUX_CPU_BUSY_LEAVE)
			return i;
	return 0;
}

static void look__stays_where_tux_gains(void **state)
{
	const struct tux_cpu_busy_seen *gains[] = { &alone, &two, &server,
						    &slow };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct series s = series_of();

		assert_int_equal(leaves_after(&s, gains[i]), 0);
	}
}

/* With one connection, the same thread is better off with TCP. */
static void look__leaves_with_a_lone_connection(void **state)
{
	struct series s = series_of();
	struct tux_cpu_busy_seen lone = server;

	(void)state;
	lone.conns = 1;
	assert_int_equal(leaves_after(&s, &lone), TUX_CPU_BUSY_ROW);
}

static void look__leaves_where_tcp_is_cheaper(void **state)
{
	const struct tux_cpu_busy_seen *costs[] = { &four, &fifty };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct series s = series_of();

		assert_int_equal(leaves_after(&s, costs[i]), TUX_CPU_BUSY_ROW);
		assert_true(s.b.away);
	}
}

/* A burst of other work on the processors is over soon. */
static void look__a_burst_is_not_enough(void **state)
{
	struct series s = series_of();

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(more(&s, &fifty), TUX_CPU_BUSY_STAY);
		assert_int_equal(more(&s, &fifty), TUX_CPU_BUSY_STAY);
		assert_int_equal(more(&s, &two), TUX_CPU_BUSY_STAY);
	}
}

/* A look goes on until it has seen something, and is given up at last. */
static void look__few_packets_say_little(void **state)
{
	struct series s = series_of();

	(void)state;
	assert_int_equal(leaves_after(&s, &rare), 0);
	assert_int_equal(s.b.row, 0);
	s = series_of();
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(more(&s, &rare), TUX_CPU_BUSY_STAY);
	assert_int_equal(leaves_after(&s, &fifty), TUX_CPU_BUSY_ROW);
}

/* The counters of two threads have nothing to do with each other. */
static void look__of_one_thread(void **state)
{
	struct series s = series_of();

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		s.seen.thread++;
		s.seen.ran = i % 2 ? 0 : TUX_SEC(1000);
		assert_int_equal(more(&s, &fifty), TUX_CPU_BUSY_STAY);
	}
	assert_int_equal(leaves_after(&s, &fifty), TUX_CPU_BUSY_ROW);
}

static void hold__doubles(void **state)
{
	struct series s = series_of();
	tux_time hold, last = 0;

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(leaves_after(&s, &fifty), TUX_CPU_BUSY_ROW +
				 (i > 0));
		hold = s.b.next - s.now;
		assert_true(hold >= TUX_SEC(TUX_CPU_BUSY_MIN_S));
		assert_true(hold == 2 * last || !last ||
			    hold == TUX_SEC(TUX_CPU_BUSY_MAX_S));
		last = hold;
		s.now = s.b.next - 1;
		assert_int_equal(tux_cpu_busy_look(&s.b, &s.seen, s.now),
				 TUX_CPU_BUSY_STAY);
		s.now++;
		assert_int_equal(tux_cpu_busy_look(&s.b, &s.seen, s.now),
				 TUX_CPU_BUSY_RETURN);
		assert_false(s.b.away);
	}
	assert_int_equal(last, TUX_SEC(TUX_CPU_BUSY_MAX_S));
}

/* ---- before connections move ---- */

static const struct tux_cpu_busy_seen
	fifty_tcp = {		/* n = 50, over TCP */
		.ran = TUX_USEC(2600), .waited = TUX_USEC(14000),
		.sleeps = 128, .packets = 128,
	},
	near = {		/* ... by chance, now and then */
		.ran = TUX_USEC(6200), .waited = TUX_USEC(5200),
		.sleeps = 384, .packets = 384,
	},
	idle = {		/* the others have gone */
		.ran = TUX_USEC(20000), .waited = TUX_USEC(2000),
		.sleeps = 1500, .packets = 1500,
	};

struct start {
	struct tux_cpu_busy_start b;
	struct tux_cpu_busy_seen seen;
	tux_time now;
};

static bool start_more(struct start *s, const struct tux_cpu_busy_seen *d,
		       tux_time ms)
{
	s->now += TUX_MSEC(ms);
	s->seen.ran += d->ran;
	s->seen.waited += d->waited;
	s->seen.sleeps += d->sleeps;
	s->seen.packets += d->packets;
	s->seen.conns = d->conns;
	assert_true(tux_cpu_busy_start_due(&s->b, s->now));
	return tux_cpu_busy_start_look(&s->b, &s->seen, s->now);
}

static bool starts_busy(const struct tux_cpu_busy_seen *d)
{
	struct start s = { .now = TUX_SEC(1000) };

	return start_more(&s, d, 0);
}

static void start_look__knows_at_once(void **state)
{
	(void)state;
	assert_true(starts_busy(&fifty_tcp));
	assert_true(starts_busy(&four));
	assert_false(starts_busy(&alone));
	assert_false(starts_busy(&two));
	assert_false(starts_busy(&near));
	assert_false(starts_busy(&server));
}

/* A program has just been started, beside others: how its packets come is not
 * known yet. */
static void start_look__few_packets_say_little(void **state)
{
	static const struct tux_cpu_busy_seen young = {
		.ran = TUX_USEC(4800), .waited = TUX_USEC(14600),
		.sleeps = 1, .packets = 10,
	};

	(void)state;
	assert_true(starts_busy(&young));
}

static void start_look__busy_until_it_hardly_waits(void **state)
{
	struct start s = { .now = TUX_SEC(1000) };

	(void)state;
	assert_true(start_more(&s, &fifty_tcp, 0));
	for (unsigned i = 0; i < 10; i++)
		assert_true(start_more(&s, &near, TUX_CPU_BUSY_LOOK_MS));
	assert_false(start_more(&s, &idle, TUX_CPU_BUSY_LOOK_MS));
	assert_false(start_more(&s, &near, TUX_CPU_BUSY_LOOK_MS));
}

static void start_look__ends_with_several_packets_at_once(void **state)
{
	struct start s = { .now = TUX_SEC(1000) };

	(void)state;
	assert_true(start_more(&s, &fifty_tcp, 0));
	assert_false(start_more(&s, &server, TUX_CPU_BUSY_LOOK_MS));
}

/* Its next request has come while the thread waited, which does not sleep then. */
static void start_look__a_lone_connection_has_single_packets(void **state)
{
	struct tux_cpu_busy_seen few = server;

	(void)state;
	few.conns = TUX_CPU_BUSY_FEW - 1;
	assert_true(starts_busy(&few));
	few.conns = TUX_CPU_BUSY_FEW;
	assert_false(starts_busy(&few));
}

/* A thread that hardly runs costs the others nothing. */
static void start_look__ends_with_rest(void **state)
{
	struct start s = { .now = TUX_SEC(1000) };

	(void)state;
	assert_true(start_more(&s, &fifty_tcp, 0));
	assert_false(start_more(&s, &rare, 1000));
}

static void start_due__ten_times_a_second(void **state)
{
	struct start s = { .now = TUX_SEC(1000) };

	(void)state;
	start_more(&s, &idle, 0);
	assert_false(tux_cpu_busy_start_due(&s.b, s.now + TUX_MSEC(99)));
	assert_true(tux_cpu_busy_start_due(&s.b, s.now + TUX_MSEC(100)));
}

/* The kernel counts the child's times from 0; its packets are counted on. */
static void start_look__in_a_child(void **state)
{
	struct start s = { .now = TUX_SEC(1000) };

	(void)state;
	for (unsigned i = 0; i < 50; i++)
		assert_false(start_more(&s, &idle, TUX_CPU_BUSY_LOOK_MS));
	s.seen.ran = s.seen.waited = s.seen.sleeps = 0;
	assert_true(start_more(&s, &fifty_tcp, TUX_CPU_BUSY_LOOK_MS));
	assert_true(start_more(&s, &fifty_tcp, TUX_CPU_BUSY_LOOK_MS));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(look__stays_where_tux_gains),
		cmocka_unit_test(look__leaves_with_a_lone_connection),
		cmocka_unit_test(look__leaves_where_tcp_is_cheaper),
		cmocka_unit_test(look__a_burst_is_not_enough),
		cmocka_unit_test(look__few_packets_say_little),
		cmocka_unit_test(look__of_one_thread),
		cmocka_unit_test(hold__doubles),
		cmocka_unit_test(start_look__knows_at_once),
		cmocka_unit_test(start_look__few_packets_say_little),
		cmocka_unit_test(start_look__busy_until_it_hardly_waits),
		cmocka_unit_test(start_look__ends_with_several_packets_at_once),
		cmocka_unit_test(start_look__a_lone_connection_has_single_packets),
		cmocka_unit_test(start_look__ends_with_rest),
		cmocka_unit_test(start_due__ten_times_a_second),
		cmocka_unit_test(start_look__in_a_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
