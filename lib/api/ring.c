/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/ring.h"

#include <liburing.h>
#include <stdlib.h>

#include "sys/fd.h"
#include "sys/sys.h"

enum {
	ENTRIES = 8,			/* each call is submitted at once */
	TRIES = 16,			/* while the kernel lacks something */
	RESTART_FIRST = 512,		/* the kernel's own: a signal came */
	RESTART_LAST = 516,
};

struct tux_ring {
	struct io_uring u;
	bool tried, open;
	bool broken;			/* it submits nothing any more */
	unsigned busy;			/* calls under way */
};

/* On the stack of the routine, which waits until it is over. */
struct request {
	struct tux_routine *r;
	int32_t ret;
	bool over;
};

/* ---- the ring ---- */

int tux_api_ring_init(struct tux *t)
{
	t->ring = calloc(1, sizeof(*t->ring));
	return t->ring ? 0 : -ENOMEM;
}

/* Linux 5.15.  The limits belong to the thread, which may have a ring of its own, or run
 * several stacks: they are only raised. */
static int allow_workers(struct io_uring *u, unsigned n)
{
	unsigned most[2] = { n, 0 };	/* 0: as it is */
	int err = io_uring_register_iowq_max_workers(u, most);

	if (!err && most[0] > n)	/* it was */
		err = io_uring_register_iowq_max_workers(u, most);
	return err;
}

static void ring_end(struct io_uring *u)
{
	int fd = u->ring_fd;

	u->ring_fd = -1;
	io_uring_queue_exit(u);
	tux_fd_close(fd);
}

/* There is room for the completions of all routines, and a worker for each. */
static int ring_open(struct tux *t, struct io_uring *u)
{
	unsigned n = tux_sched_routines_max(t->sched);
	struct io_uring_params p = {
		.flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
		.cq_entries = n < ENTRIES ? ENTRIES : n,
	};
	struct epoll_event e = { .events = EPOLLIN };
	int err = io_uring_queue_init_params(ENTRIES, u, &p);

	if (err)
		return err;
	u->ring_fd = u->enter_ring_fd = tux_fd_lift(u->ring_fd);
	err = io_uring_ring_dontfork(u);
	if (!err)
		err = allow_workers(u, n);
	if (!err)
		err = tux_sys_epoll_ctl(t->epfd, EPOLL_CTL_ADD, u->ring_fd, &e);
	if (err)
		ring_end(u);
	return err;
}

static bool ring_works(const struct tux *t)
{
	return t->ring->open && !t->ring->broken &&
	       !tux_sched_ends_blocking(t->sched);
}

static void ring_try(struct tux *t)
{
	struct tux_ring *g = t->ring;

	if (g->tried)
		return;
	g->tried = true;
	g->open = !ring_open(t, &g->u);
}

/* In the child of a fork() that the routine has made, the ring is its
 * parent's. */
struct tux *tux_api_ring_of(void)
{
	struct tux *t = tux_sched_arg();
	bool works;

	if (!t || !tux_api_is_own(t))
		return NULL;
	tux_sched_enter();
	ring_try(t);
	works = ring_works(t);
	tux_sched_leave();
	return works ? t : NULL;
}

void tux_api_ring_close(struct tux *t)
{
	struct tux_ring *g = t->ring;

	if (!g->open)
		return;
	if (t->forked)
		tux_fd_close(g->u.ring_fd);
	else
		ring_end(&g->u);
	g->open = false;
}

void tux_api_ring_free(struct tux *t)
{
	if (t->ring)
		tux_api_ring_close(t);
	free(t->ring);
	t->ring = NULL;
}

/* ---- a call ---- */

unsigned tux_api_ring_busy(const struct tux *t)
{
	return t->ring->busy;
}

static void complete(struct request *q, int32_t ret)
{
	q->ret = ret;
	q->over = true;
	if (q->r != tux_sched_self())
		tux_sched_wake(q->r);
}

