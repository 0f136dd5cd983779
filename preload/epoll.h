/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll - epoll instances that hold kernel descriptors and Tux sockets alike
 *
 * Each instance that was made through us has a `struct ep` beside the kernel's
 * one.  For a TCP socket that is not claimed, the kernel has the program's own
 * data, and the item is there for the claim.  A connection that was left to the
 * kernel (kind_left) has no item, unless it was registered before with a tag.
 * Every other descriptor is registered with a tag, which the hook replaces by the
 * program's data when it is reported; so is a TCP socket where the change to a tag
 * would be seen (item_owns).
 *
 * For a sock there is a watch besides: its rings come through the instance's bell
 * into the list `ready`, where the levels are looked at again by every
 * epoll_wait(), as the kernel does with its own list; and the kernel's item keeps
 * only the directions that are still on TCP.
 *
 * A registration that the program made past the preload is foreign: it, too,
 * carries the program's data, and its events are handed on unchanged.
 *
 * An instance that holds no sock and no other instance (ep_plain) is the kernel's
 * alone but for the tags.
 *
 * Latches are taken in this order: the table's, an instance's, that of an
 * instance inside it, a sock's.
 */
#ifndef TUX_PRELOAD_EPOLL_H
#define TUX_PRELOAD_EPOLL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/latch.h"
#include "base/list.h"
#include "base/time.h"
#include "edge.h"
#include "fd.h"
#include "kind.h"
#include "ready.h"
#include "sock.h"
#include "sys/alone.h"
#include "sys/sys.h"

#ifndef EPOLLEXCLUSIVE
#define EPOLLEXCLUSIVE (1u << 28)
#endif

/* Bits of `events` that say how, not what. */
#define EP_HOW (EPOLLET | EPOLLONESHOT | EPOLLWAKEUP | EPOLLEXCLUSIVE)

enum {
	ITEM_CHUNK = 256,	/* items that are mapped at once */
	EP_CHUNKS = FD_MAX / ITEM_CHUNK,
};

/*
 * A tag: 16 bits that say that it is one, the number of the registration, the
 * descriptor.  The first 16 bits are "10" and 14 random ones.  No address and no
 * small number begins like that, so the program's own data is never a tag.
 */
enum { TAG_FD_BITS = 20, TAG_GEN_BITS = 28 };

_Static_assert(FD_MAX == 1 << TAG_FD_BITS, "a tag holds any descriptor");

/* Registration 0 of a descriptor of the preload's own; see ep_kick() and
 * nest_join(). */
#define TAG_PRIVATE 0u

struct item {			/* one descriptor in one instance */
	struct tux_list ready;	/* in ep->ready, or alone */
	struct watch watch;
	_Atomic uint32_t queued;	/* for the watch */
	struct sock *sock;	/* with a reference; NULL: the kernel's alone */
	epoll_data_t data;	/* the application's */
	uint32_t events;	/* the application's */
	uint32_t mask;		/* the events of the kernel's item */
	uint32_t tcp;		/* what only the kernel can say, lately */
	uint32_t gen;		/* number of this registration, in the tag */
	uint32_t seq;		/* of the look that reported it last ... */
	int slot;		/* ... and where */
	int fd;
	struct edge edge;	/* if edge-triggered */
	bool used;
	bool kernel;		/* the kernel has an item */
	bool spent;		/* EPOLLONESHOT: until the next MOD */
	bool again;		/* ADD or MOD: what there is is an edge */
	bool on_ring;		/* counted in ep->on_ring */
	bool stale;		/* closed; the kernel may know a copy */
	bool own;		/* the kernel has the program's data, no tag */
	bool nest;		/* an instance inside this one */
};

struct ep {
	_Atomic uint32_t refs;	/* descriptors, and calls inside */
	/* Protects what follows `joined`, and the items.  It is never cleared:
	 * after ep_lock_fd() has looked, the struct may become another
	 * instance's, and the call still takes its latch. */
	struct tux_latch latch;
	/* The kernel has the program's data for some descriptors, or had; and
	 * tells events once only of some that have no item.  They are set
	 * without the latch, and so not cleared with what follows. */
	_Atomic bool own, once;
	/* The same holds for these, which are looked at without it. */
	_Atomic uint32_t socks;	/* items with a sock, and instances inside */
	_Atomic int fd;		/* one of the descriptors */
	uint32_t fds;		/* descriptors; under the table's latch */
	_Atomic uint32_t nests;	/* of `socks`, instances inside */
	_Atomic uint32_t on_ring;	/* items with a direction on a ring */
	_Atomic tux_time polled_at;	/* when the kernel was asked last */
	_Atomic bool found;	/* it had something then */
	_Atomic bool flip;	/* whose turn it is, if there is one place */
	_Atomic bool nested;	/* somebody polls this instance's descriptor */
	bool belled;		/* w.fd is registered with the kernel's */
	_Atomic bool joined;	/* ... and says what a look would find */
	_Atomic uint32_t quiet;	/* waits in a row with all socks on TCP */
	bool leader;		/* a thread sleeps on `w` */
	int kick;		/* an eventfd, or -1 */
	uint32_t seq;		/* counts looks */
	tux_time kick_until;
	struct tux_list ready;	/* items */
	struct tux_list sleepers;	/* threads behind the leader */
	struct tux_waiter w;	/* w.bell is NULL until there is a sock */
	struct item *_Atomic chunk[EP_CHUNKS];
	struct ep *next;	/* of all live ones, or of the free ones */
};

