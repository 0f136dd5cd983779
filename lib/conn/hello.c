/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/hello.h"

#include <errno.h>

#include "conn/conn_in.h"
#include "conn/message_life.h"
#include "conn/state.h"

enum {
	TRIES = 5,			/* HELLOs of a series */
	FIRST_WAIT_US = 4000,		/* times five after each */
	TOUCH_GAP_US = 500,		/* minimum between HELLOs after touches */
	SILENT_MS = 3000,		/* an end that may not begin waits so long */
};

/* Labels of keys; wire.h and key.c have others. */
enum { SESSION = 0, SEAL = 6 };

/* How long to wait for an answer after HELLO number @tries of the series. */
static tux_time wait_after(unsigned tries)
{
	tux_time in = TUX_USEC(FIRST_WAIT_US);

	while (--tries)
		in *= 5;
	return in;
}

/* Is the path not proved, or proved in vain? */
static bool opening(const struct tux_conn *c)
{
	return c->life == TUX_LIFE_OPENING || c->life == TUX_LIFE_REFUSED;
}

void tux_hello_start(struct tux_conn *c, tux_time now)
{
	if (!c->begins) {
		c->open.at = tux_time_add(now, TUX_MSEC(SILENT_MS));
		return;
	}
	tux_conn_do(c, TUX_DO_HELLO);
	c->open.tries = 1;
	c->open.at = tux_time_add(now, wait_after(1));
}

void tux_hello_touch(struct tux_conn *c, tux_time now)
{
	if (c->life != TUX_LIFE_OPENING || !c->begins || c->open.refused)
		return;
	if (tux_time_since(c->open.sent_at, now) < TUX_USEC(TOUCH_GAP_US))
		return;
	tux_conn_do(c, TUX_DO_HELLO);
}

void tux_hello_again(struct tux_conn *c, tux_time now)
{
	if (c->life != TUX_LIFE_OPENING || !c->begins)
		return;
	c->open.refused = false;
	c->open.tries = 0;
	c->open.at = now;
}

void tux_hello_expire(struct tux_conn *c, tux_time now)
{
	if (c->life != TUX_LIFE_OPENING || now < c->open.at)
		return;
	if (c->open.tries >= TRIES || !c->begins) {
		c->open.at = TUX_NEVER;
		c->open.why = TUX_REASON_PEER_SILENT;
		tux_messages_silent(c);
		tux_conn_mark(c, TUX_DIRTY_LIFE | TUX_DIRTY_MESSAGE);
		return;
	}
	c->open.tries++;
	c->open.at = tux_time_add(now, wait_after(c->open.tries));
	tux_conn_do(c, TUX_DO_HELLO);
}

/* Derives the key with @label from the connection's key and both nonces. */
static struct tux_key derive(const struct tux_conn *c, uint8_t label)
{
	struct tux_key k;
	uint8_t in[17];

	tux_put64(in + 1, c->active ? c->nonce : c->peer_nonce);
	tux_put64(in + 9, c->active ? c->peer_nonce : c->nonce);
	in[0] = label;
	k.k0 = tux_sip(&c->key, in, sizeof(in));
	in[0]++;
	k.k1 = tux_sip(&c->key, in, sizeof(in));
	return k;
}

void tux_hello_version(struct tux_conn *c)
{
	if (c->life != TUX_LIFE_OPENING)
		return;
	c->open.why = TUX_REASON_VERSION;
	tux_conn_mark(c, TUX_DIRTY_LIFE);
}

void tux_hello_proved(struct tux_conn *c)
{
	if (c->life != TUX_LIFE_OPENING)
		return;
	tux_conn_set_life(c, TUX_LIFE_OWNING);
	c->open.at = TUX_NEVER;
	tux_conn_trace(c, TUX_TRACE_PROVED, 0, 0, 0);
}

/* The connection stays on TCP, and the peer is told.  Messages fail, also those
 * that have begun because the peer's ROOM had come. */
