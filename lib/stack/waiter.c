/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/waiter.h"

#include "sys/take.h"

int tux_waiter_init(struct tux_waiter *w, uint32_t cap)
{
	atomic_store(&w->sleepers, 0);
	atomic_store(&w->owed, 0);
	atomic_store(&w->loop, 0);
	return tux_wake_init(&w->bell, &w->fd, cap);
}

void tux_waiter_fini(struct tux_waiter *w)
{
	for (unsigned i = 1; atomic_load(&w->owed); i++)
		tux_await(i);
	tux_wake_fini(w->bell, w->fd);
	w->bell = NULL;
	w->fd = -1;
}

void tux_waiter_ring(struct tux_waiter *w, uint32_t i)
{
	tux_wake_ring(w->bell, w->fd, i);
}

void tux_waiter_ring_later(struct tux_waiter *w, uint32_t i,
			   struct tux_wakes *k)
{
	if (k)
		tux_wakes_ring(k, w->bell, w->fd, &w->owed, i);
	else
		tux_waiter_ring(w, i);
}
