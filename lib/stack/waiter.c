/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/waiter.h"

#include "sys/wake.h"

int tux_waiter_init(struct tux_waiter *w, uint32_t cap)
{
	atomic_store(&w->sleepers, 0);
	return tux_wake_init(&w->bell, &w->fd, cap);
}

void tux_waiter_fini(struct tux_waiter *w)
{
	tux_wake_fini(w->bell, w->fd);
	w->bell = NULL;
	w->fd = -1;
}

void tux_waiter_ring(struct tux_waiter *w, uint32_t i)
{
	tux_wake_ring(w->bell, w->fd, i);
}