static inline void ep_lock(struct ep *ep)
{
	tux_alone_take(&ep->latch);
}

static inline void ep_unlock(struct ep *ep)
{
	tux_latch_drop(&ep->latch);
}

/* Nothing in it concerns Tux. */
static inline bool ep_plain(struct ep *ep)
{
	return !atomic_load(&ep->socks);
}

/* ---- epoll.c: instances ----------------------------------------------- */

extern struct ep *_Atomic ep_table[FD_MAX];

/* The instance of @fd, which may be closed or recycled at any moment, or NULL:
 * not one of ours. */
static inline struct ep *ep_peek(int fd)
{
	return (unsigned)fd < FD_MAX ?
	       atomic_load_explicit(&ep_table[fd], memory_order_acquire) : NULL;
}

/* Numbers that instances of ours have had: from the lower half of it on, and
 * below the upper half.  0: there was none yet. */
extern _Atomic uint64_t ep_range;

/* The same with a reference. */
struct ep *ep_get(int fd);
void ep_put(struct ep *ep);

/*
 * The same with its latch held, and no reference.  Once the latch is held,
 * ep_table[@fd] decides: if it still has the instance, the close of the last
 * descriptor has yet to clear it, and then waits for the latch in strip().  If it
 * has not, the instance may be closed, free, or another descriptor's by now.
 */
static inline struct ep *ep_lock_fd(int fd)
{
	struct ep *ep;

	while ((ep = ep_peek(fd))) {
		ep_lock(ep);
		if (ep_peek(fd) == ep)
			return ep;
		ep_unlock(ep);
	}
	return NULL;
}

/* Takes a reference to @ep, which ep_put() gives back.  The caller holds the
 * latch of @ep. */
static inline void ep_keep(struct ep *ep)
{
	atomic_fetch_add(&ep->refs, 1);
}

/* The kernel has just made instance @fd.  -ENOMEM. */
int ep_new(int fd);

/* One more instance holds @fd; one less. */
void ep_hold(int fd);
void ep_unhold(int fd);

/* ---- epoll_item.c: items (all under the instance's latch) ------------- */

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

/* Is @it of a descriptor that is open, as far as is known?  Then it is counted by
 * ep_hold(). */
static inline bool item_held(const struct item *it)
{
	return it->used && !it->stale;
}

/* How tags begin.  tag_init() sets it before there is an instance. */
extern uint64_t tag_magic;
void tag_init(void);

static inline uint64_t tag_make(uint32_t gen, int fd)
{
	return (tag_magic << TAG_GEN_BITS |
		(gen & ((1u << TAG_GEN_BITS) - 1))) << TAG_FD_BITS |
	       (uint32_t)fd;
}

/* Is @data a tag?  If not, it is the program's.  There are none before the first
 * instance. */
static inline bool tag_is(uint64_t data)
{
	return tag_magic && data >> (TAG_GEN_BITS + TAG_FD_BITS) == tag_magic;
}

