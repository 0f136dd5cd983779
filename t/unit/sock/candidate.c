/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a candidate that stays on TCP costs: how often it is asked about, and
 * how often the kernel is.  And whether the kernel's counts agree with its own.
 */
#include "sock/candidate.h"

#include <errno.h>

#include "stack/loops.h"
#include "stack/thread_busy.h"
#include "sys/carried.h"
#include "../test.h"

enum { SEGMENT = 1448, TURNS = 1000, LOOP = 3, MORE = 64 };

struct conf conf = { .path = TUX_PATH_MODE_AUTO };

static unsigned asked;		/* for the segment */

void tux_end_segment(struct tux_candidate *y, enum tux_io io, int fd)
{
	(void)io, (void)fd;
	asked++;
	y->packet = SEGMENT;
}

static bool away, thread_busy;
static uint64_t thread_calls;

bool tux_loops_away(const struct tux_stack *s, unsigned loop, tux_time now)
{
	assert_non_null(s);
	assert_true(now > 0);
	return away && loop == LOOP;
}

bool tux_thread_busy(const struct tux_stack *s, struct tux_recent *r)
{
	assert_non_null(s);
	thread_calls = r->calls;
	return thread_busy;
}

/* ---- the kernel's counts ---- */

static struct tux_carried carried;
static int carried_err;

int tux_carried_look(int fd, bool active, struct tux_carried *c)
{
	(void)fd, (void)active;
	*c = carried;
	return carried_err;
}

static bool carried_open = true;

bool tux_carried_open(int fd)
{
	(void)fd;
	return carried_open;
}

/* ---- a candidate ---- */

/* A request of @n bytes and its answer; then the candidate's next call. */
static bool turn(struct sock *s, size_t n)
{
	struct tux_view v;

	candidate_moved(s, true, n);
	candidate_moved(s, false, n);
	if (!candidate_asks(s))
		return false;
	v = candidate_view(s, 3, false);
	return candidate_due(s, &v);
}

/* Bulk is asked about at one turn-around of eight. */
static void due__seldom(void **state)
{
	struct sock s = { .active = true };

	(void)state;
	asked = 0;
	for (int i = 0; i < TURNS; i++)
		assert_false(turn(&s, 16384));
	assert_in_range(asked, TURNS / 10, TURNS / 7);
}

static void asks__again_when_bulk_becomes_brief(void **state)
{
	struct sock s = { .active = true };
	int i;

	(void)state;
	for (i = 0; i < TURNS; i++)
		assert_false(turn(&s, 16384));
	for (i = 0; i < TURNS && !turn(&s, 100); i++)
		;
	assert_in_range(i, 1, 64);
}

static void asks__always_on_a_chosen_path(void **state)
{
	struct sock s = { .active = true };

	(void)state;
	assert_false(candidate_asks(&s));
	conf.path = TUX_PATH_MODE_TUX;
	assert_true(candidate_asks(&s));
	conf.path = TUX_PATH_MODE_AUTO;
}

static void cpu_busy__of_the_calling_thread(void **state)
{
	const struct tux_stack *stack = (void *)&stack;
	struct sock s = { .active = true };

	(void)state;
	candidate_recent = (struct tux_recent){ .calls = 0 };
	turn(&s, 100);
	thread_busy = true;
	assert_true(candidate_cpu_busy(stack));
	assert_int_equal(thread_calls, 1);
	assert_false(candidate_cpu_busy(NULL));
	thread_busy = false;
	assert_false(candidate_cpu_busy(stack));
}

static void away__of_the_loop(void **state)
{
	const struct tux_stack *stack = (void *)&stack;

	(void)state;
	away = true;
	assert_true(candidate_loop_away(stack, LOOP));
	assert_false(candidate_loop_away(stack, LOOP - 1));
	away = false;
}

static void wait__says_why_last(void **state)
{
	const struct tux_decision busy = {
		.verdict = TUX_DECIDE_WAIT, .turns = 64,
		.why = TUX_REASON_CPU_BUSY,
	}, again = {
		.verdict = TUX_DECIDE_WAIT, .turns = 8,
		.why = TUX_REASON_IN_USE,
	};
	struct sock s = { .active = true };
	unsigned n = 0;

	(void)state;
	while (!turn(&s, 100))
		;
	candidate_wait(&s, &busy);
	assert_int_equal(candidate_news(&s), TUX_REASON_CPU_BUSY);
	while (!turn(&s, 100))
		n++;
	assert_int_equal(n, 63);
	candidate_wait(&s, &again);
	assert_int_equal(candidate_news(&s), TUX_REASON_IN_USE);
}

/* It was claimed in vain, and that was said.  Until something else keeps it on
 * TCP, there is no news; then there is. */
