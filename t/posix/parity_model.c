/* SPDX-License-Identifier: BSD-2-Clause */
#include "parity_model.h"

#include <string.h>
#include <sys/socket.h>

enum { PENDING_MAX = 40000 };	/* far below what any buffer takes */

bool parity_model_reads(const struct parity_step *s)
{
	return s->kind >= PARITY_read && s->kind <= PARITY_recvmsg;
}

bool parity_model_writes(const struct parity_step *s)
{
	return s->kind >= PARITY_write && s->kind <= PARITY_sendmsg;
}

void parity_model_init(struct parity_model *m)
{
	memset(m, 0, sizeof(*m));
	for (unsigned p = 0; p < PARITY_PROCS; p++)
		for (unsigned i = PARITY_EPOLL_SLOT; i < PARITY_SLOTS; i++)
			m->slot[p][i].kind = PARITY_SLOT_EPOLL;
}

struct parity_end *parity_model_end(struct parity_model *m, unsigned proc,
				    unsigned slot)
{
	const struct parity_slot *s = &m->slot[proc][slot];

	return s->kind == PARITY_SLOT_END ? &m->end[s->end] : NULL;
}

static const struct parity_end *end_of(const struct parity_model *m,
				       const struct parity_step *s)
{
	const struct parity_slot *x = &m->slot[s->proc][s->slot];

	return x->kind == PARITY_SLOT_END ? &m->end[x->end] : NULL;
}

int parity_model_slot(const struct parity_model *m, const struct parity_end *e)
{
	for (int i = 0; i < PARITY_SLOTS; i++) {
		const struct parity_slot *s = &m->slot[e->proc][i];

		if (s->kind == PARITY_SLOT_END && &m->end[s->end] == e)
			return i;
	}
	return -1;
}

/* ---- calls that block -------------------------------------------------- */

static const struct parity_blocked *blocked_on(const struct parity_model *m,
					       const struct parity_end *e)
{
	for (unsigned w = 0; w < PARITY_WORKERS; w++) {
		const struct parity_blocked *b = &m->blocked[e->proc][w];

		if (b->busy && &m->end[b->end] == e)
			return b;
	}
	return NULL;
}

const struct parity_blocked *
parity_model_swallows(const struct parity_model *m, const struct parity_end *e)
{
	const struct parity_blocked *b = blocked_on(m, e);

	return b && b->step.flags & MSG_WAITALL &&
	       !(b->step.flags & MSG_PEEK) ? b : NULL;
}

bool parity_model_calm(const struct parity_model *m,
		       const struct parity_end *e)
{
	const struct parity_end *p = &m->end[e->peer];
	const struct parity_end *both[2] = { e, p };

	for (int i = 0; i < 2; i++) {
		const struct parity_end *x = both[i];

		if (!x->refs || x->pending || x->fin || x->reset ||
		    x->shut_in || x->shut_out || x->pinned ||
		    blocked_on(m, x))
			return false;
	}
	return true;
}

/* How many bytes does a read wait for? */
static unsigned wanted(const struct parity_step *s)
{
	return s->flags & MSG_WAITALL && s->n > 1 ? (unsigned)s->n : 1;
}

static bool enough(const struct parity_end *e, const struct parity_step *s)
{
	unsigned from = e->peeks && s->flags & MSG_PEEK ? e->peeked : 0;

	return e->fin || e->reset || e->shut_in ||
	       e->pending >= from + wanted(s);
}

bool parity_model_blocks(const struct parity_model *m,
			 const struct parity_step *s)
{
	const struct parity_end *e = end_of(m, s);

	if (!e || !parity_model_reads(s) || e->nonblock || e->timed ||
	    s->flags & (MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE))
		return false;
	if (s->n == 0 && (s->kind == PARITY_read || s->kind == PARITY_readv))
		return false;
	return !enough(e, s);
}

void parity_model_block(struct parity_model *m, const struct parity_step *s)
{
	struct parity_blocked *b = &m->blocked[s->proc][s->worker];

	b->busy = true;
	b->signaled = false;
	b->step = *s;
	b->end = m->slot[s->proc][s->slot].end;
}

