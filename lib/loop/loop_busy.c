/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/loop_busy.h"

#include "sys/defer.h"
#include "sys/thread_times.h"

enum { AGAIN_S = 10 };		/* where the kernel does not tell */

bool tux_loop_look_busy(struct tux_loop *l)
{
	struct tux_thread_times t = { 0 };
	bool told = tux_thread_times(&t), changed;
	struct tux_cpu_busy_seen s = {
		.thread = (uintptr_t)&tux_defer,
		.ran = t.ran,
		.waited = t.waited,
		.sleeps = l->sleeps,
		.packets = l->packets,
		.conns = atomic_load(&l->end_n),
	};

	if (!told && !l->busy.away) {
		l->busy.next = l->now + TUX_SEC(AGAIN_S);
		return false;
	}
	changed = tux_cpu_busy_look(&l->busy, &s, l->now) != TUX_CPU_BUSY_STAY;
	if (changed)
		atomic_store(&l->away_until, l->busy.away ? l->busy.next : 0);
	return changed;
}
