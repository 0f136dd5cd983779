/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/xsk.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "sys/fd.h"
#include "sys/sys.h"

#ifndef SOL_XDP
#define SOL_XDP 283
#endif

enum {
	/* Newer than some headers: packets that one system call may send in
	 * copy mode, where 32 is the default (Linux 6.17). */
	MAX_TX_SKB_BUDGET = 9,
	SNDBUF = 8 << 20,
	KICKS = 2 * TUX_XSK_TX / 32,	/* at 32 each, twice what there can be */
	RESERVE = 2 * TUX_XSK_BATCH,	/* free frames kept for receiving */
};

/* ---- opening ---- */

static int xsk_set(int fd, int level, int name, uint32_t v)
{
	return tux_sys_setsockopt(fd, level, name, &v, sizeof(v));
}

static int map_ring(struct tux_xsk *x, struct tux_xsk_map *m,
		    const struct xdp_ring_offset *o, uint32_t size,
		    size_t slot, uint64_t at)
{
	size_t len = o->desc + size * slot;
	int saved = errno, err;
	char *p;

	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		 x->fd, (off_t)at);
	err = p == MAP_FAILED ? -errno : 0;
	/* In a child, the mapping alone would keep the socket alive. */
	if (!err)
		madvise(p, len, MADV_DONTFORK);
	errno = saved;
	if (err)
		return err;
	*m = (struct tux_xsk_map){ p, len };
	return 0;
}

static void unmap_ring(struct tux_xsk_map *m)
{
	int saved = errno;

	if (m->p)
		munmap(m->p, m->len);
	errno = saved;
}

static int register_umem(struct tux_xsk *x)
{
	struct xdp_umem_reg reg = {
		.addr = (uintptr_t)x->umem.mem,
		.len = (uint64_t)x->umem.n * TUX_UMEM_CHUNK,
		.chunk_size = TUX_UMEM_CHUNK,
	};

	return tux_sys_setsockopt(x->fd, SOL_XDP, XDP_UMEM_REG, &reg,
				  sizeof(reg));
}

static int size_rings(struct tux_xsk *x, uint32_t rx)
{
	int err;

	err = xsk_set(x->fd, SOL_XDP, XDP_UMEM_FILL_RING, rx);
	if (!err)
		err = xsk_set(x->fd, SOL_XDP, XDP_RX_RING, rx);
	if (!err)
		err = xsk_set(x->fd, SOL_XDP, XDP_UMEM_COMPLETION_RING,
			      TUX_XSK_TX);
	if (!err)
		err = xsk_set(x->fd, SOL_XDP, XDP_TX_RING, TUX_XSK_TX);
	return err;
}

/* A ring begins empty: all its slots are free for the producer. */
static void set_prod(struct xsk_ring_prod *r, const struct tux_xsk_map *m,
		     const struct xdp_ring_offset *o, uint32_t size)
{
	*r = (struct xsk_ring_prod){
		.cached_cons = size, .mask = size - 1, .size = size,
		.producer = (void *)(m->p + o->producer),
		.consumer = (void *)(m->p + o->consumer),
		.flags = (void *)(m->p + o->flags), .ring = m->p + o->desc,
	};
}

static void set_cons(struct xsk_ring_cons *r, const struct tux_xsk_map *m,
		     const struct xdp_ring_offset *o, uint32_t size)
{
	*r = (struct xsk_ring_cons){
		.mask = size - 1, .size = size,
		.producer = (void *)(m->p + o->producer),
		.consumer = (void *)(m->p + o->consumer),
		.flags = (void *)(m->p + o->flags), .ring = m->p + o->desc,
	};
}

