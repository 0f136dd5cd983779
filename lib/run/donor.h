/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * donor - a parked thread that lends its stack and, if routines are to be
 * preempted, its thread-local storage
 *
 * All that the C library keeps for a thread, from errno to the caches of
 * malloc, is there and is its own. The thread itself sleeps at the top of its
 * stack until it is freed, with all signals blocked but those that the library
 * cannot do without; the routine that borrows the stack begins some way below,
 * so that these do not touch its frames. Below the stack lies a page that
 * nothing may touch.
 *
 * The owner can have the thread call a function in between, such as one that
 * goes on with the routine there (blocking.h).
 */
#ifndef TUX_RUN_DONOR_H
#define TUX_RUN_DONOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tux_donor {
	struct tux_donor *next, *older;	/* the owner's */
	char *low, *top;		/* the stack to be borrowed */
	uintptr_t tls;			/* its FS base; 0: is not lent */
	/* Called on the donor, with its storage, before it parks; or NULL. */
	void (*parks)(struct tux_donor *);
	/* Called there before the destructors of its storage; or NULL. */
	void (*ends)(struct tux_donor *);
	/* Called on the donor for each tux_donor_call(); or NULL. */
	void (*called)(struct tux_donor *);

	/* its own */
	char *map;
	size_t map_len;
	pthread_t thread;
	_Atomic uint32_t state;
};

enum {
	TUX_DONOR_STACK_MIN = 64 * 1024,	/* signal frames take up to 12 KiB */
	TUX_DONOR_GUARD = 64 * 1024,		/* untouchable, bytes */
};

/* Starts @d; @stack_len bytes can be borrowed, or somewhat more.  @d->parks has
 * been set.  -errno. */
int tux_donor_init(struct tux_donor *d, size_t stack_len);

/* Lets the thread end, after the call that it is amidst, and waits until it
 * has. */
void tux_donor_fini(struct tux_donor *d);

/* Has the thread call d->called().  It may be asked again as soon as that has
 * begun, and not before. */
void tux_donor_call(struct tux_donor *d);

/* Does @p point to the part of the stack where the thread itself sleeps? */
bool tux_donor_parks_at(const struct tux_donor *d, const void *p);

/* Does @p point below the stack, to what must not be touched? */
bool tux_donor_overflows(const struct tux_donor *d, const void *p);

#endif
