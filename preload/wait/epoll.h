/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll - epoll instances that hold kernel descriptors and Tux sockets alike
 *
 * Each instance that was made through us has a `struct ep` beside the kernel's
 * one.  For a TCP socket that is not claimed, the kernel has the program's own
 * data, and the item is there for the claim.  A connection that was left to the
 * kernel (kind_left) has no item, unless it was registered before with a tag.
 * Every other descriptor is registered with a tag, which the hook replaces by
 * the program's data when it is reported; so is a TCP socket where the change
 * to a tag would be seen (item_owns).
 *
 * For a sock there is a watch besides: its rings come through the instance's
 * bell into the list `ready`, where the levels are looked at again by every
 * epoll_wait(), as the kernel does with its own list; and the kernel's item
 * keeps only the directions that are still on TCP.
 *
 * A registration that the program made past the preload is foreign: it, too,
 * carries the program's data, and its events are handed on unchanged.
 *
 * An instance that holds no sock and no other instance (ep_plain) is the
 * kernel's alone but for the tags.
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
#include "sock/fd.h"
#include "sock/kind.h"
#include "sock/ready.h"
#include "sock/sock.h"
#include "sys/alone.h"
#include "sys/sys.h"
#include "wait/edge.h"

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
 * descriptor.  The first 16 bits are "10" and 14 random ones.  No address and
 * no small number begins like that, so the program's own data is never a tag.
 */
enum { TAG_FD_BITS = 20, TAG_GEN_BITS = 28 };

_Static_assert(FD_MAX == 1 << TAG_FD_BITS, "a tag holds any descriptor");

/* Registration 0 of a descriptor of the preload's own; see kick_sleepers() and
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
	_Atomic uint32_t plain_waits;	/* waits in a row with all socks on TCP */
	bool leader;		/* a thread sleeps on `w` */
	bool inherited;		/* the kernel's is its parent's, too */
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

/* ---- tags ------------------------------------------------------------- */

/* How tags begin, from the first instance on. */
extern uint64_t tag_magic;

static inline uint64_t tag_make(uint32_t gen, int fd)
{
	return (tag_magic << TAG_GEN_BITS |
		(gen & ((1u << TAG_GEN_BITS) - 1))) << TAG_FD_BITS |
	       (uint32_t)fd;
}

/* Is @data a tag?  If not, it is the program's.  There are none before the
 * first instance. */
static inline bool tag_is(uint64_t data)
{
	return tag_magic && data >> (TAG_GEN_BITS + TAG_FD_BITS) == tag_magic;
}

static inline int tag_fd(uint64_t tag)
{
	return (int)(tag & (FD_MAX - 1));
}

/* ---- instances -------------------------------------------------------- */

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
 * descriptor has yet to clear it, and then waits for the latch in strip().  If
 * it has not, the instance may be closed, free, or another descriptor's by now.
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

/* The kernel has just made instance @fd, of which nothing is known.
 * -ENOMEM. */
int ep_new(int fd);

/* Descriptor @fd of @ep is new.  If another thread has closed the last one
 * meanwhile, @ep has ended, and @fd stays unknown. */
void ep_duped(struct ep *ep, int fd);

/* Descriptor @fd of an instance, or of none, goes.  If it was the last one,
 * @strip ends the instance's watches; the kernel drops its items itself. */
void ep_close(int fd, void (*strip)(struct ep *ep));

/* No descriptor names @ep any more, which is the kernel's alone.  It is kept,
 * since threads may be inside (latch held). */
void ep_vanish(struct ep *ep);

/* One more instance holds @fd; one less; does any? */
void ep_hold(int fd);
void ep_unhold(int fd);
bool ep_held(int fd);

/* Calls @fn for all instances, one by one, with the latch of the instance
 * held. */
void ep_each(void (*fn)(struct ep *ep, void *arg), void *arg);

/* Sets ep->own or ep->once. */
static inline void ep_mark(_Atomic bool *mark)
{
	if (!atomic_load_explicit(mark, memory_order_relaxed))
		atomic_store(mark, true);
}

/* In a child, right after fork. */
void ep_forked(void);

#endif
