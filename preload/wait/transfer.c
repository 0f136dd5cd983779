/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/transfer.h"

#include <errno.h>
#include <poll.h>

#include "base/iov.h"
#include "ground/libc.h"
#include "ground/process.h"
#include "sock/fd.h"
#include "sock/ready.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "wait/wait.h"

enum {
	BRIEF_AFTER = 2,	/* wake-ups for nothing */
};

__thread bool transfer_found_nothing;

/* An error after some bytes waits for the next call. */
static ssize_t transfer_outcome(struct transfer *t, ssize_t err)
{
	t->left = err == -ERESTART;
	if (!t->done)
		return err;
	if (err != -EAGAIN && err != -EINTR && err != -EBADF && !t->left)
		atomic_store(&t->s->err, (uint32_t)-err);
	return (ssize_t)t->done;
}

/* -errno that an earlier call has left; 0: none.  Most calls find none, and need no
 * locked instruction to see that. */
static ssize_t transfer_error(struct sock *s)
{
	return atomic_load_explicit(&s->err, memory_order_relaxed) ?
	       -(ssize_t)atomic_exchange(&s->err, 0) : 0;
}

/* 0 if the socket is claimed; else the error of the call.  -ERESTART: the
 * socket has gone back to the kernel, and so does the call (rw_go_on); or a
 * handler has forked and returned in the child, which asks for it there. */
static int not_ours(const struct sock *s)
{
	switch (atomic_load(&s->stage)) {
	case SOCK_CLAIMED:
		return s->epoch == process_here.epoch ? 0 : -ERESTART;
	case SOCK_LOST:
		return -EIO;
	case SOCK_CLOSED:
	case SOCK_FREE:
		return -EBADF;
	default:
		return -ERESTART;
	}
}

void transfer_until(struct transfer *t, bool out)
{
	int64_t timeout = out ? t->s->sndtimeo : t->s->rcvtimeo;

	if (!t->until)
		t->until = timeout ? tux_clock_read() + (tux_time)timeout :
				     TUX_NEVER;
}

/* A thread that asks again and again waits in its own way: each such call runs the
 * loop, as a wait does.  Otherwise each datagram would need the helper, which shares
 * the processor with a thread that never sleeps.  A thread that asks only until a
 * socket is empty, and waits then, does not pay for that.  While TCP carries the
 * bytes, the loop has little to do, and turns as seldom as beside a poll() of the
 * kernel's.  1 or -EAGAIN, as wait_more(). */
static int ask_again(struct transfer *t)
{
	bool again = transfer_found_nothing;

	if (t->done || t->turned)
		return -EAGAIN;
	transfer_found_nothing = true;
	if (!again)
		return -EAGAIN;
	t->turned = true;
	tux_end_flush(t->s->end, false);
	if (!(sock_poll(t->s) & TUX_RX_ON_RING)) {
		ready_turn(NULL, tux_clock_read());
		return -EAGAIN;
	}
	tux_end_turn(t->s->end);
	return sock_poll(t->s) & TUX_CAN_READ ? 1 : -EAGAIN;
}

/* 1: try again; else the error to return. */
static int wait_more(struct transfer *t, short events, bool out)
{
	unsigned how = t->done ? WAIT_PARTIAL : 0;
	int r;

	if (transfer_nonblocking(t))
		return out ? -EAGAIN : ask_again(t);
	transfer_until(t, out);
	tux_end_flush(t->s->end, true);
	if (t->futile++ >= BRIEF_AFTER)
		how |= WAIT_BRIEF;
	r = wait_for(t->s, t->tcp.fd, events, t->until, how);
	return r == 0 ? -EAGAIN : r;
}

/* ---- receiving -------------------------------------------------------- */

const struct iovec *transfer_rest(const struct transfer *t, struct iovec *v,
				  int *n)
{
	*n = t->n;
	if (!t->done)
		return t->iov;
	*n = tux_iov_skip(v, TRANSFER_PIECES, t->iov, t->n, t->done);
	return v;
}

/* TCP, by the number of the call.  Once a thread has closed that, by another one
 * of the socket: the kernel's calls go on with the file, too.  Under a latch: no
 * thread closes the number until it is dropped (close.c). */
static struct tux_tcp transfer_tcp(struct transfer *t)
{
	int fd = t->s->fd;

	if (fd_peek(t->tcp.fd) != t->s && fd_peek(fd) == t->s)
		t->tcp.fd = fd;
	return path_tcp(&t->tcp);
}

