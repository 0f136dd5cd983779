/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An application runs when it is woken, reads and writes until it is told
 * -EAGAIN (or until it has done enough for now), and sleeps.  What wakes it is
 * what would wake a program: news of TCP for a direction that is on TCP,
 * ready() from the loop for one that is on a ring.  So a lost wake-up is a
 * stuck story.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/iov.h"
#include "check.h"

enum { ROUNDS = 100000 };	/* reads or writes at one instant */

static uint8_t io_buf[SIM_IO_MAX];

/* ---- TCP as the duplex sees it ---- */

static ssize_t tcp_send(void *arg, const struct iovec *iov, int n)
{
	return sim_tcp_send(arg, iov, n);
}

static ssize_t tcp_recv(void *arg, const struct iovec *iov, int n, bool peek)
{
	return sim_tcp_recv(arg, iov, n, peek);
}

static struct tux_tcp tcp_of(struct sim_end *e)
{
	return (struct tux_tcp){ tcp_send, tcp_recv, e };
}

/* @len bytes of io_buf, in up to three pieces if the plan varies. */
static int pieces(struct sim_end *e, struct iovec v[3], uint64_t len)
{
	int i, n = e->plan.vary ? 1 + (int)sim_below(e->conn->s, 3) : 1;
	uint64_t at = 0;

	for (i = 0; i < n; i++) {
		v[i].iov_base = io_buf + at;
		v[i].iov_len = i == n - 1 ? len - at :
			       sim_below(e->conn->s, len - at + 1);
		at += v[i].iov_len;
	}
	return n;
}

static uint64_t io_len(struct sim_end *e, uint64_t most)
{
	return e->plan.vary ? 1 + sim_below(e->conn->s, most) : most;
}

/* ---- latches: alone in its latch, but the loop may find it held ---- */

static void wake(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	(void)s, (void)n, (void)m;
	sim_app_wake(arg);
}

static void resume(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_end *e = arg;

	(void)n, (void)m;
	tux_latch_drop(e->held);
	e->held = NULL;
	sim_at(s, s->now + TUX_USEC(50), wake, e, 0, 0);
}

/* False: the thread fell asleep with the latch in its hand. */
static bool enter(struct sim_end *e, struct tux_latch *l)
{
	struct sim *s = e->conn->s;

	if (!tux_latch_try(l))
		sim_fail(s, "%c: the loop has kept a latch", e->host->name);
	if (!sim_chance(s, e->plan.hold))
		return true;
	e->held = l;
	sim_at(s, s->now + 1 + sim_below(s, TUX_USEC(300)), resume, e, 0, 0);
	return false;
}

static void leave(struct sim_end *e, struct tux_latch *l)
{
	tux_latch_drop(l);
	sim_host_bell(e);
}

/* ---- reading ---- */

/* What poll and advance promise, the read that follows must keep. */
static void check_promise(struct sim_end *e, bool can, ssize_t k)
{
	if (can != (k != -EAGAIN))
		sim_fail(e->conn->s, "%c: %sreadable, and a read says %zd",
			 e->host->name, can ? "" : "not ", k);
}

/* What a peek has shown is there to be read, in one place or in several. */
static ssize_t read_as_peeked(struct sim_end *e, const struct iovec *v, int n,
			      ssize_t peeked)
{
	struct tux_tcp tcp = tcp_of(e);
	ssize_t k = tux_duplex_read(e->dx, v, n, false, &tcp), done = k;

	while (k > 0 && done < peeked) {
		struct iovec rest[3];
		int m = tux_iov_skip(rest, 3, v, n, (size_t)done);

		k = tux_duplex_read(e->dx, rest, m, false, &tcp);
		done += k > 0 ? k : 0;
	}
	if (peeked > 0 && done < peeked)
		sim_fail(e->conn->s, "%c: peeks %zd, reads %zd",
			 e->host->name, peeked, done);
	return done;
}

