/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/refuse.h"

#include <assert.h>
#include <string.h>

#include "conn/conn.h"

/* Reads the packet at @p with header @h.  False: it is no HELLO that wants an
 * answer.  A refusal wants none, so two ends never answer each other for ever. */
static bool read_question(const uint8_t *p, const struct tux_pkt *h,
			  struct tux_hello *hello)
{
	struct tux_record rec;
	struct tux_reader r;

	if (!(h->flags & TUX_PKT_OPEN))
		return false;
	tux_reader_init(&r, h, p);
	return tux_reader_next(&r, &rec) > 0 && rec.type == TUX_REC_HELLO &&
	       !tux_hello_decode(hello, &rec) && !hello->why &&
	       hello->flags & TUX_HELLO_WANT && hello->nonce && hello->port;
}

bool tux_core_asked(const uint8_t **p, size_t *len, struct tux_question *q)
{
	struct tux_hello hello;
	struct tux_pkt h;

	while (*len && !tux_pkt_decode(&h, *p, *len)) {
		q->p = *p;
		q->len = h.len;
		*p += h.len;
		*len -= h.len;
		if (!read_question(q->p, &h, &hello))
			continue;
		q->tuple = hello.tuple;
		q->active = !(hello.flags & TUX_HELLO_ACTIVE);
		return true;
	}
	return false;
}

/* Writes the answer to @q to @p. */
static void build(struct tux_core *core, uint8_t *p, const struct tux_hello *q,
		  const struct tux_key *key, enum tux_reason why)
{
	struct tux_pkt h = { .flags = TUX_PKT_OPEN };
	struct tux_hello hello = {
		.flags = (q->flags & TUX_HELLO_ACTIVE) ^ TUX_HELLO_ACTIVE,
		.version = TUX_WIRE_VERSION,
		.why = (uint8_t)why,
		.port = core->port,
		.id = tux_rng_u32(&core->rng) | 1,
		.nonce = tux_rng_u64(&core->rng) | 1,
		.echo = q->nonce,
		.pkt_max = (uint16_t)core->pkt_max,
		.tuple = q->tuple,
	};
	struct tux_writer w;

	tux_hello_mask(&hello, key);
	tux_writer_init(&w, p, TUX_REFUSAL_LEN);
	tux_writer_hello(&w, &hello);
	tux_writer_end(&w, &h, key);
}

bool tux_core_refuse(struct tux_core *core, const struct tux_addr *from,
		     const uint8_t *p, size_t len, const struct tux_key *key,
		     enum tux_reason why)
{
	struct tux_refusal *r = &core->refusal[core->refusal_n];
	struct tux_hello q;
	struct tux_pkt h;
	bool active;

	if (core->refusal_n == TUX_REFUSALS || tux_pkt_decode(&h, p, len) ||
	    !read_question(p, &h, &q))
		return false;
	active = !(q.flags & TUX_HELLO_ACTIVE);
	if (!tux_addr_same_ip(from, active ? &q.tuple.passive :
					     &q.tuple.active) ||
	    !tux_hello_mac_ok(p, &h, key)) {
		core->stats.bad_mac++;
		return false;
	}
	r->to = *from;
	r->to.port = q.port;
	r->from = active ? q.tuple.active : q.tuple.passive;
	r->from.port = q.tuple.active.port;
	build(core, r->p, &q, key, why);
	core->refusal_n++;
	return true;
}

bool tux_refuse_lead(const struct tux_core *core, struct tux_out *o)
{
	const struct tux_refusal *r;

	if (!core->refusal_n)
		return false;
	r = &core->refusal[core->refusal_n - 1];
	*o = (struct tux_out){ .to = r->to, .from = r->from };
	return true;
}

size_t tux_refuse_output(struct tux_core *core, uint8_t *buf, size_t cap)
{
	assert(cap >= TUX_REFUSAL_LEN);
	(void)cap;
	memcpy(buf, core->refusal[--core->refusal_n].p, TUX_REFUSAL_LEN);
	return TUX_REFUSAL_LEN;
}
