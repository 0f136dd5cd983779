/* SPDX-License-Identifier: BSD-2-Clause */
#include "fd.h"

#include <string.h>
#include <sys/mman.h>

#include "claim.h"
#include "close.h"
#include "fork.h"
#include "hooks.h"
#include "kind.h"
#include "listener.h"
#include "sys/alone.h"
#include "sys/defer.h"
#include "sys/take.h"

enum {
	CHUNK = 64,		/* socks that are mapped at once */
};

#define FREE ((uint64_t)1 << 63)	/* among the references of a free sock */

/* Untouched pages of it cost nothing; it is there before the constructor. */
struct sock *_Atomic fd_table[FD_MAX];

_Atomic uint32_t fd_live, fd_moved;

static _Atomic int top;
static struct tux_latch free_latch;
static struct sock *free_list;
static struct sock *fresh;	/* the rest of a chunk */
static int fresh_n;

int fd_top(void)
{
	return atomic_load_explicit(&top, memory_order_acquire);
}

int fd_limit(void)
{
	return FD_MAX;
}

static bool fd_grow(void)
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
static struct sock *fd_take_fresh(void)
{
	if (!fresh_n && !fd_grow())
		return NULL;
	atomic_store(&fresh[--fresh_n].refs, FREE);
	return &fresh[fresh_n];
}

static struct sock *fd_pop(void)
{
	struct sock *s;

	tux_defer_enter();
	tux_latch_take(&free_latch);
	s = free_list;
	if (s)
		free_list = s->next_free;
	else
		s = fd_take_fresh();
	tux_latch_drop(&free_latch);
	tux_defer_leave();
	return s;
}

struct sock *sock_new(enum sock_stage stage)
{
	struct sock *s = fd_pop();

	if (!s)
		return NULL;
	/* Everything but refs: a late reader may be looking at that. */
	memset(&s->fds, 0, sizeof(*s) - offsetof(struct sock, fds));
	s->fd = -1;
	s->epoch = fork_epoch;
	s->listens = stage == SOCK_LISTENER;
	tux_list_init(&s->watches);
	atomic_store(&s->stage, stage);
	atomic_fetch_add(&s->refs, 1 - FREE);
	return s;
}

void fd_moves(struct sock *s)
{
	if (!s->moved)
		atomic_fetch_add(&fd_moved, 1);
	s->moved = true;
}

void fd_unmoves(struct sock *s)
{
	if (s->moved)
		atomic_fetch_sub(&fd_moved, 1);
	s->moved = false;
}

static void fd_recycle(struct sock *s)
{
	tux_defer_enter();
	listener_close(s);
	fd_unmoves(s);
	if (s->end && s->epoch == fork_epoch)
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
static void fd_let_go(struct sock *s, uint64_t n)
{
	uint64_t none = 0;

	if (tux_alone_add(&s->refs, -n) == n &&
	    atomic_compare_exchange_strong(&s->refs, &none, FREE))
		fd_recycle(s);
}

/* Adds @n to the references of @fd's sock. */
static struct sock *fd_hold(int fd, uint64_t n)
{
	struct sock *s;

	while ((s = fd_peek(fd))) {
		tux_alone_add(&s->refs, n);
		if (fd_peek(fd) == s)
			return s;
		fd_let_go(s, n);
	}
	return NULL;
}

struct sock *sock_get(int fd)
{
	return fd_hold(fd, 1);
}

void sock_put(struct sock *s)
{
	fd_let_go(s, 1);
}

struct sock *sock_pass(int fd)
{
	return fd_hold(fd, SOCK_PASSING + 1);
}

void sock_passed(struct sock *s)
{
	fd_let_go(s, SOCK_PASSING + 1);
}

void fd_seen(int fd)
{
	int t = fd_top();

	while (t <= fd && !atomic_compare_exchange_weak(&top, &t, fd + 1))
		;
}

bool fd_add(int fd, struct sock *s)
{
	if ((unsigned)fd >= FD_MAX)
		return false;
	fd_fresh(fd);
	atomic_fetch_add(&s->refs, 1);
	atomic_fetch_add(&s->fds, 1);
	if (s->fd < 0)
		s->fd = fd;
	fd_seen(fd);
	if (!s->listens)
		atomic_fetch_add(&fd_live, 1);
	atomic_store(&fd_table[fd], s);
	return true;
}

/* The entry of @fd, which named @s, is gone. */
static void fd_gone(const struct sock *s)
{
	if (!s->listens)
		atomic_fetch_sub(&fd_live, 1);
}

struct sock *fd_take(int fd)
{
	struct sock *s = fd_peek(fd) ? atomic_exchange(&fd_table[fd], NULL) :
				       NULL;

	if (s)
		fd_gone(s);
	return s;
}

static void fd_leave_one(struct sock *s, int fd)
{
	struct sock *is = s;

	kind_leave(fd);
	if (!atomic_compare_exchange_strong(&fd_table[fd], &is, NULL))
		return;
	fd_gone(s);
	atomic_fetch_sub(&s->fds, 1);
	sock_put(s);
	epoll_left_fd(fd);
}

/* Most have a single one. */
void fd_leave(struct sock *s)
{
	if (fd_peek(s->fd) == s)
		fd_leave_one(s, s->fd);
	for (int fd = 0; fd < fd_top() && atomic_load(&s->fds); fd++)
		if (fd_peek(fd) == s)
			fd_leave_one(s, fd);
}

int fd_fresh(int fd)
{
	kind_forget(fd);
	if (fd_peek(fd) && !fork_is_vfork())
		close_stale(fd);
	return fd;
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

static void ring_all(struct tux_list *watches, struct tux_wakes *wakes)
{
	struct tux_list *n;

	TUX_LIST_EACH(n, watches)
		ring(TUX_CONTAINER(n, struct watch, node), wakes);
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
	ring_all(&every, wakes);
	tux_latch_drop(&every_latch);
}

void sock_ring(struct sock *s)
{
	tux_latch_take(&s->watch_latch);
	ring_all(&s->watches, NULL);
	tux_latch_drop(&s->watch_latch);
	ring_every(NULL);
}

static void tell_moved(struct sock *s, unsigned poll)
{
	struct tux_list *n;

	TUX_LIST_EACH(n, &s->watches) {
		struct watch *w = TUX_CONTAINER(n, struct watch, node);

		if (w->moved)
			w->moved(w, poll);
	}
}

void sock_ready(struct sock *s, struct tux_wakes *wakes)
{
	unsigned where = TUX_RX_ON_RING | TUX_TX_ON_RING | TUX_TX_WAITS;
	unsigned poll;
	bool moved;

	tux_latch_take(&s->watch_latch);
	poll = sock_poll(s);
	moved = (poll & where) != s->path;
	if (moved) {
		s->path = (uint8_t)(poll & where);
		tell_moved(s, poll);
	}
	ring_all(&s->watches, wakes);
	tux_latch_drop(&s->watch_latch);
	if (moved)
		ring_every(wakes);
}

/* ---- fork ---------------------------------------------------------------- */

void fd_forked(void)
{
	tux_latch_drop(&free_latch);
	free_list = NULL;
	fresh_n = 0;
	tux_latch_drop(&every_latch);
	tux_list_init(&every);
	atomic_store(&every_n, 0);
}