static inline int tag_fd(uint64_t tag)
{
	return (int)(tag & (FD_MAX - 1));
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

/* Sets ep->own or ep->once. */
static inline void ep_mark(_Atomic bool *mark)
{
	if (!atomic_load_explicit(mark, memory_order_relaxed))
		atomic_store(mark, true);
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

/* There is a waiter that takes @fd in its bell, or -errno. */
int item_waiter(struct ep *ep, int fd);

/* Watches @s for @it (which takes a reference).  -errno. */
int item_attach(struct ep *ep, struct item *it, struct sock *s);

/* Undoes that. */
void item_detach(struct ep *ep, struct item *it);

/* The sock of @it is a candidate again: undoes that, too, and the kernel has all of
 * the item. */
void item_rest(struct ep *ep, struct item *it);

/* Brings the kernel's item in line with where @it's directions are, of which
 * those in @tcp are the kernel's; @force: even if nothing has changed, so that
 * the kernel looks again. */
void item_sync(struct ep *ep, struct item *it, uint32_t tcp, bool force);

/* @it may be ready: the next look will see, and a sleeper wakes for it.
 * item_again(): and what it sees is an edge. */
void item_again(struct ep *ep, struct item *it);
void item_poke(struct ep *ep, struct item *it);

/* Removes @it from the instance, from the kernel's too. */
void item_drop(struct ep *ep, struct item *it);

/* Does the kernel get the program's own data for @fd, which is registered as @e
 * says?  Not where the change to a tag, when it moves, would be seen: of an edge
 * or of a single event the kernel would tell again, and what is exclusive stays
 * as it is.  Nor where the data looks like a tag, nor for a sock that is claimed
 * already. */
static inline bool item_owns(int fd, const struct epoll_event *e)
{
	uint8_t kind = kind_get(fd);
	struct sock *s = fd_peek(fd);

	return !(e->events & EP_HOW) && !tag_is(e->data.u64) &&
	       (s ? atomic_load(&s->stage) != SOCK_CLAIMED :
		    kind == KIND_TCP4 || kind == KIND_TCP6);
}

/* ---- epoll_ctl.c ------------------------------------------------------ */

/* epoll_ctl() on @ep.  0 or -errno.  The caller holds the latch of @ep; it is
 * dropped here. */
int ep_ctl(struct ep *ep, int op, int fd, struct epoll_event *e);

/* ---- epoll_look.c ----------------------------------------------------- */

struct look {			/* one epoll_wait() */
	struct ep *ep;
	int fd;			/* the descriptor it was called with */
	struct epoll_event *evs;
	int max;
	tux_time first;		/* how long the caller asked to wait; then NEVER */
	tux_time until;		/* the instant of that; 0: do not wait */
	const sigset_t *mask;
	uint32_t seq;		/* 0 until it looks */
	int n;			/* events in evs */
	bool half;		/* of one of them the kernel knows more */
};

/* Takes what rings into the list of ready items (latch held). */
void look_drain(struct ep *ep);

/* Items of the list that are ready, up to @max events in all. */
void look_rings(struct look *l, int max);

/* Makes @k events that the kernel put at evs + n the application's: those that
 * are not for it are left out. */
void look_translate(struct look *l, int k);

/* Are the @k events that the kernel told of @fd, an instance or none, all as
 * the program registered them?  All tags have the highest bit, which is soon
 * seen. */
static inline bool look_is_own(int fd, const struct epoll_event *evs, int k)
{
	struct ep *ep = ep_peek(fd);
	uint64_t any = 0;

	for (int i = 0; i < k; i++)
		any |= evs[i].data.u64;
	return !(any >> 63) &&
	       (!ep || atomic_load_explicit(&ep->own, memory_order_relaxed));
}

/* What look_translate() does, for @k events of an instance without socks, by
 * its descriptor @fd: how many are for the application.  It was closed: -EBADF. */
int look_direct(int fd, struct epoll_event *evs, int k);

/* Is any item of the list ready?  Drops those that are not (latch held). */
bool look_any(struct ep *ep);

/* The same, once the bell has filled the list. */
bool look_finds(struct ep *ep);

/* Would the kernel report anything for the application now?  (latch held) */
bool look_peek(struct ep *ep);

/* ---- epoll_nest.c: an instance that is itself polled ------------------ */

/* From now on the descriptor of @ep is readable while a look at @ep would find
 * something. */
void nest_begin(struct ep *ep);

/* Has the kernel's instance watch the eventfd of @ep, which is there.  False: it
 * does not.  nest_unbell(): no longer, unless others poll the instance.  (latch
 * held) */
bool nest_bell(struct ep *ep);
void nest_unbell(struct ep *ep);

/* The eventfd of @ep is there: has the kernel's instance watch it, if need be
 * (latch held). */
void nest_join(struct ep *ep);

/* Makes that eventfd say whether a look would find something (latch held). */
void nest_settle(struct ep *ep);

/* Has it say nothing while a look is under way, except to a thread that sleeps
 * on it. */
void nest_hush(struct ep *ep);

/* @fd is about to be polled.  Is it an instance that holds socks? */
bool nest_polled(int fd);

/* Readable, says the kernel of @fd, an instance; is it true? */
bool nest_true(int fd);

/* ---- epoll_wait.c ----------------------------------------------------- */

/* Threads may sleep in the kernel's epoll_wait() while the first sock comes
 * into @ep: has them look again (latch held). */
void ep_kick(struct ep *ep);

/* epoll_wait() on instance @fd, which another thread may have closed meanwhile:
 * waits for @ns (TUX_NEVER: without end), with @mask in force (NULL: the thread's
 * own).  As the call of libc, with errno. */
int ep_wait(int fd, struct epoll_event *evs, int max, tux_time ns,
	    const sigset_t *mask);

#endif
