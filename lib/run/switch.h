/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switch - from one stack to another
 *
 * A context is a stack, and thread-local storage if that can be changed: where
 * the processor lets a program write its FS base, the stack of a parked thread
 * comes with that thread's storage (run/donor.h).  Two implementations of one
 * header: switch_x86_64.S, and switch_ucontext.c for other processors, which
 * leaves thread-local storage alone.
 */
#ifndef TUX_RUN_SWITCH_H
#define TUX_RUN_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef TUX_SWITCH_ASM
#include <ucontext.h>
#endif

#include "run/fiber.h"

struct tux_switch {
#ifdef TUX_SWITCH_ASM
	void *sp;		/* valid while it is left */
	uintptr_t tls;		/* FS base; 0: that of the switching thread */
#else
	ucontext_t uc;
	void (*begin)(struct tux_switch *);
#endif
	void (*fn)(void *);
	void *arg;
	struct tux_switch *from;	/* the last to switch to this one */
	struct tux_fiber fiber;
};

/* Can contexts have thread-local storage of their own? */
bool tux_switch_has_tls(void);

/* This thread's own, for a context; 0 if they have none. */
uintptr_t tux_switch_tls(void);

/* 0; -EOPNOTSUPP: the processor checks returns by a stack of its own (CET),
 * which is not switched. */
int tux_switch_check(void);

/* How the caller rounds, traps and flushes; 0 where it cannot be told. A
 * context begins, as a thread does, with the modes of its creator. */
uint64_t tux_switch_modes(void);
void tux_switch_set_modes(uint64_t modes);

/* The context of the caller, to be left by tux_switch(). */
void tux_switch_here(struct tux_switch *x);

/* A context that runs @fn(@arg) on the stack [@low, @top), with the storage
 * @tls; @fn never returns. */
void tux_switch_make(struct tux_switch *x, void *low, void *top, uintptr_t tls,
		     void (*fn)(void *), void *arg);

/* Stays on this stack, with the storage of @x, where contexts have it. */
static inline void tux_switch_take_tls(const struct tux_switch *x)
{
#ifdef TUX_SWITCH_ASM
	__asm__ volatile("wrfsbase %0" : : "r"(x->tls) : "memory");
#else
	(void)x;
#endif
}

/* It will never be switched to again. */
void tux_switch_fini(struct tux_switch *x);

/* Leaves @from, which is the caller's, for @to; returns when somebody switches
 * to @from. */
void tux_switch(struct tux_switch *from, struct tux_switch *to);

#endif
