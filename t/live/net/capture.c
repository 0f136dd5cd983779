/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

enum {
	EACH = 200,	/* one of so many takes an older one's place */
	PAUSE_MS = 500,	/* between two lives */
};

static bool ours(const struct tux_eth_view *v)
{
	return v->len >= TUX_PKT_HDR && v->p[0] == TUX_WIRE_MAGIC >> 8 &&
	       v->p[1] == (TUX_WIRE_MAGIC & 0xff);
}

static struct capture_life new_life(void)
{
	struct capture_life l = {
		.kept = calloc(CAPTURE_KEPT, sizeof(*l.kept)),
	};

	if (!l.kept)
		abort();
	return l;
}

/* NULL: there are too many. */
static struct capture_way *way_of(struct capture *t, const struct tux_eth_view *v,
			       const uint8_t *frame)
{
	struct capture_way *w;

	for (w = t->way; w < t->way + t->n; w++)
		if (tux_addr_same_ip(&w->from, &v->from) &&
		    tux_addr_same_ip(&w->to, &v->to)) {
			w->from = v->from;
			w->to = v->to;
			return w;
		}
	if (t->n == CAPTURE_WAYS)
		return NULL;
	t->n++;
	w->from = v->from;
	w->to = v->to;
	memcpy(&w->macs, frame, sizeof(w->macs));
	w->now = new_life();
	w->before = new_life();
	return w;
}

/* Several connections may have a way at the same time, each with a HELLO.  After a
 * pause, the nonce is another connection's, or the same one speaks again. */
static void hear_hello(struct capture_way *w, const struct tux_pkt *h,
		       const uint8_t *p, tux_time now)
{
	struct capture_life l = w->before;
	struct tux_record rec;
	struct tux_reader r;
	struct tux_hello hello;

	tux_reader_init(&r, h, p);
	if (tux_reader_next(&r, &rec) <= 0 || tux_hello_decode(&hello, &rec))
		return;
	if (w->has_hello && hello.nonce != w->hello.nonce &&
	    now - w->heard_at > TUX_MSEC(PAUSE_MS)) {
		w->before = w->now;
		w->now = l;
		w->now.n = 0;
		w->has_pkt = false;
	}
	w->hello = hello;
	w->has_hello = true;
}

static void keep(struct capture_datagram *d, const struct tux_eth_view *v,
		 tux_time now)
{
	d->at = now;
	d->len = v->len;
	memcpy(d->p, v->p, v->len);
}

void capture_hear(struct capture *t, const uint8_t *frame, size_t len, tux_time now)
{
	struct tux_eth_view v;
	struct capture_way *w;
	struct tux_pkt h;
	size_t at;

	if (tux_eth_parse(&v, frame, len) || !ours(&v) || v.len > CAPTURE_SIZE)
		return;
	w = way_of(t, &v, frame);
	if (!w)
		return;
	for (at = 0; !tux_pkt_decode(&h, v.p + at, v.len - at); at += h.len) {
		if (h.flags & TUX_PKT_OPEN) {
			hear_hello(w, &h, v.p + at, now);
			keep(&w->opening, &v, now);
			w->heard_at = now;
		} else {
			w->pkt = h;
			w->has_pkt = true;
		}
	}
	w->heard_at = now;
	if (w->now.n < CAPTURE_KEPT)
		keep(&w->now.kept[w->now.n++], &v, now);
	else if (mrand48() % EACH == 0)
		keep(&w->now.kept[(uint32_t)mrand48() % CAPTURE_KEPT], &v, now);
}

const struct capture_datagram *capture_kept(const struct capture_life *l, unsigned i)
{
	return l->n ? &l->kept[i % l->n] : NULL;
}

void capture_fini(struct capture *t)
{
	unsigned i;

	for (i = 0; i < t->n; i++) {
		free(t->way[i].now.kept);
		free(t->way[i].before.kept);
	}
}