static void hello_refuse(struct tux_conn *c)
{
	tux_conn_set_life(c, TUX_LIFE_REFUSED);
	c->tx.announce_at = c->reset_at = TUX_NEVER;
	c->open.why = TUX_REASON_NO_FD;
	tux_conn_do(c, TUX_DO_HELLO);
	tux_messages_fail(c, EPROTONOSUPPORT);
	tux_conn_mark(c, TUX_DIRTY_MESSAGE);
}

void tux_hello_owned(struct tux_conn *c, int err, tux_time now)
{
	if (c->life != TUX_LIFE_OWNING)
		return;
	if (err < 0) {
		hello_refuse(c);
		return;
	}
	tux_conn_set_life(c, TUX_LIFE_PROVED);
	c->open.why = TUX_REASON_NONE;
	c->progress_at = c->tx.announce_at = now;
	c->open.ask = c->active;
	tux_messages_proved(c);
	/* What came while the loop duplicated the descriptor is handled now. */
	tux_conn_mark(c, TUX_DIRTY_ANNOUNCE | TUX_DIRTY_ARM |
		      (c->tx.raw_wanted ? TUX_DIRTY_RAW : 0));
	tux_conn_kick(c);
}

/* Joins the pair of connections to the peer's loop, and takes over its estimate
 * of the round-trip time.  False: no memory. */
static bool join(struct tux_conn *c)
{
	uint32_t mss = c->pkt_max < c->mtu ? c->pkt_max : c->mtu;
	tux_time ack_delay = c->rtt.ack_delay;
	struct tux_pair *p = tux_pair_get(&c->core->pairs,
					  tux_conn_local(c)->ip, c->peer.ip,
					  c->peer_token, mss);

	if (c->pair)
		tux_pair_put(&c->core->pairs, c->pair);
	c->pair = p;
	c->sentq.sum = p ? &p->in_flight : NULL;
	if (!p)
		return false;
	if (p->rtt.min != TUX_NEVER) {
		c->rtt = p->rtt;
		c->rtt.ack_delay = ack_delay;
		c->rtt.backoff = 0;
	}
	return true;
}

/* Takes over what the peer's HELLO says.  Until the path is proved, the last
 * HELLO counts, since an earlier one may be of an older connection with the
 * same tuple.  False: no memory; the HELLO is ignored. */
static bool learn(struct tux_conn *c, const struct tux_addr *from,
		  const struct tux_hello *h)
{
	c->peer_id = h->id;
	c->peer_token = h->token;
	c->peer = *from;
	c->peer.port = h->port;
	c->tx.window = h->window;
	c->peer_messages = h->flags & TUX_HELLO_MESSAGES;
	c->peer_plain = h->flags & TUX_HELLO_PLAIN;
	c->peer_again = h->flags & TUX_HELLO_AGAIN;
	c->peer_leaves = h->flags & TUX_HELLO_LEAVE;
	c->peer_bounds = h->flags & TUX_HELLO_BOUND;
	c->pkt_max = h->pkt_max < c->core->pkt_max ? h->pkt_max :
						     c->core->pkt_max;
	tux_rtt_init(&c->rtt, (tux_time)h->delay * 100000u);
	c->peer_first = (1ull << 32) + h->seq;
	tux_ackq_init(&c->ackq, c->peer_first);
	if (!join(c)) {
		c->peer_nonce = 0;	/* forgets earlier HELLOs as well */
		c->open.why = TUX_REASON_NO_MEMORY;
		tux_conn_mark(c, TUX_DIRTY_LIFE);
		return false;
	}
	c->peer_nonce = h->nonce;
	c->session = derive(c, SESSION);
	c->seal = derive(c, SEAL);
	return true;
}

/* May refusal @h still be true?  It is fresh if it has the echo of this end's
 * nonce.  Once the path is proved, only the connection that has proved it can
 * have refused: another refusal is older. */
static bool refusal_counts(const struct tux_conn *c, const struct tux_hello *h)
{
	if (h->echo != c->nonce)
		return false;
	if (c->life == TUX_LIFE_OPENING)
		return true;
	return c->life == TUX_LIFE_PROVED && h->nonce == c->peer_nonce &&
	       c->tx.path == TUX_PATH_PLAIN && c->rx.path == TUX_PATH_PLAIN;
}

