/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp - a kernel's TCP connection, simulated
 *
 * A pipe keeps all its bytes in one ring, whether they wait to leave, are
 * under way or wait to be read; four offsets say which is which.  A segment
 * under way is an event that carries a length.
 */
#include "tcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "sim.h"

static struct sim_end *other(const struct sim_end *e)
{
	return e->peer;
}

static struct sim_tcp *tcp_of(const struct sim_end *e)
{
	return &e->conn->tcp;
}

/* Both the application and the loop may wait for what has changed. */
static void wake(struct sim_end *e)
{
	unsigned ring = 0;

	if (e->dx)
		ring = tux_duplex_poll(e->dx);
	if ((ring & (TUX_RX_ON_RING | TUX_TX_ON_RING)) !=
	    (TUX_RX_ON_RING | TUX_TX_ON_RING))
		sim_app_wake(e);
	sim_host_tcp(e);
}

void sim_tcp_init(struct sim_conn *k)
{
	struct sim_tcp *t = &k->tcp;
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct sim_pipe *p = &t->pipe[i];

		for (p->cap = 1; p->cap < t->sndbuf + t->rcvbuf; p->cap *= 2)
			;
		p->mem = calloc(1, p->cap);
		p->window = p->told = t->rcvbuf;
		k->end[i].sock.tx = p;
		k->end[1 - i].sock.rx = p;
		k->end[i].sock.refs = 1;
	}
}

void sim_tcp_fini(struct sim_conn *k)
{
	free(k->tcp.pipe[0].mem);
	free(k->tcp.pipe[1].mem);
}

/* ---- segments ---- */

/* When what leaves now arrives: never before what left earlier. */
static tux_time arrival(struct sim_end *e, tux_time extra)
{
	struct sim_pipe *p = e->sock.tx;
	tux_time at = e->conn->s->now + tcp_of(e)->delay + extra;

	if (at < p->last_at)
		at = p->last_at;
	p->last_at = at;
	return at;
}

static void reset_arrives(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_end *e = arg;
	struct sim_pipe *p = e->sock.tx;

	(void)s, (void)n, (void)m;
	if (e->sock.dead)
		return;
	e->sock.dead = true;
	if (!e->sock.closed)
		e->sock.err = ECONNRESET;
	p->wrote = p->left;		/* what has not left is lost */
	wake(e);
}

/* @e's kernel tells the other that the connection is no more. */
static void send_reset(struct sim_end *e)
{
	struct sim_pipe *p = e->sock.tx;

	p->wrote = p->left;
	e->sock.dead = true;
	sim_digest_segment(e, p->left, 0, SIM_SEGMENT_RESET);
	sim_at(e->conn->s, arrival(e, 0), reset_arrives, other(e), 0, 0);
}

static void pump(struct sim_end *e);

static void ack_arrives(struct sim *s, void *arg, uint64_t acked,
			uint64_t window)
{
	struct sim_end *e = arg;
	struct sim_pipe *p = e->sock.tx;

	(void)s;
	if (acked > p->acked)
		p->acked = acked;
	if (window > p->window)
		p->window = window;
	if (e->sock.starved &&
	    p->wrote - p->acked <= tcp_of(e)->sndbuf * 2 / 3) {
		e->sock.starved = false;
		wake(e);
	}
	pump(e);
}

/* @e, a receiver, acknowledges and tells its window. */
static void send_ack(struct sim_end *e)
{
	struct sim_pipe *p = e->sock.rx;

	p->told = p->read + tcp_of(e)->rcvbuf;
	sim_at(e->conn->s, e->conn->s->now + tcp_of(e)->delay, ack_arrives,
	       other(e), p->arrived, p->told);
}

static void segment_arrives(struct sim *s, void *arg, uint64_t len,
			    uint64_t fin)
{
	struct sim_end *e = arg;
	struct sim_pipe *p = e->sock.rx;

	(void)s;
	if (e->sock.dead)
		return;
	p->arrived += len;
	p->fin_arrived = fin;
	if (e->sock.closed && len) {
		send_reset(e);		/* nobody will read that */
		return;
	}
	send_ack(e);
	wake(e);
}

static uint64_t segment_len(struct sim_end *e)
{
	struct sim_pipe *p = e->sock.tx;
	struct sim_tcp *t = tcp_of(e);
	uint64_t len = p->wrote < p->window ? p->wrote : p->window;

	len -= p->left;
	if (p->hold_for && p->left < p->hold_off &&
	    p->left + len > p->hold_off)
		len = p->hold_off - p->left;
	if (len > t->mss)
		len = t->mss;
	if (len && t->cut)
		len = 1 + sim_below(e->conn->s, sim_below(e->conn->s, 4) ?
				    len : (len < 20 ? len : 20));
	return len;
}