bool parity_model_releases(const struct parity_model *m, unsigned proc,
			   unsigned worker)
{
	const struct parity_blocked *b = &m->blocked[proc][worker];

	return b->busy && (b->signaled || enough(&m->end[b->end], &b->step));
}

/* ---- which steps are played -------------------------------------------- */

static bool permits_read(const struct parity_model *m,
			 const struct parity_step *s)
{
	const struct parity_end *e = end_of(m, s);

	/* Which of two readers gets the bytes is open. */
	return !e || !blocked_on(m, e) ||
	       (!parity_model_swallows(m, e) && !e->pending &&
		(e->nonblock || s->flags & MSG_DONTWAIT));
}

/* Over TCP, bytes that no program can read any more are answered with a reset.
 * Over Tux they are not: such steps are left out, here and in permits_drop(). */
static bool lost(const struct parity_model *m, const struct parity_end *e)
{
	const struct parity_end *p = &m->end[e->peer];

	return !e->reset && !e->shut_out &&
	       ((!p->refs && !p->queued) || (p->shut_in && p->shut_out));
}

static bool permits_write(const struct parity_model *m,
			  const struct parity_step *s)
{
	const struct parity_end *e = end_of(m, s);

	return !e || (!lost(m, e) && m->end[e->peer].pending + (unsigned)s->n <
		      PENDING_MAX);
}

/* Neither the last descriptor of an end in which a call blocks, nor of one with
 * unread bytes, see lost(). */
static bool permits_drop(const struct parity_model *m, unsigned proc,
			 unsigned slot)
{
	const struct parity_slot *x = &m->slot[proc][slot];

	if (x->kind == PARITY_SLOT_EPOLL)
		return false;
	if (x->kind != PARITY_SLOT_END)
		return true;
	/* Over Tux its interest would end, see Epoll in tux-preload(7). */
	if (m->end[x->end].refs > 1)
		return !x->watched;
	return !blocked_on(m, &m->end[x->end]) &&
	       (!m->end[x->end].pending || m->end[x->end].abort);
}

/* What the kernel says of names and states of its connection, after a shutdown.
 * Over Tux it does not hear of each, see "Shutdown" in tux-preload(7). */
static bool permits_naming(const struct parity_model *m,
			   const struct parity_step *s)
{
	const struct parity_end *e = end_of(m, s);

	return !e || !(e->shut_in || e->shut_out || e->reset);
}

/* Nor an aborting SO_LINGER: over Tux, the reset that follows is not always seen
 * by the calls that wait. */
static bool permits_option(const struct parity_step *s)
{
	return (s->value & 3) != 1 || !(s->value & 8);
}

static bool permits_connect(const struct parity_model *m,
			    const struct parity_step *s)
{
	const struct parity_slot *x = &m->slot[s->proc][s->slot];

	return x->kind == PARITY_SLOT_EMPTY ||
	       (x->kind == PARITY_SLOT_RAW && x->used) ?
	       m->n + 2 <= PARITY_ENDS &&
	       !m->queue[1 - s->proc] :	/* one at a time */
	       x->kind == PARITY_SLOT_EPOLL ||
	       (x->kind == PARITY_SLOT_END && permits_naming(m, s));
}

/* The kernel ends a call that waits for no bytes at any event of the socket, also when
 * the peer acknowledges a FIN. */
static bool permits_shutdown(const struct parity_model *m,
			     const struct parity_step *s)
{
	const struct parity_end *e = end_of(m, s);
	const struct parity_blocked *b = e ? blocked_on(m, e) : NULL;

	return permits_naming(m, s) &&
	       (s->value % 4 != SHUT_WR || !b || b->step.n);
}

static bool permits_way_back(const struct parity_model *m,
			     const struct parity_step *s)
{
	const struct parity_end *e = end_of(m, s);

	return !e || parity_model_calm(m, e);
}

