/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll_item - one descriptor in an epoll instance
 *
 * All functions are called with the latch of the instance held.
 */
#ifndef TUX_PRELOAD_EPOLL_ITEM_H
#define TUX_PRELOAD_EPOLL_ITEM_H

#include "sock/kind.h"
#include "sys/sys.h"
#include "wait/epoll.h"

/* The item of @fd; NULL if there never was one. */
static inline struct item *item_find(struct ep *ep, int fd)
{
	struct item *c;

	if ((unsigned)fd >= FD_MAX)
		return NULL;
	c = atomic_load_explicit(&ep->chunk[(unsigned)fd / ITEM_CHUNK],
				 memory_order_acquire);
	return c ? &c[(unsigned)fd % ITEM_CHUNK] : NULL;
}

/* Makes the item of @fd, which item_find() does not find.  NULL: no memory. */
struct item *item_map(struct ep *ep, int fd);

/* As item_find(), and there is one now, or NULL: no memory. */
static inline struct item *item_make(struct ep *ep, int fd)
{
	struct item *it = item_find(ep, fd);

	return it ? it : item_map(ep, fd);
}

/* Is @it of a descriptor that is open, as far as is known?  Then it is counted
 * by ep_hold(). */
static inline bool item_held(const struct item *it)
{
	return it->used && !it->stale;
}

/* One shot that a ring has told has taken the kernel's item away. */
static inline bool item_shot(const struct item *it)
{
	return it->spent && !it->kernel;
}

static inline uint64_t item_tag(const struct item *it)
{
	return tag_make(it->gen, it->fd);
}

/* The item of @tag; NULL: there is none any more, or it is no tag. */
static inline struct item *item_by_tag(struct ep *ep, uint64_t tag)
{
	struct item *it = item_find(ep, tag_fd(tag));

	return it && it->used && item_tag(it) == tag ? it : NULL;
}

/* epoll_ctl(@op) with the kernel's item, and @mask for its events; 0 or -errno,
 * and errno is left alone. */
static inline int item_ctl(struct ep *ep, int op, struct item *it, uint32_t mask)
{
	struct epoll_event e = { .events = mask };

	if (it->own) {
		ep_mark(&ep->own);
		e.data = it->data;
	} else {
		e.data.u64 = item_tag(it);
	}
	return tux_sys_epoll_ctl(atomic_load(&ep->fd), op, it->fd, &e);
}

/* There is a waiter that takes @fd in its bell, or -errno.  After this and
 * after item_attach(), the caller calls nest_join(). */
int item_waiter(struct ep *ep, int fd);

/* Watches @s for @it (which takes a reference).  -errno. */
int item_attach(struct ep *ep, struct item *it, struct sock *s);

/* Undoes that. */
void item_detach(struct ep *ep, struct item *it);

/* The sock of @it is a candidate again: undoes that, too, and the kernel has
 * all of the item. */
void item_rest(struct ep *ep, struct item *it);

/* Brings the kernel's item in line with where @it's directions are, of which
 * those in @tcp are the kernel's; @force: even if nothing has changed, so that
 * the kernel looks again. */
void item_sync(struct ep *ep, struct item *it, uint32_t tcp, bool force);

/* @it may be ready: the next look will see, and a sleeper wakes for it.
 * item_again(): and what it sees is an edge. */
void item_again(struct ep *ep, struct item *it);
void item_poke(struct ep *ep, struct item *it);

/* The kernel has @it from now on as the program has registered it, and the
 * preload has it no more.  What was told once, of EPOLLONESHOT, tells errors
 * again. */
void item_give_back(struct ep *ep, struct item *it);

/* Removes @it from the instance, from the kernel's too. */
void item_drop(struct ep *ep, struct item *it);

/* Does the kernel get the program's own data for @fd, which is registered as @e
 * says?  Not where the change to a tag, when it moves, would be seen: of an
 * edge or of a single event the kernel would tell again, and what is exclusive
 * stays as it is.  Nor where the data looks like a tag, nor for a sock that is
 * claimed already. */
static inline bool item_owns(int fd, const struct epoll_event *e)
{
	uint8_t kind = kind_get(fd);
	struct sock *s = fd_peek(fd);

	return !(e->events & EP_HOW) && !tag_is(e->data.u64) &&
	       (s ? atomic_load(&s->stage) != SOCK_CLAIMED :
		    kind == KIND_TCP4 || kind == KIND_TCP6);
}

#endif