static void news__after_a_claim_in_vain(void **state)
{
	struct sock s = {
		.active = true, .pause_until = TUX_NEVER,
		.decided = TUX_REASON_PEER_SILENT,
		.why = TUX_REASON_PEER_SILENT,
	};

	(void)state;
	assert_int_equal(candidate_news(&s), TUX_REASON_NONE);
	for (int i = 0; i < TURNS; i++)
		assert_false(turn(&s, 100));
	assert_int_equal(candidate_news(&s), TUX_REASON_NONE);
	for (int i = 0; i < 2 * MORE; i++)
		assert_false(turn(&s, 16384));
	assert_int_equal(candidate_news(&s), TUX_REASON_BULK);
}

/* Two connections may share a bit; ten have several. */
static void recent__tells_connections_apart(void **state)
{
	static struct sock s[10];

	(void)state;
	candidate_recent = (struct tux_recent){ .calls = 0 };
	for (unsigned i = 0; i < 10; i++)
		turn(&s[0], 100);
	assert_int_equal(tux_recent_count(&candidate_recent, TUX_SEC(1)), 1);
	for (unsigned i = 0; i < 10; i++)
		turn(&s[i], 100);
	assert_in_range(tux_recent_count(&candidate_recent, TUX_SEC(1)), 4, 10);
}

static void compare__with_what_the_kernel_has(void **state)
{
	struct sock s = { .active = true };

	(void)state;
	candidate_moved(&s, true, 100);
	candidate_moved(&s, false, 30);
	carried = (struct tux_carried){ .sent = 100, .received = 30 };
	assert_int_equal(candidate_compare(&s, 3), TUX_CANDIDATE_AGREE);
	carried.sent = 99;
	assert_int_equal(candidate_compare(&s, 3), TUX_CANDIDATE_UNSURE);
}

/* The kernel's answers were never of one moment, or it has none. */
static void compare__without_an_answer(void **state)
{
	struct sock s = { .active = true };

	(void)state;
	carried = (struct tux_carried){ .sent = 0 };
	carried_err = -EAGAIN;
	for (int i = 0; i < 100; i++)
		assert_int_equal(candidate_compare(&s, 3),
				 TUX_CANDIDATE_UNSURE);
	assert_false(candidate_begin(&s, 3));
	carried_err = -EOPNOTSUPP;
	assert_int_equal(candidate_compare(&s, 3), TUX_CANDIDATE_MISSED);
	assert_false(candidate_begin(&s, 3));
	carried_err = 0;
	assert_int_equal(candidate_compare(&s, 3), TUX_CANDIDATE_AGREE);
}

/* What another process has carried. */
static void begin__with_what_the_kernel_has(void **state)
{
	struct sock s = { .active = false };

	(void)state;
	carried = (struct tux_carried){ .sent = 100, .received = 30 };
	assert_true(candidate_begin(&s, 3));
	assert_int_equal(candidate_compare(&s, 3), TUX_CANDIDATE_AGREE);
	candidate_moved(&s, false, 5);
	carried.received = 35;
	assert_int_equal(candidate_compare(&s, 3), TUX_CANDIDATE_AGREE);
}

/* It had the connection, too, and may have moved bytes. */
static void compare__adopts_what_others_have_moved(void **state)
{
	struct sock s = { .active = false, .shared = true };

	(void)state;
	carried = (struct tux_carried){ .sent = 100, .received = 30 };
	carried_open = false;		/* one of them may be a FIN */
	for (int i = 0; i < 2; i++)
		assert_int_equal(candidate_compare(&s, 3),
				 TUX_CANDIDATE_UNSURE);
	assert_int_equal(candidate_compare(&s, 3), TUX_CANDIDATE_MISSED);
	carried_open = true;
	assert_int_equal(candidate_compare(&s, 3), TUX_CANDIDATE_AGREE);
	assert_int_equal(tux_burst_total(&s.candidate.sent), 100);
	assert_int_equal(tux_burst_total(&s.candidate.received), 30);
	assert_false(s.shared);
	carried.sent++;			/* it is over: this is another's */
	for (int i = 0; i < 2; i++)
		candidate_compare(&s, 3);
	assert_int_equal(candidate_compare(&s, 3), TUX_CANDIDATE_MISSED);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(due__seldom),
		cmocka_unit_test(asks__again_when_bulk_becomes_brief),
		cmocka_unit_test(asks__always_on_a_chosen_path),
		cmocka_unit_test(cpu_busy__of_the_calling_thread),
		cmocka_unit_test(away__of_the_loop),
		cmocka_unit_test(wait__says_why_last),
		cmocka_unit_test(news__after_a_claim_in_vain),
		cmocka_unit_test(recent__tells_connections_apart),
		cmocka_unit_test(compare__with_what_the_kernel_has),
		cmocka_unit_test(compare__without_an_answer),
		cmocka_unit_test(begin__with_what_the_kernel_has),
		cmocka_unit_test(compare__adopts_what_others_have_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