/* The reset that the peer gets is as that of SO_LINGER: permits_option(). */
static bool permits_unspec(const struct parity_model *m,
			   const struct parity_step *s)
{
	const struct parity_slot *x = &m->slot[s->proc][s->slot];
	const struct parity_end *e = end_of(m, s);

	return x->kind != PARITY_SLOT_LISTENER &&
	       (!e || (s->slot < PARITY_CONNS && e->refs == 1 && !e->peeks &&
		       !x->watched && parity_model_calm(m, e)));
}

/* When a connection goes back to TCP, an edge of EPOLLIN comes once more for bytes that
 * are not read, see Epoll in tux-preload(7). */
static bool permits_spawn(const struct parity_model *m, unsigned proc)
{
	for (unsigned i = 0; i < m->n; i++) {
		const struct parity_end *e = &m->end[i];

		if (e->proc == proc && e->refs &&
		    (e->pending || m->end[e->peer].pending))
			return false;
	}
	return true;
}

/* A signal to a thread that is not in a call would meet it at a chance moment. */
static bool permits_signal(const struct parity_model *m,
			   const struct parity_step *s)
{
	const struct parity_blocked *b = &m->blocked[s->proc][s->worker];
	const struct parity_slot *x = &m->slot[s->proc][b->step.slot];

	/* A restarted call of the kernel's looks anew at these modes, and at what
	 * the descriptor names by now; one of no bytes ends with 0. */
	return b->busy && b->step.n && !m->end[b->end].nonblock &&
	       !m->end[b->end].timed && x->kind == PARITY_SLOT_END &&
	       x->end == b->end;
}

static bool permits_upgrade(const struct parity_model *m,
			    const struct parity_step *s)
{
	const struct parity_end *e = end_of(m, s);

	return e && parity_model_calm(m, e);
}

static bool permits_kind(const struct parity_model *m,
			 const struct parity_step *s)
{
	enum parity_slot_kind x = m->slot[s->proc][s->slot].kind;
	enum parity_slot_kind y = m->slot[s->proc][s->other].kind;

	switch (s->kind) {
	case PARITY_close:
		return permits_drop(m, s->proc, s->slot) &&
		       (x != PARITY_SLOT_EMPTY || !(s->value & 1));
	case PARITY_dup:
		return y == PARITY_SLOT_EMPTY && x != PARITY_SLOT_EPOLL &&
		       x != PARITY_SLOT_LISTENER;
	case PARITY_dup2:
		return y == PARITY_SLOT_END && x != PARITY_SLOT_EPOLL &&
		       x != PARITY_SLOT_LISTENER &&
		       permits_drop(m, s->proc, s->other);
	case PARITY_connect:
		return permits_connect(m, s);
	case PARITY_listen: case PARITY_bind:
		return x != PARITY_SLOT_RAW && x != PARITY_SLOT_LISTENER &&
		       permits_naming(m, s);
	case PARITY_accept: case PARITY_accept4:
		return x == PARITY_SLOT_EMPTY && s->slot < PARITY_CONNS;
	case PARITY_shutdown:
		return x != PARITY_SLOT_LISTENER && permits_shutdown(m, s);
	case PARITY_setsockopt:
		return x != PARITY_SLOT_LISTENER && permits_option(s);
	case PARITY_getpeername:
		return permits_naming(m, s);
	case PARITY_fcntl: case PARITY_ioctl:
		return x != PARITY_SLOT_LISTENER && x != PARITY_SLOT_EPOLL;
	case PARITY_way_back:
		return permits_way_back(m, s);
	case PARITY_peek_off:
		return x != PARITY_SLOT_LISTENER && permits_way_back(m, s);
	case PARITY_unspec:
		return permits_unspec(m, s);
	case PARITY_spawn:
		return permits_spawn(m, s->proc);
	case PARITY_signal:
		return permits_signal(m, s);
	case PARITY_upgrade:
		return permits_upgrade(m, s);
	default:
		return true;
	}
}

bool parity_model_permits(const struct parity_model *m,
			  const struct parity_step *s)
{
	if (s->kind == PARITY_signal)
		return permits_signal(m, s);
	if (m->blocked[s->proc][s->worker].busy)
		return false;
	if (parity_model_reads(s))
		return permits_read(m, s);
	if (parity_model_writes(s))
		return permits_write(m, s);
	return permits_kind(m, s);
}

