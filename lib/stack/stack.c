/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/stack_in.h"

#include <errno.h>
#include <string.h>

#include "afxdp/prog.h"
#include "afxdp/xdp.h"
#include "loop/recall.h"
#include "stack/drive_helper.h"
#include "stack/loops.h"
#include "sys/area.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"
#include "sys/take.h"
#include "udp/udp.h"

#ifdef TUX_XDP
#define XDP (&tux_xdp)
#define XDP_ALLOWED tux_prog_allowed()	/* 0, or -errno */
#else
#define XDP NULL
#define XDP_ALLOWED (-EOPNOTSUPP)
#endif

/* ---- birth and death -------------------------------------------------- */

/* A message takes up to half of its lane. */
static uint32_t bulk_len(uint32_t message_max)
{
	uint32_t len = TUX_LANE_MIN;

	while (len / 2 < message_max)
		len *= 2;
	return len;
}

static int stack_open_all(struct tux_stack *s)
{
	int err;

	tux_arena_init(&s->arena, tux_duplex_size(TUX_RING_LEN),
		       sizeof(struct tux_duplex));
	if (s->o.message_max) {
		s->bulk_len = bulk_len(s->o.message_max);
		tux_arena_init(&s->boxes,
			       tux_msgbox_size(TUX_SMALL_LEN, s->bulk_len), 0);
	}
	err = tux_ends_init(&s->ends);
	if (!err && s->o.recalled)
		err = tux_recall_map(&s->recall);
	if (!err)
		err = tux_loops_open(s);
	if (!err && s->link->announce)
		s->link->announce(&s->announce);
	return err;
}

static bool stack_is_lo(const struct tux_stack_opts *o)
{
	return o->ifname && !strcmp(o->ifname, "lo");
}

/* May the process use AF_XDP, as far as @o asks for it?  0, or -errno. */
static int stack_allowed(const struct tux_stack_opts *o)
{
	return o->io == TUX_IO_UDP || stack_is_lo(o) ? 0 : XDP_ALLOWED;
}

/* @allowed: stack_allowed().  Without tuxd there is no key, so XDP is left, and
 * says why it does not work. */
static enum tux_io choose_io(struct tux_stack *s, int allowed)
{
	if (s->o.io != TUX_IO_AUTO)
		return s->o.io;
	if (!stack_is_lo(&s->o) && !allowed)
		return TUX_IO_XDP;
	return tux_announce_find(&s->announce) ? TUX_IO_UDP : TUX_IO_XDP;
}

/* What a stack lacks that is to use @io, in the end.  What else than privilege is
 * missing, the link says better. */
static enum tux_reason stack_lacks(enum tux_io io, int allowed)
{
	return io == TUX_IO_XDP && (allowed == -EPERM || allowed == -EACCES) ?
	       TUX_REASON_NO_PRIVILEGE : TUX_REASON_NONE;
}

int tux_stack_new(struct tux_stack **sp, const struct tux_stack_opts *o)
{
	struct tux_stack *s;
	int allowed, err;

	if (o->threads > TUX_LOOPS_MAX || o->message_max > TUX_LANE_MAX / 2)
		return -EINVAL;
	err = tux_area_map((void **)&s, sizeof(*s), TUX_AREA_PRIVATE);
	if (err)
		return err;
	s->o = *o;
	s->queue.fd = -1;
	s->held = (struct tux_loop_held){ -1, -1 };
	tux_announce_init(&s->announce);
	s->mixed = s->o.io == TUX_IO_AUTO;
	allowed = stack_allowed(o);
	s->o.io = choose_io(s, allowed);
	s->lacks = stack_lacks(s->o.io, allowed);
	s->link = s->o.io == TUX_IO_UDP ? &tux_udp : XDP;
	err = !s->link ? -EOPNOTSUPP : s->lacks && o->able ? -EUNATCH : 0;
	if (err) {
		tux_area_unmap(s, sizeof(*s));
		return err;
	}
	err = stack_open_all(s);
	if (err) {
		tux_stack_free(s);
		return err;
	}
	*sp = s;
	return 0;
}

static void close_lifelines(struct tux_stack *s)
{
	uint32_t i, n = atomic_load(&s->ends.used);

	for (i = 0; i < n; i++) {
		const struct tux_end *e = &s->ends.at[i];

		if (!e->line.lent)
			tux_fd_close(e->line.fd);
		if (atomic_load(&e->loop) && e->lent >= 0 && !e->lent_back)
			tux_sys_close(e->lent);
	}
}

void tux_stack_free(struct tux_stack *s)
{
	unsigned i;

	for (i = 0; i < tux_loops_n(s); i++)
		tux_driver_stop(&s->driver[i]);
	for (i = 0; i < tux_loops_n(s); i++)
		tux_fd_close(s->driver[i].helper_fd);
	close_lifelines(s);
	tux_announce_close(&s->announce);
	/* The links of the others may use what is the first one's. */
	for (i = tux_loops_n(s); i > 0; i--)
		tux_loop_free(s->driver[i - 1].loop);
	tux_fd_close(s->queue.fd);
	tux_loop_let_go(&s->held);
	tux_arena_fini(&s->arena);
	tux_arena_fini(&s->boxes);
	tux_ends_fini(&s->ends);
	tux_recall_unmap(s->recall);
	tux_area_unmap(s, sizeof(*s));
}

/* Closes what is left, but for the loops and what they sleep on. */
static void abandon(struct tux_stack *s)
{
	unsigned i;

	s->forked = true;
	tux_announce_close(&s->announce);
	tux_fd_close(s->queue.fd);
	for (i = 0; i < tux_loops_n(s); i++)
		tux_fd_close(s->driver[i].helper_fd);
	close_lifelines(s);
}

