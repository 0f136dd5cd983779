/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The opening exchange: each end proves that packets reach the other and come
 * back, by a nonce that the other echoes under the connection's key.  HELLOs
 * are outside of the numbering.  Who has answered HELLO keeps no state for it
 * beyond the TCP connection that exists anyway, and answers with no more bytes
 * than it was sent.
 */
#include "conn/conn_in.h"

enum {
	TRIES = 5,			/* HELLOs by timer */
	FIRST_WAIT_US = 4000,		/* five times longer after each */
	TOUCH_GAP_US = 500,		/* between HELLOs that I/O asks for */
	SILENT_MS = 3000,		/* a passive end has heard nothing */
};

/* Labels of keys; wire.h and key.c have others. */
enum { SESSION = 0, SEAL = 6 };

static tux_time wait_after(unsigned tries)
{
	tux_time in = TUX_USEC(FIRST_WAIT_US);

	while (--tries)
		in *= 5;
	return in;
}

/* Packets on TCP's own ports need no word from the peer first. */
static bool may_begin(const struct tux_conn *c)
{
	return c->active || !c->core->port;
}

void tux_hello_start(struct tux_conn *c, tux_time now)
{
	if (!may_begin(c)) {
		c->open.at = tux_time_add(now, TUX_MSEC(SILENT_MS));
		return;
	}
	tux_conn_do(c, TUX_DO_HELLO);
	c->open.tries = 1;
	c->open.at = tux_time_add(now, wait_after(1));
}

void tux_hello_touch(struct tux_conn *c, tux_time now)
{
	if (c->phase != TUX_PHASE_OPENING || !may_begin(c))
		return;
	if (tux_time_since(c->open.sent_at, now) < TUX_USEC(TOUCH_GAP_US))
		return;
	tux_conn_do(c, TUX_DO_HELLO);
}

void tux_hello_again(struct tux_conn *c, tux_time now)
{
	if (c->phase != TUX_PHASE_OPENING || !may_begin(c) || c->open.refused)
		return;
	c->open.tries = 0;
	c->open.at = now;
}

void tux_hello_expire(struct tux_conn *c, tux_time now)
{
	if (c->phase != TUX_PHASE_OPENING || now < c->open.at)
		return;
	if (c->open.tries >= TRIES || !may_begin(c)) {
		c->open.at = TUX_NEVER;
		tux_conn_decide(c, TUX_REASON_PEER_SILENT);
		tux_messages_silent(c);
		tux_messages_settled(c, now);
		return;
	}
	c->open.tries++;
	c->open.at = tux_time_add(now, wait_after(c->open.tries));
	tux_conn_do(c, TUX_DO_HELLO);
}

/* The key for the purpose that is labelled @label, of both nonces. */
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

void tux_hello_proved(struct tux_conn *c, tux_time now)
{
	if (c->phase != TUX_PHASE_OPENING || c->open.refused)
		return;
	c->phase = TUX_PHASE_PROVED;
	c->open.at = TUX_NEVER;
	c->progress_at = now;
	tux_conn_trace(c, TUX_TRACE_PROVED, 0, 0, 0);
	if (c->core->ev->own(c->core->arg, c) < 0) {
		c->tx.announce_at = TUX_NEVER;
		c->phase = TUX_PHASE_OPENING;	/* as if nobody answered */
		c->open.refused = true;
		tux_conn_decide(c, TUX_REASON_NO_FD);
		tux_messages_silent(c);
		return;
	}
	c->tx.announce_at = now;
	tux_conn_decide(c, TUX_REASON_NONE);
	tux_messages_proved(c);
	if (c->tx.raw_wanted) {		/* now there is somebody to ask */
		c->tx.raw_wanted = false;
		tux_back_raw(c, c->tx.raw_why, now);
	}
	tux_upgrade_tx(c, now);
	/* Our HELLO may be lost, and the peer not be one to ask again: a packet
	 * with a number is. */
	if (c->active && !(c->todo & TUX_DO_NUMBERED))
		tux_conn_do(c, TUX_DO_PING);
}

/* Takes its place among the connections to the peer's loop, and what they know
 * of the way. */
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

/* What the peer says of itself; until it has proved that it hears us, its last
 * word counts, for the first may be an older connection's.  False: no memory, as if
 * it had not come. */
static bool learn(struct tux_conn *c, const struct tux_addr *from,
		  const struct tux_hello *h)
{
	c->peer_id = h->id;
	c->peer_token = h->token;
	c->peer = *from;
	c->peer.port = h->port;
	c->tx.window = h->window;
	c->peer_messages = h->flags & TUX_HELLO_MESSAGES;
	c->pkt_max = h->pkt_max < c->core->pkt_max ? h->pkt_max :
						     c->core->pkt_max;
	tux_rtt_init(&c->rtt, (tux_time)h->delay * 100000u);
	c->peer_first = (1ull << 32) + h->seq;
	tux_ackq_init(&c->ackq, c->peer_first);
	if (!join(c)) {
		c->peer_nonce = 0;	/* nor do earlier words count */
		tux_conn_decide(c, TUX_REASON_NO_MEMORY);
		return false;
	}
	c->peer_nonce = h->nonce;
	c->session = derive(c, SESSION);
	c->seal = derive(c, SEAL);
	return true;
}

void tux_hello_recv(struct tux_conn *c, const struct tux_addr *from,
		    const struct tux_hello *h, tux_time now)
{
	tux_conn_trace(c, TUX_TRACE_RECV_HELLO, h->flags, 0, 0);
	if (!h->nonce || !h->id || !h->port || h->pkt_max < TUX_HELLO_PKT_MIN ||
	    (c->phase != TUX_PHASE_OPENING && h->nonce != c->peer_nonce)) {
		c->stats.dropped++;
		return;
	}
	if (h->nonce != c->peer_nonce && !learn(c, from, h))
		return;
	if (c->open.refused)
		return;
	if (h->echo == c->nonce)
		tux_hello_proved(c, now);
	if (h->flags & TUX_HELLO_WANT)
		tux_conn_do(c, TUX_DO_HELLO);
	/* Who may begin asks by timer, too, until it is proved.  Who may not only
	 * answers: the other asks until it has heard that. */
	if (c->phase == TUX_PHASE_OPENING && !c->open.tries && may_begin(c)) {
		c->open.tries = 1;
		c->open.at = tux_time_add(now, wait_after(1));
	}
}

size_t tux_hello_build(struct tux_conn *c, uint8_t *buf, size_t cap,
		       tux_time now)
{
	struct tux_pkt h = { .flags = TUX_PKT_OPEN };
	struct tux_hello hello = {
		.flags = (uint8_t)((c->active ? TUX_HELLO_ACTIVE : 0) |
				   (c->msg ? TUX_HELLO_MESSAGES : 0) |
				   (c->phase == TUX_PHASE_OPENING ?
				    TUX_HELLO_WANT : 0)),
		.version = TUX_WIRE_VERSION,
		.port = c->core->port ? c->core->port : tux_conn_local(c)->port,
		.id = c->id,
		.seq = (uint32_t)c->sentq.next,
		.window = c->dx->rxp.cap,
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
