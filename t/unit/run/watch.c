/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/watch.h"

#include "jobs.h"
#include "run/tick_signal.h"
#include "sys/sys.h"

enum {
	SLICE_MS = 4,			/* and so a tick each millisecond, */
	AWAY_MS = 3,			/* which cannot come for that long */
	AWAY_MOST_MS = 8,		/* the watcher believes it lost later */
	GAP_US = 1500,
	TRIES = 20,
};

static tux_time gap;

static void deliver(bool on)
{
	uint64_t set = UINT64_C(1) << (tux_tick_signal() - 1);

	TUX_SYS(SYS_rt_sigprocmask, on ? SIG_UNBLOCK : SIG_BLOCK, (long)&set, 0,
		sizeof(set), 0, 0);
}

static uint64_t skipped(void)
{
	return tux_sched_stats(jobs_sched)->skipped;
}

/* The next tick that is of no use, after @n. */
static tux_time next_after(uint64_t n)
{
	tux_time until = tux_clock_read() + TUX_SEC(5), now;

	do
		now = tux_clock_read();
	while (skipped() == n && now < until);
	return now;
}

/* A tick comes late, as on a machine where it takes long: when does the next? */
static bool find_gap(void)
{
	uint64_t before = skipped();
	tux_time from, away;

	next_after(before);
	from = tux_clock_read();
	deliver(false);
	jobs_spin(TUX_MSEC(AWAY_MS));
	before = skipped();
	away = tux_clock_read();
	deliver(true);
	assert_true(skipped() > before);
	gap = next_after(before + 1) - away;
	return away - from < TUX_MSEC(AWAY_MOST_MS);
}

static void be_late(struct job *j)
{
	unsigned i = 0;

	(void)j;
	tux_sched_enter();
	while (i < TRIES && !find_gap())
		i++;
	tux_sched_leave();
	assert_true(i < TRIES);
}

static void look__a_late_tick_is_followed_by_a_pause(void **state)
{
	(void)state;
	if (!jobs_open_with(TUX_MSEC(SLICE_MS)))
		skip();
	jobs_add(be_late);
	jobs_run(NULL);
	assert_true(gap >= TUX_USEC(GAP_US));
	jobs_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look__a_late_tick_is_followed_by_a_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
