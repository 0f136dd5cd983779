/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a listener's peers are told: those of services, and those that the
 * program has announced and accepts from by itself.
 */
#include "api/announce.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "api/host.h"
#include "api/say.h"
#include "handshake/mark.h"
#include "sys/clock.h"
#include "sys/sys.h"
#include "sys/take.h"

enum { MARK_MS = 1000 };	/* a mark is renewed after so long, at the next
				 * connection */

void tux_api_mark(struct tux *t, struct tux_announced *a)
{
	enum tux_reason why = t->stack ? (enum tux_reason)a->why :
					 (enum tux_reason)t->shared->tcp_why;

	a->marked_at = tux_clock_read();
	if (!t->stack)
		tux_mark_refuse(a->fd, why);
	else if (why)
		tux_stack_refuse(t->stack, a->fd, why);
	else
		tux_stack_mark(t->stack, a->fd);
}

int tux_api_reach(struct tux *t, struct tux_announced *a)
{
	int err = tux_api_local(a->fd, &a->local), r;
	bool v4 = tux_api_option(a->fd, SOL_SOCKET, SO_DOMAIN) == AF_INET;

	a->v6only = !v4 && tux_api_option(a->fd, IPPROTO_IPV6, IPV6_V6ONLY) > 0;
	if (err || !t->stack)
		return err;
	r = tux_stack_listen(t->stack, a->fd, &a->local, v4, a->v6only);
	a->reachable = !r;
	a->why = (uint8_t)-r;
	if (r)
		tux_api_say_reason(t, a->why);
	return 0;
}

void tux_api_unreach(struct tux *t, struct tux_announced *a)
{
	if (a->reachable)
		tux_stack_unlisten(t->stack, &a->local);
	a->reachable = false;
}

/* ---- listeners of the program's own ---- */

/* How well does @a fit as the listener of a socket at @local?  0: not at all; as
 * the kernel does, the address itself comes first, and then one family's. */
static unsigned announce_fits(const struct tux_announced *a,
			      const struct tux_addr *local)
{
	static const struct tux_addr any6, any4 = { { [10] = 0xff,
						      [11] = 0xff }, 0 };
	bool v4 = tux_addr_is_v4(local);

	if (a->local.port != local->port)
		return 0;
	if (tux_addr_same_ip(&a->local, local))
		return 3;
	if (v4 && tux_addr_same_ip(&a->local, &any4))
		return 2;
	return tux_addr_same_ip(&a->local, &any6) && !(v4 && a->v6only);
}

static struct tux_announced *announced_at(struct tux_shared *sh, int fd,
					  const struct tux_addr *local)
{
	struct tux_announced *best = NULL;
	unsigned fits = 0;
	struct tux_list *n;

	TUX_LIST_EACH(n, &sh->announced) {
		struct tux_announced *a =
			TUX_CONTAINER(n, struct tux_announced, node);

		if (a->fd == fd || announce_fits(a, local) <= fits)
			continue;
		best = a;
		fits = announce_fits(a, local);
	}
	return best;
}

/* tuxd's programs may be others than before, or be there now. */
void tux_api_remark(struct tux *t, struct tux_announced *a)
{
	if (tux_clock_read() - a->marked_at >= TUX_MSEC(MARK_MS))
		tux_api_mark(t, a);
}

bool tux_api_announced(struct tux *t, int fd, const struct tux_addr *local,
		       enum tux_reason *why)
{
	struct tux_shared *sh = t->shared;
	struct tux_announced *a;

	tux_latch_take(&sh->latch);
	a = announced_at(sh, fd, local);
	if (a) {
		tux_api_remark(t, a);
		*why = (enum tux_reason)a->why;
	}
	tux_latch_drop(&sh->latch);
	return a;
}

/* The listener @fd, which is none any more; NULL: it was none. */
static struct tux_announced *announce_take(struct tux_shared *sh, int fd)
{
	struct tux_announced *a = NULL;
	struct tux_list *n;

	tux_latch_take(&sh->latch);
	TUX_LIST_EACH(n, &sh->announced) {
		a = TUX_CONTAINER(n, struct tux_announced, node);
		if (a->fd == fd)
			break;
		a = NULL;
	}
	if (a)
		tux_list_remove(&a->node);
	tux_latch_drop(&sh->latch);
	return a;
}

static void announce_forget(struct tux *t, struct tux_announced *a)
{
	tux_api_unreach(t, a);
	free(a);
}

void tux_api_unannounce(struct tux *t, int fd)
{
	struct tux_announced *a = announce_take(t->shared, fd);

	if (a)
		announce_forget(t, a);
}

/* The listener may go on without us: it tells peers that its connections stay on
 * TCP. */
static void announce_end(struct tux *t, struct tux_announced *a)
{
	a->why = TUX_REASON_CHOSEN;
	tux_api_mark(t, a);
	announce_forget(t, a);
}

void tux_api_unannounce_all(struct tux *t)
{
	struct tux_list *n, *m;

	TUX_LIST_EACH_SAFE(n, m, &t->shared->announced)
		announce_end(t, TUX_CONTAINER(n, struct tux_announced, node));
}

static int announce_listener(struct tux *t, int fd)
{
	struct tux_announced *a;
	int err;

	/* It may have been another socket's number, and that was closed. */
	tux_api_unannounce(t, fd);
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->fd = fd;
	tux_list_init(&a->node);
	tux_api_mark(t, a);
	err = tux_api_reach(t, a);
	if (err) {
		announce_forget(t, a);
		return err;
	}
	tux_latch_take(&t->shared->latch);
	tux_list_push(&t->shared->announced, &a->node);
	tux_latch_drop(&t->shared->latch);
	return 0;
}

static int announce_socket(struct tux *t, int fd)
{
	int proto = tux_api_option(fd, SOL_SOCKET, SO_PROTOCOL), err;
	struct tux_addr local;

	if (proto < 0)
		return proto;
	if (proto != IPPROTO_TCP)
		return -EPROTONOSUPPORT;
	if (!tux_api_peer(fd, &local))
		return -EISCONN;
	err = tux_api_local(fd, &local);
	if (err || local.port)
		return err ? err : announce_listener(t, fd);
	if (t->stack)
		tux_stack_mark(t->stack, fd);
	return 0;
}

int tux_announce(struct tux *t, int fd)
{
	int err;

	if (t->forked)
		return -EOWNERDEAD;
	if (t->ends)
		return -ESHUTDOWN;
	tux_sched_enter();
	err = announce_socket(t, fd);
	tux_sched_leave();
	return err;
}

int tux_unannounce(struct tux *t, int fd)
{
	struct tux_announced *a;

	if (t->forked)
		return -EOWNERDEAD;
	tux_sched_enter();
	a = announce_take(t->shared, fd);
	if (a)
		announce_end(t, a);
	tux_sched_leave();
	return a ? 0 : -ENOENT;
}
