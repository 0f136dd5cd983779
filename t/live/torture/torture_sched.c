/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler's own promises: regions without interruption, one task at a
 * time in a strand, sleeping, and a loop without any call.
 */
#include "torture.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "run/sched.h"
#include "sys/clock.h"

/* ---- uninterruptible regions ------------------------------------------------ */

static volatile uint64_t one, other;	/* of all routines, without a lock */

static void region_step(struct hand *h)
{
	tux_sched_enter();
	must(one == other);
	one++;
	torture_linger(h, 1000);
	tux_sched_enter();
	torture_linger(h, 500);
	tux_sched_leave();
	torture_linger(h, 500);
	must(one == other + 1);
	other++;
	tux_sched_leave();
	torture_linger(h, 2000);
}

static void region_close(void)
{
	must(one == other);
}

const struct work work_region = {
	.name = "region", .hands = 3, .step = region_step, .close = region_close,
};

/* ---- a strand of several ----------------------------------------------------- */

static struct hand *volatile inside;

static void serial_step(struct hand *h)
{
	must(!inside || inside == h);
	inside = h;
	torture_linger(h, 3000);
	must(inside == h);
	if (hand_below(h, 64) == 0)
		tux_sched_yield();
	must(inside == h);
}

/* The strand goes to another. */
static void serial_pause(struct hand *h)
{
	must(inside == h);
	inside = NULL;
}

const struct work work_serial = {
	.name = "serial", .hands = 3, .serial = true,
	.step = serial_step, .pause = serial_pause,
};

/* ---- sleeping ------------------------------------------------------------------ */

static void sleep_step(struct hand *h)
{
	long us = (long)hand_below(h, 300);
	struct timespec t = { .tv_nsec = us * 1000 }, left = { 0 };
	tux_time from = tux_clock_read();

	switch (hand_below(h, 64)) {
	case 0:
		must(!nanosleep(&t, &left));
		break;
	case 1:
		must(!usleep((useconds_t)us));
		break;
	case 2:
		must(!clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL));
		break;
	case 3:
		tux_sched_sleep((uint64_t)us * 1000);
		break;
	default:
		torture_spin(h, 10000);
		return;
	}
	must(tux_clock_read() - from >= (tux_time)us * 1000);
}

const struct work work_sleep = {
	.name = "sleep", .hands = 3, .step = sleep_step,
};

/* ---- a loop that calls nothing --------------------------------------------------- */

static void loop_step(struct hand *h)
{
	torture_spin(h, 1000000);
}

const struct work work_loop = {
	.name = "loop", .hands = 2, .step = loop_step,
};
