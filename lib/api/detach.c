/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tux_detach(): the program takes the socket of a connection back.
 *
 * First both directions of the connection go back to plain TCP, for good.  Then the
 * loop and the library forget the connection, and leave the socket as it is.
 */
#include "api/api_in.h"

#include <errno.h>

#include "api/closing.h"
#include "api/connection.h"
#include "api/turn.h"
#include "stack/channel.h"
#include "sys/clock.h"

/* Only its own callback knows that no other one is amidst something. */
static int detach_check(const struct tux_connection *c)
{
	int err = tux_api_unusable(c);

	if (err)
		return err;
	if (atomic_load(&c->err))
		return -(int)atomic_load(&c->err);
	if (!tux_sched_inside() || !tux_sched_holds(c->task.strand))
		return -EINVAL;
	if (c->messages)
		return -EOPNOTSUPP;
	return (c->end ? atomic_load(&c->dx->tx.shut) : c->shut) ? -EPIPE : 0;
}

/* Another look is due a little later; the loop runs meanwhile.  A preempting stack
 * has its thread for that.  In the others, the thread waits here itself, since no
 * other callback may run before this one returns. */
static void detach_pause(struct tux_connection *c, tux_time until)
{
	tux_time soon = tux_clock_read() + TUX_MSEC(1);

	if (tux_sched_preempts(c->t->sched))
		tux_sched_block_until(tux_time_min(until, soon));
	else
		tux_end_pause(c->end, until);
}

/* Why will the directions not become plain, however long this waits?  0: they
 * may. */
static int is_hopeless(const struct tux_connection *c)
{
	return tux_end_unread(c->end) ? -EBUSY : tux_duplex_hopeless(c->dx);
}

static int go_plain(struct tux_connection *c, tux_time until)
{
	struct tux_tcp tcp = tux_api_tcp(c);
	int err = 0;

	while (!err && !tux_end_is_raw(c->end, &tcp, TUX_REASON_PINNED)) {
		err = is_hopeless(c);
		if (!err && tux_clock_read() >= until)
			err = -ETIMEDOUT;
		if (!err)
			detach_pause(c, until);
	}
	return err;
}

static int take_back(struct tux_connection *c, tux_time until)
{
	int err;

	/* The peer may have claimed it, and would ask in vain. */
	if (!c->end && c->t->stack)
		tux_stack_tell(c->t->stack, c->fd, &c->tuple, c->active,
			       TUX_REASON_PINNED);
	if (!c->end)
		return 0;
	if (!tux_sched_preempts(c->t->sched))
		tux_api_release_all(c->t);
	err = go_plain(c, until);
	/* The program may close the socket, and another file have its number. */
	while (!err && !tux_end_has_left(c->end))
		detach_pause(c, TUX_NEVER);
	return err;
}

int tux_detach(struct tux_connection *c, uint64_t ns)
{
	int r;

	tux_sched_enter();
	r = detach_check(c);
	if (!r)
		r = take_back(c, tux_time_add(tux_clock_read(), ns));
	if (!r)
		r = tux_api_hand_out(c);
	tux_sched_leave();
	return r;
}
