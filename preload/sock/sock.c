/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/sock.h"

#include <string.h>
#include <sys/mman.h>

#include "ground/process.h"
#include "sys/alone.h"
#include "sys/defer.h"
#include "sys/take.h"

enum {
	CHUNK = 64,		/* socks that are mapped at once */
};

#define FREE ((uint64_t)1 << 63)	/* among the references of a free sock */

_Atomic uint32_t socks_moved;

static struct tux_latch free_latch;
static struct sock *free_list;
static struct sock *fresh;	/* the rest of a chunk */
static int fresh_n;

/* ---- life ------------------------------------------------------------- */

static bool sock_grow(void)
{
	struct sock *s = mmap(NULL, CHUNK * sizeof(*s), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return false;
	fresh = s;
	fresh_n = CHUNK;
	return true;
}

/* One that never was used: not touched before, so a process with few has few
 * pages of them. */
static struct sock *sock_take_fresh(void)
{
	if (!fresh_n && !sock_grow())
		return NULL;
	atomic_store(&fresh[--fresh_n].refs, FREE);
	return &fresh[fresh_n];
}

static struct sock *sock_pop(void)
{
	struct sock *s;

	tux_defer_enter();
	tux_latch_take(&free_latch);
	s = free_list;
	if (s)
		free_list = s->next_free;
	else
		s = sock_take_fresh();
	tux_latch_drop(&free_latch);
	tux_defer_leave();
	return s;
}

struct sock *sock_new(enum sock_stage stage)
{
	struct sock *s = sock_pop();

	if (!s)
		return NULL;
	process_init();
	/* Everything but refs: a late reader may be looking at that. */
	memset(&s->fds, 0, sizeof(*s) - offsetof(struct sock, fds));
	s->fd = -1;
	s->epoch = process_here.epoch;
	s->listens = stage == SOCK_LISTENER;
	tux_list_init(&s->watches);
	atomic_store(&s->stage, stage);
	atomic_fetch_add(&s->refs, 1 - FREE);
	return s;
}

void sock_moves(struct sock *s)
{
	if (!s->moved)
		atomic_fetch_add(&socks_moved, 1);
	s->moved = true;
}

void sock_unmoves(struct sock *s)
{
	if (s->moved)
		atomic_fetch_sub(&socks_moved, 1);
	s->moved = false;
}

void sock_unlisten(struct sock *s)
{
	tux_defer_enter();
	if (s->reachable && s->epoch == process_here.epoch && preload_stack())
		tux_stack_unlisten(preload_stack(), &s->local);
	s->reachable = false;
	tux_defer_leave();
}

static void sock_recycle(struct sock *s)
{
	tux_defer_enter();
	sock_unlisten(s);
	sock_unmoves(s);
	if (s->end && s->epoch == process_here.epoch)
		tux_end_free(s->end);
	atomic_store(&s->stage, SOCK_FREE);
	tux_latch_take(&free_latch);
	s->next_free = free_list;
	free_list = s;
	tux_latch_drop(&free_latch);
	tux_defer_leave();
}

/* A thread that was late may hold a free sock for a moment, and lets go of it
 * here, too. */
void sock_let_go(struct sock *s, uint64_t n)
{
	uint64_t none = 0;

	if (tux_alone_add(&s->refs, -n) == n &&
	    atomic_compare_exchange_strong(&s->refs, &none, FREE))
		sock_recycle(s);
}

/* ---- what it allows ----------------------------------------------------- */

unsigned sock_poll(struct sock *s)
{
	unsigned p;

	/* The loop may look before the claiming thread has stored `dx`. */
	if (s->stage <= SOCK_CLAIMING || !s->dx)
		return 0;
	p = tux_duplex_poll(s->dx);
	if (s->err)
		p |= TUX_CAN_READ | TUX_CAN_WRITE | TUX_IS_ERR;
	if (s->rdshut)
		p |= TUX_CAN_READ | TUX_IS_EOF;
	if (s->stage == SOCK_CLOSED)
		p |= TUX_CAN_READ | TUX_CAN_WRITE;
	return p;
}

/* ---- watches ---------------------------------------------------------- */

void sock_watch(struct sock *s, struct watch *w)
{
	tux_latch_take(&s->watch_latch);
	tux_list_push(&s->watches, &w->node);
	tux_latch_drop(&s->watch_latch);
}

void sock_unwatch(struct sock *s, struct watch *w)
{
	tux_latch_take(&s->watch_latch);
	tux_list_remove(&w->node);
	tux_latch_drop(&s->watch_latch);
}

static void ring(struct watch *w, struct tux_wakes *wakes)
{
	if (!atomic_exchange(w->queued, 1))
		tux_waiter_ring_later(w->waiter, w->index, wakes);
}

/* Rings those that want something of @can. */
static void ring_list(struct tux_list *watches, unsigned can,
		      struct tux_wakes *wakes)
{
	struct tux_list *n;

	TUX_LIST_EACH(n, watches) {
		struct watch *w = TUX_CONTAINER(n, struct watch, node);

		if (!w->wants || w->wants & can)
			ring(w, wakes);
	}
}

/* The watches of all socks at once.  Most often there are none. */
static struct tux_latch every_latch;
static struct tux_list every = { &every, &every };
static _Atomic uint32_t every_n;

void sock_watch_all(struct watch *w)
{
	tux_latch_take(&every_latch);
	tux_list_push(&every, &w->node);
	tux_latch_drop(&every_latch);
	atomic_fetch_add(&every_n, 1);
}

void sock_unwatch_all(struct watch *w)
{
	atomic_fetch_sub(&every_n, 1);
	tux_latch_take(&every_latch);
	tux_list_remove(&w->node);
	tux_latch_drop(&every_latch);
}

static void ring_every(struct tux_wakes *wakes)
{
	if (!atomic_load(&every_n))
		return;
	tux_latch_take(&every_latch);
	ring_list(&every, ~0u, wakes);
	tux_latch_drop(&every_latch);
}

void sock_ring(struct sock *s)
{
	tux_latch_take(&s->watch_latch);
	ring_list(&s->watches, ~0u, NULL);
	tux_latch_drop(&s->watch_latch);
	ring_every(NULL);
}

void sock_ready(struct sock *s, struct tux_wakes *wakes)
{
	unsigned where = TUX_RX_ON_RING | TUX_TX_ON_RING | TUX_TX_WAITS;
	unsigned can;
	bool moved;

	tux_latch_take(&s->watch_latch);
	can = sock_poll(s);
	moved = (can & where) != s->path;
	s->path = (uint8_t)(can & where);
	ring_list(&s->watches, moved ? ~0u : can, wakes);
	tux_latch_drop(&s->watch_latch);
	if (moved)
		ring_every(wakes);
}

/* ---- fork ---------------------------------------------------------------- */

void sock_forked(void)
{
	tux_latch_drop(&free_latch);
	free_list = NULL;
	fresh_n = 0;
	tux_latch_drop(&every_latch);
	tux_list_init(&every);
	atomic_store(&every_n, 0);
}