/* ---- what has happened ------------------------------------------------- */

static void gone(struct parity_model *m, struct parity_end *e)
{
	struct parity_end *p = &m->end[e->peer];

	if (e->reset)
		return;
	if (e->abort)
		p->reset = true;
	else
		p->fin = true;
}

static void drop(struct parity_model *m, unsigned proc, unsigned slot)
{
	struct parity_end *e = parity_model_end(m, proc, slot);

	if (m->slot[proc][slot].kind == PARITY_SLOT_LISTENER &&
	    m->queue[proc]) {
		m->end[m->end[m->queue[proc] - 1].peer].reset = true;
		m->queue[proc] = 0;
	}
	m->slot[proc][slot] = (struct parity_slot){ .kind = PARITY_SLOT_EMPTY };
	if (e && --e->refs == 0)
		gone(m, e);
}

static void put(struct parity_model *m, unsigned proc, unsigned slot,
		unsigned end)
{
	m->slot[proc][slot].kind = PARITY_SLOT_END;
	m->slot[proc][slot].end = end;
	m->end[end].proc = proc;
	m->end[end].refs++;
}

static void connected(struct parity_model *m, const struct parity_step *s)
{
	const struct parity_slot *x = &m->slot[s->proc][s->slot];
	unsigned here = m->n, there = m->n + 1;

	m->n += 2;
	m->end[here].peer = there;
	m->end[there].peer = here;
	m->end[here].nonblock = x->used ? x->nonblock :
					  s->flags & SOCK_NONBLOCK;
	m->end[here].timed = x->used && x->timed;
	m->end[here].pinned = m->end[there].pinned = x->used;
	m->end[there].proc = 1 - s->proc;
	m->end[there].queued = true;
	put(m, s->proc, s->slot, here);
	m->queue[1 - s->proc] = there + 1;
}

static void apply_connect(struct parity_model *m, const struct parity_step *s)
{
	struct parity_slot *x = &m->slot[s->proc][s->slot];

	if ((x->kind != PARITY_SLOT_EMPTY &&
	     !(x->kind == PARITY_SLOT_RAW && x->used)) ||
	    s->slot >= PARITY_CONNS)
		return;
	if (m->slot[1 - s->proc][PARITY_LISTEN_SLOT].kind ==
	    PARITY_SLOT_LISTENER)
		connected(m, s);
	else
		x->kind = PARITY_SLOT_RAW;
	x->used = false;
}

static void apply_accept(struct parity_model *m, const struct parity_step *s)
{
	unsigned end = m->queue[s->proc] - 1;

	m->queue[s->proc] = 0;
	m->end[end].queued = false;
	m->end[end].nonblock = s->kind == PARITY_accept4 &&
			       s->flags & SOCK_NONBLOCK;
	put(m, s->proc, s->slot, end);
}

static void apply_dup(struct parity_model *m, const struct parity_step *s,
		      unsigned to)
{
	struct parity_slot from = m->slot[s->proc][s->slot];

	if (s->slot == to)
		return;
	if (from.kind == PARITY_SLOT_END)
		m->end[from.end].refs++;
	drop(m, s->proc, to);
	m->slot[s->proc][to] = from;
	m->slot[s->proc][to].watched = false;
}

static void apply_shutdown(struct parity_model *m, struct parity_end *e, int how)
{
	if (how == SHUT_RD || how == SHUT_RDWR)
		e->shut_in = true;
	if (how == SHUT_WR || how == SHUT_RDWR) {
		e->shut_out = true;
		m->end[e->peer].fin = true;
	}
}

static void apply_written(struct parity_model *m, struct parity_end *e,
			  int64_t n)
{
	if (n > 0)
		m->end[e->peer].pending += (unsigned)n;
}

static void apply_read(struct parity_end *e, const struct parity_step *s,
		       int64_t n)
{
	unsigned k = n > 0 && !(s->flags & MSG_OOB) ? (unsigned)n : 0;

	if (s->flags & MSG_PEEK) {
		e->peeked += k;
		return;
	}
	e->pending -= k < e->pending ? k : e->pending;
	e->peeked -= k < e->peeked ? k : e->peeked;
}