/* As much as there is, without waiting.  1: full; 0: the end; -errno. */
static ssize_t transfer_take(struct transfer *t)
{
	bool peek = t->flags & MSG_PEEK;
	struct tux_tcp tcp = transfer_tcp(t);
	struct iovec pieces[TRANSFER_PIECES];
	struct tux_duplex *d = t->s->dx;

	for (;;) {
		int m;
		const struct iovec *v = transfer_rest(t, pieces, &m);
		size_t len = tux_iov_len(v, m);
		bool last = tux_duplex_from_tcp(d);
		ssize_t k = tux_duplex_read(d, v, m, peek, &tcp);

		if (k <= 0)
			return k;
		t->futile = 0;
		t->done += (size_t)k;
		if (t->done == t->want || peek)
			return 1;
		/* Of more pieces, it may have taken the first only. */
		if ((size_t)k < len && m <= TRANSFER_PIECES && last &&
		    !tux_duplex_at_switch(d))
			return -EAGAIN;
	}
}

static ssize_t transfer_take_latched(struct transfer *t)
{
	struct sock *s = t->s;
	ssize_t k = not_ours(s);

	if (k)
		return k;
	if (!path_lock_rx(s))
		return -EAGAIN;
	/* A peek starts from the front each time. */
	if (t->flags & MSG_PEEK)
		t->done = 0;
	k = not_ours(s);
	if (!k)
		k = transfer_take(t);
	path_unlock_rx(s);
	path_notice(s);
	return k;
}

static size_t target(const struct transfer *t)
{
	if (t->flags & MSG_WAITALL)
		return t->want;
	return t->s->lowat < t->want ? t->s->lowat : t->want;
}

/* Will no bytes come behind those that are there? */
static bool is_last(const struct transfer *t)
{
	struct pollfd p = { .fd = t->tcp.fd, .events = POLLRDHUP };
	unsigned can = sock_poll(t->s);

	if (can & (TUX_IS_EOF | TUX_IS_ERR))
		return true;
	return !(can & TUX_RX_ON_RING) && fd_peek(p.fd) == t->s &&
	       libc.poll(&p, 1, 0) == 1;
}

ssize_t transfer_in(struct transfer *t)
{
	ssize_t k = transfer_error(t->s);

	if (k)
		return k;
	for (;;) {
		/* A read sees the end by itself, and a peek does not. */
		bool last = t->done && (t->flags & MSG_PEEK) && is_last(t);
		short events = POLLIN;

		k = transfer_take_latched(t);
		if (t->done)
			transfer_found_nothing = false;
		if (k == 0 || t->done >= target(t) || (last && t->done))
			return (ssize_t)t->done;
		if (k != -EAGAIN && k != 1)
			return transfer_outcome(t, k);
		if (t->s->rdshut)
			return (ssize_t)t->done;
		/* A peek that wants more finds the same bytes again: they end
		 * no wait. */
		if (t->done && (t->flags & MSG_PEEK)) {
			t->futile = BRIEF_AFTER;
			events = 0;
		}
		k = wait_more(t, events, false);
		if (k != 1)
			return transfer_outcome(t, k);
	}
}

/* ---- sending ---------------------------------------------------------- */

/* As much as there is room for.  1: all; -errno. */
static ssize_t transfer_give(struct transfer *t)
{
	struct tux_tcp tcp = transfer_tcp(t);
	struct iovec pieces[TRANSFER_PIECES];

	for (;;) {
		int m;
		const struct iovec *v = transfer_rest(t, pieces, &m);
		ssize_t k = tux_duplex_write(t->s->dx, v, m, &tcp);

		if (k < 0)
			return k;
		t->futile = 0;
		t->done += (size_t)k;
		if (t->done == t->want)
			return 1;
	}
}

static ssize_t transfer_give_latched(struct transfer *t)
{
	struct sock *s = t->s;
	ssize_t k = not_ours(s);

	if (k)
		return k;
	if (!path_lock_tx(s))
		return -EAGAIN;
	k = not_ours(s);
	if (!k)
		k = transfer_give(t);
	path_unlock_tx(s);
	path_notice(s);
	return k;
}

/* No bytes go out.  But the call says what keeps others from going out. */
static ssize_t transfer_none(struct transfer *t)
{
	ssize_t k;

	if (t->s->dx->tx.mute)
		return 0;
	k = transfer_give_latched(t);
	return k == 1 || k == -EAGAIN ? 0 : transfer_outcome(t, k);
}

ssize_t transfer_out(struct transfer *t)
{
	ssize_t k = transfer_error(t->s);

	if (k)
		return k;
	if (!t->want)
		return transfer_none(t);
	for (;;) {
		k = transfer_give_latched(t);
		if (k == 1)
			return (ssize_t)t->done;
		if (k == -EAGAIN)
			k = wait_more(t, POLLOUT, true);
		if (k != 1)
			return transfer_outcome(t, k);
	}
}
