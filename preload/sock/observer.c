/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/observer.h"

#include "sys/defer.h"
#include "sys/take.h"

static struct tux_latch add_latch;
static struct observer *_Atomic first;

static bool is_known(const struct observer *o)
{
	const struct observer *p = atomic_load(&first);

	while (p && p != o)
		p = p->next;
	return p;
}

void observer_add(struct observer *o)
{
	if (is_known(o))
		return;
	tux_defer_enter();
	tux_latch_take(&add_latch);
	if (!is_known(o)) {
		o->next = atomic_load(&first);
		atomic_store(&first, o);
	}
	tux_latch_drop(&add_latch);
	tux_defer_leave();
}

void observer_gone(int fd)
{
	for (struct observer *o = atomic_load(&first); o; o = o->next)
		if (o->gone)
			o->gone(fd);
}

void observer_left(int fd)
{
	for (struct observer *o = atomic_load(&first); o; o = o->next)
		if (o->left)
			o->left(fd);
}

void observer_stopped(void)
{
	for (struct observer *o = atomic_load(&first); o; o = o->next)
		if (o->stopped)
			o->stopped();
	for (struct observer *o = atomic_load(&first); o; o = o->next)
		if (o->over)
			o->over();
}

unsigned observer_loop(int fd)
{
	unsigned loop = 0;

	for (struct observer *o = atomic_load(&first); o && !loop; o = o->next)
		if (o->loop)
			loop = o->loop(fd);
	return loop;
}

void observer_moved(struct sock *s, int fd)
{
	sock_ring(s);
	for (struct observer *o = atomic_load(&first); o; o = o->next)
		if (o->moved)
			o->moved(s, fd);
}

void observer_forked(void)
{
	tux_latch_drop(&add_latch);
}