static void pump(struct sim_end *e)
{
	struct sim_pipe *p = e->sock.tx;
	uint64_t len;

	if (e->sock.dead || tcp_of(e)->down)
		return;
	while ((len = segment_len(e)) || (p->fin && !p->fin_left &&
					  p->left == p->wrote)) {
		tux_time extra = 0;

		if (p->hold_for && p->left >= p->hold_off) {
			extra = p->hold_for;
			p->hold_for = 0;
		}
		p->left += len;
		p->fin_left = p->fin && p->left == p->wrote;
		sim_digest_segment(e, p->left - len, len, p->fin_left ?
				   SIM_SEGMENT_FIN : SIM_SEGMENT_PLAIN);
		sim_at(e->conn->s, arrival(e, extra), segment_arrives,
		       other(e), len, p->fin_left);
	}
}

void sim_tcp_hold(struct sim_end *e, uint64_t off, tux_time extra)
{
	e->sock.tx->hold_off = off;
	e->sock.tx->hold_for = extra;
}

void sim_tcp_down(struct sim_conn *k, bool down)
{
	k->tcp.down = down;
	pump(&k->end[0]);
	pump(&k->end[1]);
}

/* ---- the kernel's calls ---- */

static int take_err(struct sim_sock *k)
{
	int err = k->err;

	k->err = 0;
	return err;
}

/* Copies between the ring of @p at @off and @buf. */
static void ring_copy(struct sim_pipe *p, uint64_t off, uint8_t *buf,
		      uint64_t len, bool in)
{
	uint64_t i = off & (p->cap - 1), n = len;

	if (n > p->cap - i)
		n = p->cap - i;
	memcpy(in ? p->mem + i : buf, in ? buf : p->mem + i, n);
	if (n < len)
		ring_copy(p, off + n, buf + n, len - n, in);
}

ssize_t sim_tcp_send(struct sim_end *e, const struct iovec *iov, int n)
{
	struct sim_sock *k = &e->sock;
	struct sim_pipe *p = k->tx;
	uint64_t room, few, done = 0;
	int i;

	if (k->err)
		return -take_err(k);
	if (k->dead || k->closed || p->fin)
		return -EPIPE;
	room = tcp_of(e)->sndbuf - (p->wrote - p->acked);
	few = room;
	if (room && sim_chance(e->conn->s, tcp_of(e)->scant))
		few = 1 + sim_below(e->conn->s, room < 20 ? room : 20);
	for (i = 0; i < n && done < few; i++) {
		uint64_t len = iov[i].iov_len;

		if (len > few - done)
			len = few - done;
		ring_copy(p, p->wrote, iov[i].iov_base, len, true);
		p->wrote += len;
		done += len;
	}
	if (done == room)
		k->starved = true;
	pump(e);
	return done ? (ssize_t)done : -EAGAIN;
}

ssize_t sim_tcp_recv(struct sim_end *e, const struct iovec *iov, int n,
		     bool peek)
{
	struct sim_sock *k = &e->sock;
	struct sim_pipe *p = k->rx;
	uint64_t done = 0, ready = p->arrived - p->read;
	int i;

	for (i = 0; i < n && done < ready; i++) {
		uint64_t len = iov[i].iov_len;

		if (len > ready - done)
			len = ready - done;
		ring_copy(p, p->read + done, iov[i].iov_base, len, false);
		done += len;
	}
	if (!done) {
		if (k->err)
			return -take_err(k);
		return p->fin_arrived || k->dead ? 0 : -EAGAIN;
	}
	if (!peek) {
		p->read += done;
		/* Silly windows are not worth a segment (RFC 9293, 3.8.6). */
		if (p->read + tcp_of(e)->rcvbuf - p->told >=
		    tcp_of(e)->rcvbuf / 4)
			send_ack(e);
	}
	return (ssize_t)done;
}

bool sim_tcp_ended(const struct sim_end *e)
{
	const struct sim_sock *k = &e->sock;

	return k->rx->fin_arrived && !k->err;
}

bool sim_tcp_readable(const struct sim_end *e)
{
	const struct sim_sock *k = &e->sock;

	return k->rx->arrived > k->rx->read || k->rx->fin_arrived || k->err ||
	       k->dead;
}

bool sim_tcp_writable(const struct sim_end *e)
{
	const struct sim_pipe *p = e->sock.tx;

	return p->wrote - p->acked < e->conn->tcp.sndbuf || e->sock.err ||
	       e->sock.dead;
}

void sim_tcp_shut(struct sim_end *e)
{
	if (e->sock.closed || e->sock.dead)
		return;
	e->sock.tx->fin = true;
	pump(e);
}

void sim_tcp_put(struct sim_end *e, bool reset)
{
	struct sim_sock *k = &e->sock;

	if (--k->refs)
		return;
	if (!k->dead && (reset || k->rx->arrived > k->rx->read)) {
		k->closed = true;
		send_reset(e);
		return;
	}
	sim_tcp_shut(e);
	k->closed = true;
}
