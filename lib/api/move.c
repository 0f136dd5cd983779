/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/move.h"

#include "api/connect.h"
#include "api/connection.h"
#include "api/threads.h"
#include "sys/sys.h"
#include "sys/take.h"

/* The loop of the stack with that number, if the library's threads run it. */
static struct tux *loop_of_number(struct tux *first, unsigned loop)
{
	unsigned i, n = tux_api_loops(first);

	for (i = 0; i < n; i++) {
		struct tux *t = tux_api_loop(first, i);

		if (t->l && t->loop_n == loop)
			return t;
	}
	return NULL;
}

/* A peer may send all by one queue, as one loop over a veth does: some connections stay
 * all the same.  The loops send by queues of their own, and on a veth hear from there. */
static bool has_twice_as_many(const struct tux *to, const struct tux *t)
{
	return atomic_load(&to->connections_now) >
	       2 * atomic_load(&t->connections_now);
}

/* Between two callbacks, on the thread of its loop. */
static bool can_move(const struct tux_connection *c, const struct tux *t)
{
	return c->roams && t->in_turn && tux_api_usable(c) &&
	       !tux_api_closed(c->s) && tux_sched_is_idle(&c->task);
}

/* False: somebody waits for room, whom its loop must be able to wake. */
static bool change_loop(struct tux_connection *c, struct tux *to)
{
	bool waits;

	tux_latch_take(&c->waits_latch);
	waits = atomic_load(&c->waits_n);
	if (!waits)
		atomic_store(&c->t, to);
	tux_latch_drop(&c->waits_latch);
	return !waits;
}

/* The other loop's thread has it by now.  Its epoll instance says again what TCP has; what
 * rings here is passed on (tux_api_rung()).  Without memory for that, it ends. */
static void follow_tcp(struct tux_connection *c, struct tux *t, struct tux *to)
{
	c->roams = false;
	t->connections_now--;
	to->connections_now++;
	to->came++;
	tux_sys_epoll_ctl(t->epfd, EPOLL_CTL_DEL, c->fd, NULL);
	if (tux_api_watch_tcp(c))
		tux_abort(c);
}

bool tux_api_moves(void *user, unsigned loop)
{
	struct tux_connection *c = user;
	struct tux *t = c->t, *to = loop_of_number(t->first, loop);

	if (!to || to == t || !can_move(c, t) || has_twice_as_many(to, t) ||
	    !change_loop(c, to))
		return false;
	follow_tcp(c, t, to);
	/* Who ends all connections may have been at that loop already. */
	if (tux_api_closed(c->s))
		tux_disconnect(c);
	return true;
}
