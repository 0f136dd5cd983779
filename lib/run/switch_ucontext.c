/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The switch by ucontext: slower, for it also asks the kernel for the signal
 * mask, but on any processor.
 */
#include "run/switch.h"

#include <stdlib.h>

#include "run/switch_in.h"

/* Arguments of a context are ints. */
static void enter(unsigned high, unsigned low)
{
	uintptr_t p = (uintptr_t)((uint64_t)high << 32 | low);
	struct tux_switch *x = (struct tux_switch *)p;

	x->begin(x);
}

void tux_switch_uc_make(struct tux_switch *x, void *low, void *top,
			void (*begin)(struct tux_switch *))
{
	uint64_t p = (uintptr_t)x;

	x->begin = begin;
	if (getcontext(&x->uc))
		abort();
	x->uc.uc_stack.ss_sp = low;
	x->uc.uc_stack.ss_size = (size_t)((char *)top - (char *)low);
	x->uc.uc_link = NULL;
	makecontext(&x->uc, (void (*)(void))enter, 2, (unsigned)(p >> 32),
		    (unsigned)p);
}

void tux_switch_uc_jump(struct tux_switch *from, struct tux_switch *to)
{
	swapcontext(&from->uc, &to->uc);
}