unsigned tux_api_ring_take(struct tux *t)
{
	struct tux_ring *g = t->ring;
	struct io_uring_cqe *c;
	unsigned n = 0;

	while (g->open && !io_uring_peek_cqe(&g->u, &c)) {
		struct request *q = io_uring_cqe_get_data(c);

		if (q)			/* else none, see request_withdraw() */
			complete(q, c->res);
		g->busy -= q != NULL;
		io_uring_cqe_seen(&g->u, c);
		n++;
	}
	return n;
}

static void prepare(struct io_uring_sqe *s, const struct tux_ring_call *x,
		    struct request *q)
{
	static const uint8_t code[] = {
		[TUX_RING_READ] = IORING_OP_READ,
		[TUX_RING_WRITE] = IORING_OP_WRITE,
		[TUX_RING_READV] = IORING_OP_READV,
		[TUX_RING_WRITEV] = IORING_OP_WRITEV,
	};

	io_uring_prep_rw(code[x->op], s, x->fd, x->p, x->len, x->at);
	io_uring_sqe_set_data(s, q);
}

/* Has the kernel taken what was prepared when the queue ended at @end? */
static bool is_taken(const struct tux_ring *g, unsigned end)
{
	unsigned left = io_uring_sq_ready(&g->u);

	return (int)(g->u.sq.sqe_tail - left - end) >= 0;
}

/* What was prepared and not taken becomes a request of nothing. */
static void request_withdraw(struct io_uring_sqe *s)
{
	io_uring_prep_nop(s);
	io_uring_sqe_set_data(s, NULL);
}

/* Hands over @s, which is prepared.  While the kernel lacks memory for that,
 * other routines run, and may hand it over with their own.  After an error that
 * lasts, nothing is handed over any more.  False: the kernel has not taken it,
 * and will not. */
static bool submit(struct tux_ring *g, struct io_uring_sqe *s)
{
	unsigned i, end = g->u.sq.sqe_tail;

	for (i = 0; i < TRIES && !is_taken(g, end) && !g->broken; i++) {
		int n = io_uring_submit(&g->u);

		if (n == -EAGAIN || n == -EBUSY || n == -EINTR || n == -ENOMEM)
			tux_sched_yield();
		else if (n < 0)
			g->broken = true;
	}
	if (is_taken(g, end))
		return true;
	request_withdraw(s);
	return false;
}

static bool is_read(enum tux_ring_op op)
{
	return op == TUX_RING_READ || op == TUX_RING_READV;
}

/* Does @ret come of the ring, or of a signal, and would the same call by a
 * thread end in another way?  (EFAULT: not if bytes come before the address
 * that is none.) */
static bool is_rings(int ret)
{
	switch (-ret) {
	case EAGAIN:
	case ECANCELED:
	case EFAULT:
	case EINTR:
	case ENOMEM:
		return true;
	default:
		return -ret >= RESTART_FIRST && -ret <= RESTART_LAST;
	}
}

/* The kernel ends requests with the thread that submitted them, and does not
 * always say so of a read. */
static bool request_make(struct tux *t, const struct tux_ring_call *x,
			 ssize_t *ret)
{
	struct request q = { .r = tux_sched_self() };
	uint32_t thread = tux_sched_thread(t->sched);
	struct tux_ring *g = t->ring;
	struct io_uring_sqe *s = io_uring_get_sqe(&g->u);

	if (!s)
		return false;
	prepare(s, x, &q);
	g->busy++;
	if (!submit(g, s)) {
		g->busy--;
		return false;
	}
	tux_api_ring_take(t);
	while (!q.over)
		tux_sched_block();
	*ret = q.ret;
	return !is_rings(q.ret) &&
	       (!is_read(x->op) || thread == tux_sched_thread(t->sched));
}

bool tux_api_ring_make(struct tux *t, const struct tux_ring_call *x,
		       ssize_t *ret)
{
	bool made;

	tux_sched_enter();
	made = ring_works(t) && request_make(t, x, ret);
	t->file_calls += made;
	tux_sched_leave();
	return made;
}