static ssize_t read_dx(struct sim_end *e, const struct iovec *v, int n)
{
	struct tux_duplex *d = e->dx;
	struct tux_tcp tcp = tcp_of(e);
	unsigned poll = tux_duplex_poll(d);
	bool ask = sim_below(e->conn->s, 2), can = poll & TUX_CAN_READ;
	bool over = false;
	ssize_t k, p = 0;

	if (!(poll & TUX_RX_ON_RING) && ask)
		can = tux_duplex_advance(d, &tcp) &&
		      (sim_tcp_readable(e) ||
		       tux_duplex_poll(d) & TUX_CAN_READ);
	if (e->plan.vary && !sim_below(e->conn->s, 8)) {
		p = tux_duplex_read(d, v, n, true, &tcp);
		if (p > 0)
			sim_check_read(e, io_buf, (uint64_t)p);
		if (p < 0 && p != -EAGAIN)
			return p;
		over = tux_duplex_ended(d, sim_tcp_ended(e), &tcp);
		if (over)
			sim_check_ended(e);
	}
	k = read_as_peeked(e, v, n, p);
	if (over && k == -EAGAIN)
		sim_fail(e->conn->s, "%c: the end has come, but not all bytes",
			 e->host->name);
	if (ask || poll & TUX_RX_ON_RING)
		check_promise(e, can, k);
	return k;
}

static ssize_t read_some(struct sim_end *e)
{
	struct iovec v[3];
	int n = pieces(e, v, io_len(e, e->plan.rmax));
	ssize_t k;

	if (!e->dx)
		return sim_tcp_recv(e, v, n, false);
	if (!enter(e, &e->dx->rx.latch))
		return -EAGAIN;
	k = read_dx(e, v, n);
	sim_look(e, false);
	leave(e, &e->dx->rx.latch);
	return k;
}

/* Has @e read anything?  Then it may have more to say. */
static void update_goal(struct sim_end *e)
{
	const struct sim_plan *p = &e->plan;
	uint64_t n;

	switch (p->role) {
	case SIM_ECHO:
		e->goal = e->got;
		break;
	case SIM_CLIENT:
		n = e->got / p->resp + 1;
		e->goal = (n < p->rounds ? n : p->rounds) * (uint64_t)p->req;
		break;
	case SIM_SERVER:
		e->goal = e->got / p->req * p->resp;
		break;
	default:
		break;
	}
}

static bool may_read(const struct sim_end *e)
{
	if (e->plan.mail_first && !e->msg_got)
		return false;
	/* A socket tells its error once; what it says later means nothing. */
	return !e->paused && !e->eof && !e->rerr && !e->werr && !e->closed &&
	       !e->held;
}

static bool do_read(struct sim_end *e)
{
	ssize_t k;

	if (!may_read(e))
		return false;
	k = read_some(e);
	if (k == -EAGAIN)
		return false;
	if (k > 0) {
		sim_check_read(e, io_buf, (uint64_t)k);
		e->got += (uint64_t)k;
		if (e->plan.whole && e->got % e->plan.whole)
			sim_fail(e->conn->s, "%c: a record is cut at %" PRIu64,
				 e->host->name, e->got);
		e->conn->s->chunks++;
	} else if (k == 0) {
		sim_check_eof(e);
		e->eof = true;
	} else {
		sim_check_error(e, (int)-k);
		e->rerr = (int)-k;
	}
	return k > 0;
}

/* ---- writing ---- */

/* At the place that is announced it writes what the marker begins with, but not
 * all of it: that nobody can foresee. */
static void mimic(struct sim_end *e, uint64_t len)
{
	const struct tux_duplex_tx *t = &e->dx->tx;
	uint8_t like[TUX_MARKER_LEN];
	unsigned n;

	if (!t->doubt || e->sent > t->at || e->sent + len <= t->at ||
	    e->patch[SIM_PATCHES - 1].len ||
	    !sim_chance(e->conn->s, e->plan.mimic))
		return;
	n = 1 + (unsigned)sim_below(e->conn->s, TUX_MARKER_LEN - 1);
	memcpy(like, t->marker, sizeof(like));
	like[n] ^= 1;
	sim_patch(e, t->at, like, n + 1);
}

