/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client.h"
#include "pair.h"

enum { ENTRIES = 8, PATIENCE = 30000 };

/* The word at @off of the mapped ring. */
static _Atomic uint32_t *word(struct ring *r, uint32_t off)
{
	return (void *)(r->map + off);
}

static size_t map_len(const struct io_uring_params *p)
{
	size_t sq = p->sq_off.array + p->sq_entries * sizeof(uint32_t);
	size_t cq = p->cq_off.cqes +
		    p->cq_entries * sizeof(struct io_uring_cqe);

	return sq > cq ? sq : cq;
}

static void *share(int fd, size_t len, uint64_t at)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, fd, (off_t)at);

	if (p == MAP_FAILED)
		client_fail("mmap of a ring: %s", strerror(errno));
	return p;
}

bool ring_open(struct ring *r, unsigned flags)
{
	memset(r, 0, sizeof(*r));
	r->p.flags = flags;
	r->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &r->p);
	if (r->fd < 0 || !(r->p.features & IORING_FEAT_SINGLE_MMAP))
		return false;
	r->map = share(r->fd, map_len(&r->p), IORING_OFF_SQ_RING);
	r->entries = share(r->fd, r->p.sq_entries * sizeof(*r->entries),
			   IORING_OFF_SQES);
	return true;
}

void ring_close(struct ring *r)
{
	munmap(r->map, map_len(&r->p));
	munmap(r->entries, r->p.sq_entries * sizeof(*r->entries));
	close(r->fd);
}

struct io_uring_sqe *ring_next(struct ring *r)
{
	uint32_t *array = (void *)(r->map + r->p.sq_off.array);
	uint32_t tail = atomic_load(word(r, r->p.sq_off.tail)) + r->waiting++;
	uint32_t at = tail & (r->p.sq_entries - 1);

	array[at] = at;
	memset(&r->entries[at], 0, sizeof(r->entries[at]));
	return &r->entries[at];
}

void ring_submit(struct ring *r)
{
	bool asleep;

	atomic_fetch_add(word(r, r->p.sq_off.tail), r->waiting);
	asleep = atomic_load(word(r, r->p.sq_off.flags)) &
		 IORING_SQ_NEED_WAKEUP;
	if (!(r->p.flags & IORING_SETUP_SQPOLL))
		CHECK(syscall(SYS_io_uring_enter, r->fd, r->waiting, 0, 0, NULL,
			      0) == r->waiting);
	else if (asleep)
		CHECK(syscall(SYS_io_uring_enter, r->fd, r->waiting, 0,
			      IORING_ENTER_SQ_WAKEUP, NULL, 0) >= 0);
	r->waiting = 0;
}

int ring_result(struct ring *r)
{
	struct io_uring_cqe *cqes = (void *)(r->map + r->p.cq_off.cqes);
	_Atomic uint32_t *head = word(r, r->p.cq_off.head);
	double end = pair_ms() + PATIENCE;
	uint32_t at = atomic_load(head);
	int res;

	while (atomic_load(word(r, r->p.cq_off.tail)) == at) {
		if (pair_ms() > end)
			return -ETIME;
		usleep(100);
	}
	res = cqes[at & (r->p.cq_entries - 1)].res;
	atomic_store(head, at + 1);
	return res;
}

static int run(struct ring *r)
{
	ring_submit(r);
	return ring_result(r);
}

void ring_prepare_epoll(struct ring *r, int ep, int op, int fd,
			struct epoll_event *e)
{
	struct io_uring_sqe *s = ring_next(r);

	s->opcode = IORING_OP_EPOLL_CTL;
	s->fd = ep;
	s->off = (uint64_t)fd;
	s->len = (uint32_t)op;
	s->addr = (uintptr_t)e;
}

int ring_epoll(struct ring *r, int ep, int op, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.fd = fd };

	ring_prepare_epoll(r, ep, op, fd, &e);
	return run(r);
}

static int one_byte(struct ring *r, uint8_t opcode, int fd, const char *byte)
{
	struct io_uring_sqe *s = ring_next(r);

	s->opcode = opcode;
	s->fd = fd;
	s->addr = (uintptr_t)byte;
	s->len = 1;
	return run(r);
}

int ring_recv(struct ring *r, int fd, char *byte)
{
	return one_byte(r, IORING_OP_RECV, fd, byte);
}

int ring_send(struct ring *r, int fd, const char *byte)
{
	return one_byte(r, IORING_OP_SEND, fd, byte);
}

void ring_poll(struct ring *r, int fd, unsigned events)
{
	struct io_uring_sqe *s = ring_next(r);

	s->opcode = IORING_OP_POLL_ADD;
	s->fd = fd;
	s->poll32_events = events;
	ring_submit(r);
}