/* See call_peek_off(). */
static void apply_peek_off(struct parity_model *m, struct parity_end *e,
			   const struct parity_step *s)
{
	if (s->value & 1)
		return;
	e->peeks = !(s->value & 8);
	e->peeked = (unsigned)s->n % 64;
	e->pinned = m->end[e->peer].pinned = true;
}

/* The socket has no connection any more. */
static void apply_unspec(struct parity_model *m, struct parity_end *e,
			 const struct parity_step *s)
{
	m->slot[s->proc][s->slot] = (struct parity_slot){
		.kind = PARITY_SLOT_RAW, .used = true,
		.nonblock = e->nonblock, .timed = e->timed,
	};
	e->refs = 0;
	m->end[e->peer].reset = true;
}

/* See call_setsockopt(). */
static void apply_option(struct parity_end *e, const struct parity_step *s)
{
	if ((s->value & 3) == 0)
		e->timed = s->value & 4;
	else if ((s->value & 3) == 1)
		e->abort = s->value & 8;
}

static void apply_end(struct parity_model *m, struct parity_end *e,
		      const struct parity_step *s,
		      const struct parity_record *r)
{
	if (parity_model_reads(s))
		apply_read(e, s, r->ret);
	else if (parity_model_writes(s))
		apply_written(m, e, r->ret);
	else if (s->kind == PARITY_shutdown)
		apply_shutdown(m, e, s->value % 4);
	else if (s->kind == PARITY_fcntl && s->value < 6)
		e->nonblock = s->value & 1;
	else if (s->kind == PARITY_ioctl && s->value % 4 == 2)
		e->nonblock = s->value & 4;
	else if (s->kind == PARITY_setsockopt)
		apply_option(e, s);
	else if (s->kind == PARITY_way_back)
		e->pinned = m->end[e->peer].pinned = true;
	else if (s->kind == PARITY_peek_off)
		apply_peek_off(m, e, s);
	else if (s->kind == PARITY_unspec)
		apply_unspec(m, e, s);
}

/* A connection that has not moved stays with TCP when its process forks. */
static void apply_fork(struct parity_model *m, unsigned proc)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->end[i].proc == proc && !m->end[i].on_tux)
			m->end[i].pinned = true;
}

/* The program gets what the process has, and that stays on TCP. */
static void apply_spawn(struct parity_model *m, unsigned proc)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->end[i].proc == proc)
			m->end[i].pinned = m->end[m->end[i].peer].pinned = true;
}

void parity_model_apply(struct parity_model *m, const struct parity_step *s,
			const struct parity_record *r)
{
	struct parity_blocked *b = &m->blocked[s->proc][s->worker];
	struct parity_end *e = parity_model_end(m, s->proc, s->slot);

	if (s->kind == PARITY_signal) {
		b->signaled = s->value & 1 ||
			      (parity_model_swallows(m, &m->end[b->end]) &&
			       m->end[b->end].pending);
		return;
	}
	if (b->busy) {
		b->busy = false;
		apply_read(&m->end[b->end], &b->step, r->ret);
		return;
	}
	if (s->kind == PARITY_connect)
		apply_connect(m, s);
	else if (s->kind == PARITY_close)
		drop(m, s->proc, s->slot);
	if (r->ret < 0)
		return;
	if (s->kind == PARITY_fork)
		apply_fork(m, s->proc);
	else if (s->kind == PARITY_spawn)
		apply_spawn(m, s->proc);
	else if (s->kind == PARITY_epoll_ctl)
		m->slot[s->proc][s->other].watched = true;
	else if (s->kind == PARITY_listen && s->slot == PARITY_LISTEN_SLOT)
		m->slot[s->proc][s->slot].kind = PARITY_SLOT_LISTENER;
	else if (s->kind == PARITY_accept || s->kind == PARITY_accept4)
		apply_accept(m, s);
	else if (s->kind == PARITY_dup || s->kind == PARITY_dup2)
		apply_dup(m, s, s->other);
	else if (e)
		apply_end(m, e, s, r);
}
