/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switch - from one stack to another
 */
#include "run/switch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "run/switch_in.h"

/* Where a context begins, on its own stack. */
static void switch_begin(struct tux_switch *x)
{
	tux_fiber_arrive(&x->fiber, &x->from->fiber);
	x->fn(x->arg);
	abort();
}

#ifdef TUX_SWITCH_ASM

enum {
	HAS_FSGSBASE = 1 << 1,		/* of AT_HWCAP2, on x86 */
	MXCSR_FLAGS = 0x3f,
};

/* A sanitizer knows a thread by its storage, which must not change for it.  And
 * without the hooks (run/hook.h), setuid() in a routine would wait for ever if the
 * routine had storage of its own. */
bool tux_switch_has_tls(void)
{
#ifdef TUX_PREEMPTION
	return !TUX_FIBERS && getauxval(AT_HWCAP2) & HAS_FSGSBASE;
#else
	return false;
#endif
}

uintptr_t tux_switch_tls(void)
{
	uintptr_t p;

	if (!tux_switch_has_tls())
		return 0;
	__asm__("rdfsbase %0" : "=r"(p));
	return p;
}

/* Does nothing where there is no shadow stack. */
int tux_switch_check(void)
{
	uintptr_t ssp = 0;

	__asm__ volatile("rdsspq %0" : "+r"(ssp));
	return ssp ? -EOPNOTSUPP : 0;
}

/* Without the flags of what has happened. */
uint64_t tux_switch_modes(void)
{
	uint32_t mxcsr;
	uint16_t x87cw;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(x87cw));
	return (uint64_t)x87cw << 32 | (mxcsr & ~(uint32_t)MXCSR_FLAGS);
}

void tux_switch_set_modes(uint64_t modes)
{
	uint32_t mxcsr = (uint32_t)modes;
	uint16_t x87cw = (uint16_t)(modes >> 32);

	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
	__asm__ volatile("fldcw %0" : : "m"(x87cw));
}

static void switch_make(struct tux_switch *x, char *top)
{
	uint64_t *sp = (uint64_t *)(void *)(top - ((uintptr_t)top & 63));

	*--sp = 0;				/* nobody to return to */
	*--sp = 0;
	*--sp = (uintptr_t)tux_switch_entry;
	*--sp = 0;				/* rbp */
	*--sp = (uintptr_t)switch_begin;		/* rbx */
	*--sp = (uintptr_t)x;			/* r12 */
	*--sp = 0;				/* r13, r14, r15 */
	*--sp = 0;
	*--sp = 0;
	*--sp = tux_switch_modes();
	x->sp = sp;
}

static void jump(struct tux_switch *from, struct tux_switch *to)
{
	tux_switch_jump(&from->sp, to->sp, to->tls);
}

#else

bool tux_switch_has_tls(void)
{
	return false;
}

uintptr_t tux_switch_tls(void)
{
	return 0;
}

int tux_switch_check(void)
{
	return 0;
}

uint64_t tux_switch_modes(void)
{
	return 0;
}

void tux_switch_set_modes(uint64_t modes)
{
	(void)modes;
}

static void jump(struct tux_switch *from, struct tux_switch *to)
{
	tux_switch_uc_jump(from, to);
}

#endif

void tux_switch_here(struct tux_switch *x)
{
	*x = (struct tux_switch){ .fn = NULL };
#ifdef TUX_SWITCH_ASM
	x->tls = tux_switch_tls();
#endif
}

void tux_switch_make(struct tux_switch *x, void *low, void *top, uintptr_t tls,
		     void (*fn)(void *), void *arg)
{
	*x = (struct tux_switch){ .fn = fn, .arg = arg };
	tux_fiber_make(&x->fiber, low, (size_t)((char *)top - (char *)low));
#ifdef TUX_SWITCH_ASM
	x->tls = tls;
	switch_make(x, top);
#else
	(void)tls;
	tux_switch_uc_make(x, low, top, switch_begin);
#endif
}

void tux_switch_fini(struct tux_switch *x)
{
	tux_fiber_fini(&x->fiber);
}

void tux_switch(struct tux_switch *from, struct tux_switch *to)
{
	to->from = from;
	tux_fiber_leave(&from->fiber, &to->fiber);
	jump(from, to);
	tux_fiber_arrive(&from->fiber, &from->from->fiber);
}