void tux_stack_forks(struct tux_stack *s)
{
	if (s->recall)
		tux_recall_fork(s->recall);
}

void tux_stack_forked(struct tux_stack *s)
{
	unsigned i;

	for (i = 0; i < tux_loops_n(s); i++)
		tux_loop_forked(s->driver[i].loop);
	tux_loop_held_forked(&s->held, s->recall);
	abandon(s);
}

/* May loop @i, which has halted, be left?  The others may use the first one's link, and
 * with @others some of them still run. */
static bool leave_allowed(const struct tux_stack *s, unsigned i, bool others)
{
	return i || !others || !s->link->one_port;
}

void tux_stack_leave(struct tux_stack *s)
{
	unsigned i = tux_loops_n(s);
	bool others = false;

	if (s->forked)
		return;
	s->forked = true;
	while (i-- > 0)
		if (!tux_driver_halt(&s->driver[i]))
			others = true;
		else if (leave_allowed(s, i, others))
			tux_loop_leave(s->driver[i].loop);
	tux_loop_let_go(&s->held);
	abandon(s);
}

bool tux_stack_keyed(const struct tux_stack *s)
{
	return s->link->announce || s->announce.shared;
}

void tux_stack_count(struct tux_stack *s)
{
	unsigned i, n = s->forked ? 0 : tux_loops_n(s);
	bool all = true;

	for (i = 0; i < n; i++)
		all &= tux_driver_halt(&s->driver[i]);
	for (i = 0; i < n && all; i++)
		tux_loop_count(s->driver[i].loop);
}

/* ---- listeners -------------------------------------------------------- */

static struct tux_place *find_place(struct tux_stack *s,
				    const struct tux_addr *local)
{
	unsigned i;

	for (i = 0; i < TUX_LISTENERS_MAX; i++)
		if (s->place[i].refs && tux_addr_same(&s->place[i].local, local))
			return &s->place[i];
	return NULL;
}

static struct tux_place *free_place(struct tux_stack *s)
{
	unsigned i;

	for (i = 0; i < TUX_LISTENERS_MAX; i++)
		if (!s->place[i].refs)
			return &s->place[i];
	return NULL;
}

static bool stack_is_any(const struct tux_addr *a)
{
	static const uint8_t zero[16];

	return !memcmp(a->ip, zero, sizeof(zero));
}

/* Where handshakes announce ports, HELLO comes to the loop's own: 0. */
static int listen_source(struct tux_stack *s, const struct tux_addr *local,
			 bool v4, bool v6only)
{
	if (tux_stack_keyed(s))
		return 0;
	return s->link->listen(s->driver[0].loop->link, local, v4, v6only);
}

static int add_place(struct tux_stack *s, int fd, const struct tux_addr *local,
		     bool v4, bool v6only)
{
	struct tux_place *p = find_place(s, local);
	int source;

	if (p && p->v4 == v4) {
		p->refs++;
		return 0;
	}
	p = free_place(s);
	if (!p)
		return -TUX_REASON_NO_MEMORY;
	source = listen_source(s, local, v4, v6only);
	if (source < 0)
		return source;
	*p = (struct tux_place){
		.local = *local, .v4 = v4,
		.both = !v6only && stack_is_any(local),
		.netns = tux_announce_netns(fd), .refs = 1,
		.source = (unsigned)source,
	};
	tux_announce_listen(&s->announce, p->netns, local, p->both,
			    tux_loops_port(s));
	return 0;
}

void tux_stack_mark(struct tux_stack *s, int fd)
{
	if (!s->forked && !s->lacks)
		tux_announce_mark(&s->announce, fd, tux_loops_port(s));
}

bool tux_stack_adopts(const struct tux_stack *s)
{
	return s->announce.shared;
}

void tux_stack_refuse(struct tux_stack *s, int fd, enum tux_reason why)
{
	if (!s->forked)
		tux_announce_refuse(&s->announce, fd, why);
}

/* Only a peer that has announced Tux asks.  The helper runs the loop that hears
 * it. */
void tux_stack_tell(struct tux_stack *s, int fd, const struct tux_tuple *t,
		    bool active, enum tux_reason why)
{
	struct tux_refused x = {
		.tuple = *t, .active = active, .why = (uint8_t)why,
	};
	struct tux_mark_peer peer;
	struct tux_driver *d;

	if (s->forked || s->lacks || !tux_stack_keyed(s) ||
	    tux_announce_look(&s->announce, fd, active, &peer))
		return;
	x.key = peer.key;
	tux_refusals_add(&s->refusals, &x);
	d = tux_loops_first(s);
	if (!d)
		return;
	atomic_store(&d->loop->hears, true);
	tux_driver_notice(d);
}

int tux_stack_listen(struct tux_stack *s, int fd, const struct tux_addr *local,
		     bool v4, bool v6only)
{
	int r;

	if (s->forked)
		return -TUX_REASON_NOT_OWNER;
	if (s->lacks) {
		r = -(int)s->lacks;
	} else {
		tux_latch_take(&s->place_latch);
		r = add_place(s, fd, local, v4, v6only);
		tux_latch_drop(&s->place_latch);
	}
	if (r < 0)
		tux_stack_refuse(s, fd, (enum tux_reason)-r);
	return r;
}

void tux_stack_unlisten(struct tux_stack *s, const struct tux_addr *local)
{
	struct tux_place *p;

	if (s->forked)
		return;
	tux_latch_take(&s->place_latch);
	p = find_place(s, local);
	if (p && !--p->refs) {
		if (p->source)
			s->link->unlisten(s->driver[0].loop->link, p->source);
		tux_announce_unlisten(&s->announce, p->netns, local, p->both);
	}
	tux_latch_drop(&s->place_latch);
}
