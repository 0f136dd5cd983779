/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../../bench/gaps.h"

#include <signal.h>
#include <sys/time.h>

#include "../test.h"
#include "sys/clock.h"

enum { LOOK_MS = 50, TAKEN_MS = 5, AT_MS = 20 };

/* Takes the processor for a while. */
static void on_alarm(int sig)
{
	tux_time until = tux_clock_read() + TUX_MSEC(TAKEN_MS);

	(void)sig;
	while (tux_clock_read() < until)
		;
}

static void look__sees_what_was_taken(void **state)
{
	struct itimerval in = { { 0, AT_MS * 1000 }, { 0, AT_MS * 1000 } };
	struct gaps g = { 0 };

	(void)state;
	signal(SIGALRM, on_alarm);
	assert_int_equal(setitimer(ITIMER_REAL, &in, NULL), 0);
	gaps_look(&g, TUX_MSEC(LOOK_MS));
	memset(&in, 0, sizeof(in));
	assert_int_equal(setitimer(ITIMER_REAL, &in, NULL), 0);
	assert_true(g.all >= TUX_MSEC(LOOK_MS));
	assert_true(g.in[2] >= TUX_MSEC(TAKEN_MS));
	assert_true(g.in[1] >= g.in[2] && g.in[0] >= g.in[1]);
	assert_true(g.in[0] <= g.all);
}

static void look__adds_up(void **state)
{
	struct gaps g = { 0 };

	(void)state;
	gaps_look(&g, TUX_MSEC(1));
	gaps_look(&g, TUX_MSEC(2));
	assert_true(g.all >= TUX_MSEC(3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look__sees_what_was_taken),
		cmocka_unit_test(look__adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