/* More than so many bytes nobody takes now: those behind need not be right. */
static uint64_t most_taken(const struct sim_end *e)
{
	const struct sim_pipe *p = e->sock.tx;
	uint64_t tcp = e->conn->tcp.sndbuf - (p->wrote - p->acked);

	switch (e->dx ? atomic_load(&e->dx->tx.state) : TUX_TX_PLAIN) {
	case TUX_TX_ACKED:
		return tcp + tux_pipe_room(&e->dx->txp);
	case TUX_TX_SWITCHED:
		return tux_pipe_room(&e->dx->txp);
	default:
		return tcp;
	}
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Would poll(2) say so?  It asks TCP where the duplex does not know. */
static bool writable(struct sim_end *e)
{
	unsigned can = tux_duplex_poll(e->dx);

	if (can & (TUX_TX_ON_RING | TUX_TX_WAITS))
		return can & TUX_CAN_WRITE;
	return sim_tcp_writable(e);
}

static ssize_t write_some(struct sim_end *e)
{
	uint64_t len = e->goal - e->sent;
	struct tux_tcp tcp = tcp_of(e);
	struct iovec v[3];
	unsigned can;
	ssize_t k;
	int n;

	len = io_len(e, len < e->plan.wmax ? len : e->plan.wmax);
	if (e->dx)
		mimic(e, len);
	sim_fill(e, e->sent, io_buf, smaller(len, most_taken(e)));
	n = pieces(e, v, len);
	if (!e->dx)
		return sim_tcp_send(e, v, n);
	if (!enter(e, &e->dx->tx.latch))
		return -EAGAIN;
	can = tux_duplex_poll(e->dx);
	k = tux_duplex_write(e->dx, v, n, &tcp);
	if (k == -EAGAIN &&
	    (can & TUX_CAN_WRITE || writable(e)))
		sim_fail(e->conn->s, "%c: writable, and a write says no",
			 e->host->name);
	sim_look(e, false);
	leave(e, &e->dx->tx.latch);
	return k;
}

static bool do_write(struct sim_end *e)
{
	ssize_t k;

	if (e->sent >= e->goal || e->shut || e->closed || e->werr || e->held)
		return false;
	k = write_some(e);
	if (k == -EAGAIN)
		return false;
	if (k > 0) {
		e->sent += (uint64_t)k;
		e->half |= e->eof;
	} else {
		sim_check_error(e, (int)-k);
		e->werr = (int)-k;
	}
	return k > 0;
}

static void do_shut(struct sim_end *e)
{
	bool ring = false;

	e->shut = true;
	if (!e->dx) {
		sim_tcp_shut(e);
		return;
	}
	if (!tux_latch_try(&e->dx->tx.latch))
		sim_fail(e->conn->s, "%c: the loop has kept a latch",
			 e->host->name);
	ring = tux_duplex_shut(e->dx);
	if (!ring)
		sim_tcp_shut(e);
	leave(e, &e->dx->tx.latch);
}

/* ---- beginning and ending ---- */

static bool has_finished(const struct sim_end *e)
{
	const struct sim_plan *p = &e->plan;

	if (e->sent < e->goal || e->shut || e->closed || e->held ||
	    (e->msg_next < e->msg_n && !e->msg_err && e->was_tx))
		return false;
	switch (p->role) {
	case SIM_CLIENT:
		return e->eof || e->got == (uint64_t)p->rounds * p->resp;
	case SIM_BULK:
		return p->finish;
	default:
		return e->eof;
	}
}

void sim_app_close(struct sim_end *e, bool abort)
{
	if (e->closed)
		return;
	e->closed = true;
	e->aborted = abort;
	if (e->c)
		atomic_fetch_or(&e->dx->rung, TUX_DOORBELL_CLOSE |
				(abort ? TUX_DOORBELL_ABORT : 0));
	if (e->c)
		sim_host_bell(e);
	sim_tcp_put(e, abort && !e->owned);
}

static void app_run(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_end *e = arg;
	unsigned i = 0, most = ROUNDS;
	bool more = true;

	(void)n, (void)m;
	e->app_queued = false;
	if (e->host->stopped > s->now) {
		sim_app_wake(e);
		return;
	}
	if (e->closed || e->host->dead || e->held)
		return;
	if (e->plan.vary)
		most = 1 + (unsigned)sim_below(s, 6);
	update_goal(e);
	while (more && i++ < most && !s->failed) {
		more = sim_app_messages(e);
		more |= do_read(e);
		update_goal(e);
		more |= do_write(e);
	}
	if (has_finished(e) && !e->werr)
		do_shut(e);
	if (e->box && tux_msgbox_any(e->box) && !e->paused)
		more = true;		/* it reads them all before it goes */
	else if (!e->plan.linger &&
		 ((e->shut && e->eof) || e->rerr || e->werr))
		sim_app_close(e, false);
	if (more)
		sim_app_wake(e);
}

void sim_app_wake(struct sim_end *e)
{
	struct sim *s = e->conn->s;
	tux_time at = s->now > e->host->stopped ? s->now : e->host->stopped;

	if (e->app_queued || !e->begun || e->closed || e->host->dead)
		return;
	e->app_queued = true;
	sim_at(s, at + sim_below(s, e->plan.think + 1), app_run, e, 0, 0);
}
