/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/queues.h"

#include "sys/sys.h"

void tux_queues_init(struct tux_queues *q, struct tux_nic *nic, unsigned loop,
		     int epfd, uint64_t tag)
{
	*q = (struct tux_queues){
		.nic = nic, .loop = loop, .frame = TUX_UMEM_NONE,
		.epfd = epfd, .tag = tag,
	};
}

/* The number of the loop's queue @i, counted from 0. */
static uint32_t queue_number(const struct tux_queues *q, uint32_t i)
{
	return q->loop + i * q->shares;
}

static struct tux_xsk *queue_at(const struct tux_queues *q, uint32_t i)
{
	return &q->nic->xsk[queue_number(q, i)];
}

/* ---- taking and leaving ---- */

static void watch_rest(const struct tux_queues *q, int op)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = q->tag };
	uint32_t i;

	for (i = TUX_LINK_FDS; i < q->n; i++)
		tux_sys_epoll_ctl(q->epfd, op, queue_at(q, i)->fd, &e);
}

/* Frees the frame that was taken and not sent. */
static void drop_frame(struct tux_queues *q)
{
	if (q->frame != TUX_UMEM_NONE)
		tux_umem_pass(&q->nic->xsk[q->queue].umem, q->frame,
			      TUX_UMEM_BUILT, TUX_UMEM_FREE);
	q->frame = TUX_UMEM_NONE;
}

void tux_queues_leave(struct tux_queues *q)
{
	drop_frame(q);
	watch_rest(q, EPOLL_CTL_DEL);
	q->shares = q->n = q->next = 0;
	tux_shares_put(&q->nic->shares, q->loop);
}

bool tux_queues_look(struct tux_queues *q)
{
	uint32_t had = q->n;

	if (q->shares == tux_shares_n(&q->nic->shares))
		return false;
	tux_queues_leave(q);
	q->shares = tux_shares_get(&q->nic->shares, q->loop);
	if (q->loop < q->shares)
		q->n = (q->nic->n - q->loop + q->shares - 1) / q->shares;
	watch_rest(q, EPOLL_CTL_ADD);
	return had || q->n;
}

unsigned tux_queues_fds(const struct tux_queues *q, int fd[TUX_LINK_FDS])
{
	unsigned i, n = q->n < TUX_LINK_FDS ? q->n : TUX_LINK_FDS;

	for (i = 0; i < n; i++)
		fd[i] = queue_at(q, i)->fd;
	return n;
}

/* ---- receiving ---- */

static unsigned queue_rx(struct tux_queues *q, uint32_t i, struct tux_dgram *d,
			 unsigned n)
{
	struct tux_xsk_frame f[TUX_XSK_BATCH];
	unsigned j, got;

	got = tux_xsk_rx(queue_at(q, i), f, TUX_LINK_BATCH - n);
	for (j = 0; j < got; j++) {
		struct tux_eth_view v;

		if (tux_eth_parse(&v, f[j].p, f[j].len))
			continue;
		d[n++] = (struct tux_dgram){
			.from = v.from, .p = v.p, .len = v.len, .ecn = v.ecn,
			.queue = (int)queue_number(q, i),
		};
	}
	return n;
}

unsigned tux_queues_rx(struct tux_queues *q, struct tux_dgram d[TUX_LINK_BATCH])
{
	unsigned n = 0;
	uint32_t i;

	for (i = 0; i < q->n && n < TUX_LINK_BATCH; i++)
		n = queue_rx(q, (q->next + i) % q->n, d, n);
	if (n == TUX_LINK_BATCH)
		q->next = (q->next + i) % q->n;
	return n;
}

/* ---- sending ---- */

uint32_t tux_queues_near(const struct tux_queues *q, uint32_t queue)
{
	bool own = q->shares == 1 || queue % q->shares == q->loop;

	return own && queue < q->nic->tx_n ? queue : q->loop;
}

/* A frame of the same queue that was taken and not sent is used again. */
uint8_t *tux_queues_tx(struct tux_queues *q, uint32_t queue)
{
	struct tux_xsk *x = &q->nic->xsk[queue];

	if (q->frame != TUX_UMEM_NONE && q->queue != queue)
		drop_frame(q);
	if (q->frame == TUX_UMEM_NONE) {
		q->queue = queue;
		q->frame = tux_xsk_build(x);
		if (q->frame == TUX_UMEM_NONE)
			return NULL;
	}
	return tux_umem_at(&x->umem, q->frame) + TUX_ETH_ROOM;
}

void tux_queues_send(struct tux_queues *q, size_t len,
		     const struct tux_eth_macs *m, const struct tux_addr *from,
		     const struct tux_addr *to, uint8_t ecn)
{
	struct tux_xsk *x = &q->nic->xsk[q->queue];
	uint8_t *p = tux_umem_at(&x->umem, q->frame) + TUX_ETH_ROOM;
	size_t head = tux_eth_build(p, len, m, from, to, ecn);

	tux_xsk_send(x, q->frame, TUX_ETH_ROOM - head, head + len);
	q->frame = TUX_UMEM_NONE;
}

bool tux_queues_flush(struct tux_queues *q)
{
	bool all = true;
	uint32_t i;

	for (i = 0; i < q->n && queue_number(q, i) < q->nic->tx_n; i++)
		all &= !tux_xsk_kick(queue_at(q, i));
	return all;
}
