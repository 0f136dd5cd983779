/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/mask.h"

#include "run/sched_in.h"
#include "sys/sys.h"

static _Atomic uint32_t changes = 1;

/* The kernel's own, of 64 signals. */
static uint64_t set_mask(int how, const uint64_t *to)
{
	uint64_t before = 0;

	TUX_SYS(SYS_rt_sigprocmask, how, (long)to, (long)&before,
		sizeof(before), 0, 0);
	return before;
}

void tux_mask_look(struct tux_sched *s)
{
	uint32_t now = atomic_load_explicit(&changes, memory_order_relaxed);

	if (s->mask_changes == now)
		return;
	s->mask_changes = now;
	s->mask = set_mask(SIG_BLOCK, NULL);
}

void tux_mask_changed(void)
{
	atomic_fetch_add(&changes, 1);
}

void tux_mask_own(struct tux_routine *r)
{
	r->mask = set_mask(SIG_BLOCK, NULL);
	r->masked = r->mask != r->sched->mask;
}

/* What was seen last may not be so any more: siglongjmp() changes it, too. */
void tux_mask_aside(struct tux_routine *r)
{
	r->mask = set_mask(SIG_SETMASK, &r->sched->mask);
	r->masked = r->mask != r->sched->mask;
}

void tux_mask_back(struct tux_routine *r)
{
	set_mask(SIG_SETMASK, &r->mask);
}

uint64_t tux_mask_put(uint64_t mask)
{
	return set_mask(SIG_SETMASK, &mask);
}
