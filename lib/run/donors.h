/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * donors - a pool of donors, and the thread that makes them
 *
 * To start a thread takes some 20 us and locks of the C library, so the user of
 * the pool never does: it takes what is there, and the maker, which sleeps
 * otherwise, keeps some in reserve. Donors are kept until the pool goes.
 */
#ifndef TUX_RUN_DONORS_H
#define TUX_RUN_DONORS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "run/donor.h"

struct tux_donors_opts {
	size_t size;		/* of what begins with a struct tux_donor; it is
				 * zero otherwise */
	size_t stack_len;
	uint32_t max;
	/* As in struct tux_donor. */
	void (*parks)(struct tux_donor *);
	void (*ends)(struct tux_donor *);
	void (*called)(struct tux_donor *);
	/* There are donors, after it was said that there are none; from the
	 * maker's thread.  Or NULL. */
	void (*more)(void *arg);
	void *arg;
};

struct tux_donors {
	struct tux_donors_opts o;

	/* the user's */
	uint32_t taken;
	struct tux_donor *mine;		/* ready to be taken */

	_Atomic uint32_t wanted;	/* in all, taken ones too */
	_Atomic uint32_t made_n;
	_Atomic(struct tux_donor *) made;	/* for the user, the last first */
	_Atomic int err;		/* why there are no more now; or 0 */
	_Atomic bool hungry;		/* the user was told that there is none */
	_Atomic bool stop;

	/* the maker's */
	pthread_t maker;
	struct tux_donor *newest;	/* of all, to be freed */
};

/* Comes with a few donors.  -errno. */
int tux_donors_init(struct tux_donors *p, const struct tux_donors_opts *o);

/* Ends all of them, also those that were taken. */
void tux_donors_fini(struct tux_donors *p);

/* NULL: there is none now.  Never waits. */
struct tux_donor *tux_donors_get(struct tux_donors *p);

/* Would it give one now?  If not, more() will be called when it would. */
bool tux_donors_ready(struct tux_donors *p);

/* Will it give one, now or soon? */
bool tux_donors_left(const struct tux_donors *p);

#endif