static int map_rings(struct tux_xsk *x, uint32_t rx)
{
	struct xdp_mmap_offsets o;
	socklen_t len = sizeof(o);
	size_t desc = sizeof(struct xdp_desc), addr = sizeof(uint64_t);
	struct tux_xsk_map *m = x->map;
	int err;

	err = tux_sys_getsockopt(x->fd, SOL_XDP, XDP_MMAP_OFFSETS, &o, &len);
	if (err < 0 || len != sizeof(o))
		return err < 0 ? err : -EPROTO;
	err = map_ring(x, &m[0], &o.rx, rx, desc, XDP_PGOFF_RX_RING);
	if (!err)
		err = map_ring(x, &m[1], &o.tx, TUX_XSK_TX, desc,
			       XDP_PGOFF_TX_RING);
	if (!err)
		err = map_ring(x, &m[2], &o.fr, rx, addr,
			       XDP_UMEM_PGOFF_FILL_RING);
	if (!err)
		err = map_ring(x, &m[3], &o.cr, TUX_XSK_TX, addr,
			       XDP_UMEM_PGOFF_COMPLETION_RING);
	if (err)
		return err;
	set_cons(&x->rx, &m[0], &o.rx, rx);
	set_prod(&x->tx, &m[1], &o.tx, TUX_XSK_TX);
	set_prod(&x->fill, &m[2], &o.fr, rx);
	set_cons(&x->comp, &m[3], &o.cr, TUX_XSK_TX);
	return 0;
}

static uint32_t min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Gives the kernel @n frames, or as many as there are. */
static void refill(struct tux_xsk *x, uint32_t n)
{
	struct xsk_ring_prod *r = &x->fill;
	uint32_t i, at = 0;

	n = min(n, min(x->umem.free_n, xsk_prod_nb_free(r, n)));
	xsk_ring_prod__reserve(r, n, &at);
	for (i = 0; i < n; i++)
		*xsk_ring_prod__fill_addr(r, at + i) = (uint64_t)TUX_UMEM_CHUNK *
			tux_umem_get(&x->umem, TUX_UMEM_FILL);
	xsk_ring_prod__submit(r, n);
}

static int bind_queue(struct tux_xsk *x, unsigned ifindex, uint32_t queue,
		      uint16_t how)
{
	struct sockaddr_xdp at = {
		.sxdp_family = AF_XDP,
		.sxdp_flags = how | XDP_USE_NEED_WAKEUP,
		.sxdp_ifindex = ifindex,
		.sxdp_queue_id = queue,
	};

	return tux_sys_bind(x->fd, &at, sizeof(at));
}

/* Sets `zerocopy` to what the driver does.  -EOPNOTSUPP: it copies instead. */
static int check_mode(struct tux_xsk *x, uint16_t how)
{
	struct xdp_options o = { 0 };
	socklen_t len = sizeof(o);

	if (tux_sys_getsockopt(x->fd, SOL_XDP, XDP_OPTIONS, &o, &len) < 0)
		return 0;
	x->zerocopy = o.flags & XDP_OPTIONS_ZEROCOPY;
	return how & XDP_ZEROCOPY && !x->zerocopy ? -EOPNOTSUPP : 0;
}

