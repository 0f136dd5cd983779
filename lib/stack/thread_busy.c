/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/thread_busy.h"

#include "policy/cpu_busy.h"
#include "stack/loops.h"
#include "stack/stack_in.h"
#include "sys/clock.h"
#include "sys/thread_times.h"

static __thread struct tux_cpu_busy_start thread_start;

bool tux_thread_busy(const struct tux_stack *s, struct tux_recent *r)
{
	tux_time now = tux_clock_read();
	struct tux_thread_times t = { 0 };
	struct tux_cpu_busy_seen seen;

	if (tux_loops_n(s) && s->driver[0].loop->link->bypass)
		return false;
	if (!tux_cpu_busy_start_due(&thread_start, now))
		return thread_start.busy;
	if (!tux_thread_times(&t)) {
		thread_start = (struct tux_cpu_busy_start){ .at = now };
		return false;
	}
	seen = (struct tux_cpu_busy_seen){
		.ran = t.ran, .waited = t.waited, .sleeps = t.sleeps,
		.packets = r->calls, .conns = tux_recent_count(r, now),
	};
	return tux_cpu_busy_start_look(&thread_start, &seen, now);
}