/* The peer will not move.  This end asks no more, and says the reason.  It goes
 * on answering, as after a series without an answer: the peer may ask later. */
static void hello_refused(struct tux_conn *c, const struct tux_hello *h)
{
	if (!refusal_counts(c, h)) {
		c->stats.dropped++;
		return;
	}
	c->open.at = TUX_NEVER;
	/* The peer may have reasons that this end does not know. */
	c->open.why = tux_reason_of(h->why, TUX_REASON_PEER_RAW);
	c->open.refused = true;
	c->todo &= ~(uint32_t)TUX_DO_HELLO;
	if (c->life == TUX_LIFE_OPENING)
		tux_messages_silent(c);
	else
		tux_messages_fail(c, EPROTONOSUPPORT);
	tux_conn_mark(c, TUX_DIRTY_LIFE | TUX_DIRTY_MESSAGE);
}

void tux_hello_recv(struct tux_conn *c, const struct tux_addr *from,
		    const struct tux_hello *h, tux_time now)
{
	tux_conn_trace(c, TUX_TRACE_RECV_HELLO, h->flags, 0, 0);
	if (h->why) {
		hello_refused(c, h);
		return;
	}
	if (!h->nonce || !h->id || !h->port || h->pkt_max < TUX_HELLO_PKT_MIN ||
	    (!opening(c) && h->nonce != c->peer_nonce)) {
		c->stats.dropped++;
		return;
	}
	if (h->nonce != c->peer_nonce && !learn(c, from, h))
		return;
	if (c->life == TUX_LIFE_OPENING)
		c->open.refused = false;
	if (h->echo == c->nonce)
		tux_hello_proved(c);
	if (h->flags & TUX_HELLO_WANT)
		tux_conn_do(c, TUX_DO_HELLO);
	/* An end that may begin sends its own series of HELLOs until the path
	 * is proved.  The other end only answers: its peer repeats HELLO until
	 * it has the answer. */
	if (c->life == TUX_LIFE_OPENING && !c->open.tries && c->begins) {
		c->open.tries = 1;
		c->open.at = tux_time_add(now, wait_after(1));
	}
}

size_t tux_hello_build(struct tux_conn *c, uint8_t *buf, size_t cap,
		       tux_time now)
{
	struct tux_pkt h = { .flags = TUX_PKT_OPEN };
	bool refuses = c->life == TUX_LIFE_REFUSED;
	struct tux_hello hello = {
		.why = refuses ? (uint8_t)c->open.why : 0,
		.flags = (uint8_t)((c->active ? TUX_HELLO_ACTIVE : 0) |
				   (c->msg ? TUX_HELLO_MESSAGES |
					     TUX_HELLO_BOUND : 0) |
				   TUX_HELLO_PLAIN | TUX_HELLO_AGAIN |
				   TUX_HELLO_LEAVE |
				   (c->life == TUX_LIFE_OPENING ? TUX_HELLO_WANT :
							       0)),
		.version = TUX_WIRE_VERSION,
		.port = c->core->port,
		.id = c->id,
		.seq = (uint32_t)c->sentq.next,
		.window = tux_pipe_most(&c->dx->rxp),
		.nonce = c->nonce,
		.echo = c->peer_nonce,
		.token = c->core->token,
		.pkt_max = (uint16_t)c->core->pkt_max,
		.delay = (uint16_t)(c->core->ack_delay / 100000u),
		.tuple = c->tuple,
	};
	struct tux_writer w;

	tux_hello_mask(&hello, &c->key);
	tux_writer_init(&w, buf, cap);
	if (!tux_writer_hello(&w, &hello))
		return 0;
	c->todo &= ~(uint32_t)TUX_DO_HELLO;
	c->open.sent_at = now;
	tux_conn_trace(c, TUX_TRACE_SEND_HELLO, hello.flags, 0, 0);
	return tux_writer_end(&w, &h, &c->key);
}