static int xsk_open_all(struct tux_xsk *x, uint32_t frames)
{
	int err;

	x->fd = tux_fd_lift(tux_sys_socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
	if (x->fd < 0)
		return x->fd;
	err = tux_umem_init(&x->umem, frames);
	if (err)
		return err;
	err = register_umem(x);
	if (!err)
		err = size_rings(x, frames / 2);
	if (!err)
		err = map_rings(x, frames / 2);
	if (err)
		return err;
	refill(x, frames / 2);
	/* What these refuse is only slower. */
	xsk_set(x->fd, SOL_XDP, MAX_TX_SKB_BUDGET, TUX_XSK_TX);
	xsk_set(x->fd, SOL_SOCKET, SO_SNDBUF, SNDBUF);
	xsk_set(x->fd, SOL_SOCKET, SO_SNDBUFFORCE, SNDBUF);
	return 0;
}

int tux_xsk_open(struct tux_xsk *x, uint32_t frames)
{
	int err;

	memset(x, 0, sizeof(*x));
	err = xsk_open_all(x, frames);
	if (err)
		tux_xsk_close(x);
	return err;
}

int tux_xsk_bind(struct tux_xsk *x, unsigned ifindex, uint32_t queue,
		 uint16_t how)
{
	int err = bind_queue(x, ifindex, queue, how);

	return err ? err : check_mode(x, how);
}

void tux_xsk_close(struct tux_xsk *x)
{
	unsigned i;

	/* The mappings keep a socket as alive as descriptors do. */
	for (i = 0; i < TUX_XSK_RINGS; i++)
		unmap_ring(&x->map[i]);
	tux_fd_close(x->fd);
	tux_umem_fini(&x->umem);
	memset(x, 0, sizeof(*x));
	x->fd = -1;
}

void tux_xsk_forked(struct tux_xsk *x)
{
	tux_fd_close(x->fd);
	x->fd = -1;
}

/* One thread counts. */
static void moved(_Atomic uint64_t *sum, uint64_t n)
{
	atomic_store_explicit(sum, atomic_load_explicit(sum,
			      memory_order_relaxed) + n, memory_order_relaxed);
}

/* ---- receiving ---- */

/* Gives the kernel a free frame for each one that it has filled, before the caller
 * uses these.  So half of all frames are always the kernel's to receive into,
 * however long the others are in use, and rx has a slot for each of them. */
unsigned tux_xsk_rx(struct tux_xsk *x, struct tux_xsk_frame *f, unsigned max)
{
	struct xsk_ring_cons *r = &x->rx;
	uint32_t i, at = 0, n = xsk_ring_cons__peek(r, max, &at);
	uint64_t bytes = 0;

	while (x->held_n > 0)
		tux_umem_pass(&x->umem, x->held[--x->held_n], TUX_UMEM_HELD,
			      TUX_UMEM_FREE);
	if (!n)
		return 0;
	for (i = 0; i < n; i++) {
		const struct xdp_desc *d = xsk_ring_cons__rx_desc(r, at + i);
		uint16_t frame = (uint16_t)(d->addr / TUX_UMEM_CHUNK);

		tux_umem_pass(&x->umem, frame, TUX_UMEM_FILL, TUX_UMEM_HELD);
		x->held[i] = frame;
		f[i].p = x->umem.mem + d->addr;
		f[i].len = d->len;
		bytes += d->len;
	}
	x->held_n = n;
	moved(&x->moved.rx, n);
	moved(&x->moved.rx_bytes, bytes);
	xsk_ring_cons__release(r, n);
	refill(x, n);
	if (xsk_ring_prod__needs_wakeup(&x->fill)) {
		x->did.nudges++;
		tux_sys_recv(x->fd, NULL, 0, MSG_DONTWAIT);
	}
	return n;
}

/* ---- sending ---- */

static void reap(struct tux_xsk *x)
{
	struct xsk_ring_cons *r = &x->comp;
	uint32_t i, at = 0, n = xsk_ring_cons__peek(r, r->size, &at);

	for (i = 0; i < n; i++) {
		uint64_t addr = *xsk_ring_cons__comp_addr(r, at + i);

		tux_umem_pass(&x->umem, (uint16_t)(addr / TUX_UMEM_CHUNK),
			      TUX_UMEM_SENT, TUX_UMEM_FREE);
	}
	if (n)
		xsk_ring_cons__release(r, n);
}

/* Room for one more in tx, and a frame that refill() can do without? */
static bool can_build(struct tux_xsk *x)
{
	return x->umem.free_n > RESERVE && xsk_prod_nb_free(&x->tx, 2) >= 2;
}

uint16_t tux_xsk_build(struct tux_xsk *x)
{
	if (!can_build(x)) {
		reap(x);
		if (!can_build(x))
			return TUX_UMEM_NONE;
	}
	return tux_umem_get(&x->umem, TUX_UMEM_BUILT);
}

void tux_xsk_send(struct tux_xsk *x, uint16_t f, size_t off, size_t len)
{
	uint32_t at = 0, got = xsk_ring_prod__reserve(&x->tx, 1, &at);
	struct xdp_desc *d = xsk_ring_prod__tx_desc(&x->tx, at);

	assert(got == 1 && "tux_xsk_build() saw that there was room");
	(void)got;
	x->queued++;
	d->addr = (uint64_t)f * TUX_UMEM_CHUNK + off;
	d->len = (uint32_t)len;
	d->options = 0;
	moved(&x->moved.tx, 1);
	moved(&x->moved.tx_bytes, len);
	tux_umem_pass(&x->umem, f, TUX_UMEM_BUILT, TUX_UMEM_SENT);
}

/* There was no room, or no time, for all; anything else is an error. */
static bool is_short(long r)
{
	return r >= 0 || r == -EAGAIN || r == -EBUSY || r == -ENOBUFS ||
	       r == -EINTR;
}

/* How many slots the kernel has not taken yet. */
static uint32_t pending(struct xsk_ring_prod *r)
{
	return r->size - xsk_prod_nb_free(r, r->size);
}

/* In copy mode nothing is sent but by this call, and it may stop early: after
 * so many packets, or for want of memory or of room in comp.  As long as it
 * gets on, it is called again. */
int tux_xsk_kick(struct tux_xsk *x)
{
	uint32_t left, before = UINT32_MAX;
	unsigned i;
	long r;

	if (!x->queued && x->all_sent)
		return 0;
	xsk_ring_prod__submit(&x->tx, x->queued);
	x->queued = 0;
	x->all_sent = false;
	for (i = 0; i < KICKS; i++) {
		left = pending(&x->tx);
		x->all_sent = !left;
		if (!left || !xsk_ring_prod__needs_wakeup(&x->tx))
			return 0;
		x->did.again += i > 0;
		if (left == before)
			return -EAGAIN;
		before = left;
		x->did.kicks++;
		r = tux_sys_send(x->fd, NULL, 0, MSG_DONTWAIT);
		reap(x);
		if (!is_short(r))
			return (int)r;
		if (r >= 0 && x->zerocopy)
			return 0;
	}
	return -EAGAIN;
}

/* ---- counting ---- */

void tux_xsk_moved(const struct tux_xsk *x, struct tux_tally *t)
{
	t->rx += x->moved.rx;
	t->tx += x->moved.tx;
	t->rx_bytes += x->moved.rx_bytes;
	t->tx_bytes += x->moved.tx_bytes;
}

/* How many slots the kernel has ever filled. */
static uint32_t produced(const struct xsk_ring_cons *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
}

/* Not xsk_cons_nb_avail(), which reads `producer` only if it knows of none. */
static uint32_t arrived(const struct xsk_ring_cons *r)
{
	return produced(r) - r->cached_cons;
}

void tux_xsk_seen(const struct tux_xsk *x, uint64_t *left, uint64_t *came)
{
	*left += produced(&x->comp);
	*came += produced(&x->rx);
}

static void count_kernel(const struct tux_xsk *x, struct tux_tally *t)
{
	struct xdp_statistics s = { 0 };
	socklen_t len = sizeof(s);

	if (tux_sys_getsockopt(x->fd, SOL_XDP, XDP_STATISTICS, &s, &len) < 0)
		return;
	t->dropped += s.rx_dropped + s.rx_ring_full;
	t->starved += s.rx_fill_ring_empty_descs;
	t->invalid += s.rx_invalid_descs + s.tx_invalid_descs;
}

void tux_xsk_count(struct tux_xsk *x, struct tux_tally *t)
{
	reap(x);
	t->queues++;
	t->zerocopy += x->zerocopy;
	t->frames += x->umem.n;
	t->free += x->umem.free_n;
	t->fill += pending(&x->fill) + arrived(&x->rx);
	t->held += x->held_n;
	t->built += tux_umem_count(&x->umem, TUX_UMEM_BUILT);
	t->sent += tux_umem_count(&x->umem, TUX_UMEM_SENT);
	tux_xsk_moved(x, t);
	t->kicks += x->did.kicks;
	t->again += x->did.again;
	t->nudges += x->did.nudges;
	count_kernel(x, t);
}
