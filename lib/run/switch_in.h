/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switch_in - what switch.c wants of an implementation
 */
#ifndef TUX_RUN_SWITCH_IN_H
#define TUX_RUN_SWITCH_IN_H

#include <stdint.h>

#ifdef TUX_SWITCH_ASM

/* Saves what a function must keep, and the stack pointer in *@sp; takes over
 * the stack @to and, unless it is 0, the FS base @tls. */
void tux_switch_jump(void **sp, void *to, uintptr_t tls)
	__attribute__((visibility("hidden")));

/* Where a new context begins: calls rbx with r12. */
void tux_switch_entry(void) __attribute__((visibility("hidden")));

#else

struct tux_switch;

void tux_switch_uc_make(struct tux_switch *x, void *low, void *top,
			void (*begin)(struct tux_switch *));
void tux_switch_uc_jump(struct tux_switch *from, struct tux_switch *to);

#endif

#endif
