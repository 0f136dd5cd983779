/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/seat.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { SEATS = 1024 };

static struct seat seats[SEATS];
static _Atomic uint32_t standing;	/* threads that wait and have no seat */

static _Atomic bool taken;		/* a seat, ever */

/* Its address tells threads apart. */
static __thread struct seat *mine;
static __thread bool stands;		/* all seats were taken */

static bool seat_sit(struct seat *s, uintptr_t self)
{
	uintptr_t is = atomic_load_explicit(&s->thread, memory_order_relaxed);

	if (is != self &&
	    (is || !atomic_compare_exchange_strong(&s->thread, &is, self)))
		return false;
	/* The thread that had it was cancelled in its wait. */
	atomic_store(&s->in, NULL);
	return true;
}

/* Stacks lie whole pages apart. */
static unsigned seat_first(uintptr_t self)
{
	return (unsigned)((self >> 12) * 2654435761u >> 16) % SEATS;
}

static struct seat *seat_find(void)
{
	uintptr_t self = (uintptr_t)&mine;
	unsigned first = seat_first(self);

	atomic_store(&taken, true);
	for (unsigned i = 0; i < SEATS; i++)
		if (seat_sit(&seats[(first + i) % SEATS], self))
			return &seats[(first + i) % SEATS];
	return NULL;
}

/* A seat holds one instance.  Where a handler waits while its thread is about
 * to, the thread counts for all instances. */
void seat_enter(struct seated *s, const void *ep)
{
	if (!mine && !stands) {
		mine = seat_find();
		stands = !mine;
	}
	s->seat = mine;
	s->was = mine ? atomic_load(&mine->in) : NULL;
	if (!s->seat || s->was)
		atomic_fetch_add(&standing, 1);
	if (s->seat)
		atomic_exchange(&s->seat->in, ep);
}

void seat_leave(const struct seated *s)
{
	if (s->seat)
		atomic_store_explicit(&s->seat->in, s->was,
				      memory_order_release);
	if (!s->seat || s->was)
		atomic_fetch_sub(&standing, 1);
}

unsigned seat_count(const void *ep)
{
	unsigned n = atomic_load(&standing);

	for (unsigned i = 0; i < SEATS; i++)
		n += atomic_load(&seats[i].in) == ep;
	return n;
}

void seat_forked(void)
{
	if (!atomic_load(&taken))
		return;
	memset(seats, 0, sizeof(seats));
	atomic_store(&standing, 0);
	atomic_store(&taken, false);
	mine = NULL;
	stands = false;
}
