/* SPDX-License-Identifier: BSD-2-Clause */
#include "payload.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/bytes.h"
#include "known.h"
#include "sys/clock.h"

enum {
	BIG_EACH = 97,		/* one of so many is as long as may be */
	LOG_MAX = 17,		/* the others: up to 2^17 */
	BATCH = 16,
	STUCK_S = 60,		/* TCP alone may pause for long after a cut */
	TOLD = 4,		/* bytes of the stream: how many there were */
};

struct exchange {
	struct side *x;
	struct payloads *out, *in;
	uint8_t told[TOLD], heard[TOLD];
	unsigned told_n, heard_n;
	const char *wrong;
};

void payloads_init(struct payloads *p, uint64_t seed, uint32_t n, uint32_t max)
{
	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->n = n;
	p->max = max;
}

static uint64_t seed_of(const struct payloads *p, uint32_t i)
{
	return known_word(p->seed, i);
}

uint32_t payload_len(const struct payloads *p, uint32_t i)
{
	uint64_t r = seed_of(p, i);
	uint32_t len = 1 + (uint32_t)((r >> 8) % (1u << (1 + r % LOG_MAX)));

	return i % BIG_EACH == BIG_EACH - 1 || len > p->max ? p->max : len;
}

unsigned payload_flags(const struct payloads *p, uint32_t i)
{
	return payload_len(p, i) < 4 || seed_of(p, i) >> 63 ?
	       TUX_MSG_ORDERED : 0;
}

/* Its bytes from @off on, up to eight; how many. */
static uint32_t piece(const struct payloads *p, uint32_t i, uint32_t off,
		      uint8_t word[8])
{
	uint32_t left = payload_len(p, i) - off;
	uint64_t w = known_word(seed_of(p, i), off);

	memcpy(word, &w, 8);
	if (!off)
		tux_put32(word, i);
	return left < 8 ? left : 8;
}

static void fill(const struct payloads *p, uint32_t i, uint8_t *to)
{
	uint32_t off, k, len = payload_len(p, i);
	uint8_t word[8];

	for (off = 0; off < len; off += k) {
		k = piece(p, i, off, word);
		memcpy(to + off, word, k);
	}
}

static bool right(const struct payloads *p, uint32_t i, const uint8_t *b)
{
	uint32_t off, k, len = payload_len(p, i);
	uint8_t word[8];

	for (off = 0; off < len; off += k) {
		k = piece(p, i, off, word);
		if (memcmp(b + off, word, k))
			return false;
	}
	return true;
}

int payloads_send(struct payloads *p, struct side *x)
{
	uint32_t i = p->next;
	uint64_t ref;
	void *to;
	int err;

	err = tux_post_reserve(x->end, payload_len(p, i), payload_flags(p, i),
			       &to, &ref);
	if (err)
		return err;
	fill(p, i, to);
	tux_post_commit(x->end, ref, false);
	p->next++;
	return 0;
}

/* The ordered one that must come next. */
static uint32_t next_ordered(struct payloads *p)
{
	while (!(payload_flags(p, p->ordered) & TUX_MSG_ORDERED))
		p->ordered++;
	return p->ordered;
}

static void note(struct payloads *p, uint32_t i)
{
	p->got[i % PAYLOAD_RING] = true;
	p->got_n++;
	p->bytes += payload_len(p, i);
	while (p->got[p->low % PAYLOAD_RING])
		p->got[p->low++ % PAYLOAD_RING] = false;
}

const char *payloads_check(struct payloads *p, const struct tux_msg *m)
{
	bool ordered = m->flags & TUX_MSG_ORDERED;
	uint32_t i = ordered ? next_ordered(p) : 0;

	if (!ordered) {
		if (m->len < 4)
			return "a short message lost its order";
		i = tux_get32(m->p);
	}
	if (i - p->low >= PAYLOAD_RING || p->got[i % PAYLOAD_RING])
		return "a message came twice";
	if (m->len != payload_len(p, i) || m->flags != payload_flags(p, i))
		return "a message is another";
	if (!right(p, i, m->p))
		return "a message has wrong bytes";
	if (ordered)
		p->ordered++;
	note(p, i);
	return NULL;
}

/* ---- exchange ---- */

static bool fails(struct exchange *e, const char *wrong)
{
	if (!e->wrong)
		e->wrong = wrong;
	return true;
}

/* True if something moved, or went wrong. */
static bool send_some(struct exchange *e)
{
	uint64_t ref;
	int err = 0;

	while (tux_post_settled(e->x->end, &ref, &err))
		if (err)
			return fails(e, strerror(err));
	if (e->out->next >= e->out->n)
		return false;
	err = payloads_send(e->out, e->x);
	if (err && err != -EAGAIN)
		return fails(e, strerror(-err));
	return !err;
}

static bool take_some(struct exchange *e)
{
	struct tux_msg m[BATCH];
	unsigned i, n = tux_post_take(e->x->end, m, BATCH);
	const char *wrong;

	for (i = 0; i < n; i++) {
		wrong = payloads_check(e->in, &m[i]);
		if (wrong)
			return fails(e, wrong);
	}
	/* Backwards: it need not be in order. */
	while (i-- > 0)
		tux_post_release(e->x->end, &m[i], 1);
	return n > 0;
}

/* All are sent: says how many. */
static bool tell(struct exchange *e)
{
	ssize_t k;

	if (e->out->next < e->out->n || e->told_n == TOLD)
		return false;
	tux_put32(e->told, e->out->n);
	k = side_try_write(e->x, e->told + e->told_n, TOLD - e->told_n);
	if (k < 0 && k != -EAGAIN)
		return fails(e, "the stream failed");
	e->told_n += k > 0 ? (unsigned)k : 0;
	return k > 0;
}

static bool hear(struct exchange *e)
{
	ssize_t k;

	if (e->heard_n == TOLD)
		return false;
	k = side_try_read(e->x, e->heard + e->heard_n, TOLD - e->heard_n);
	if (k == -EAGAIN)
		return false;
	if (k <= 0)
		return fails(e, "the stream ended");
	e->heard_n += (unsigned)k;
	if (e->heard_n == TOLD)
		e->in->n = tux_get32(e->heard);
	return true;
}

static bool over(const struct exchange *e)
{
	return e->wrong || (e->told_n == TOLD && e->in->got_n == e->in->n);
}

const char *payloads_exchange(struct side *x, struct payloads *out,
			     struct payloads *in, tux_time until)
{
	struct exchange e = { .x = x, .out = out, .in = in };
	tux_time now = tux_clock_read(), moved_at = now;

	in->n = UINT32_MAX;
	while (!over(&e)) {
		bool moved;

		side_hear(x);
		if ((now >= until || atomic_load(&out->stop)) &&
		    out->n > out->next)
			out->n = out->next;
		moved = take_some(&e);
		moved |= send_some(&e);
		moved |= tell(&e);
		moved |= hear(&e);
		if (!moved)
			side_wait(x, POLLIN, tux_time_min(until,
						now + TUX_MSEC(100)));
		now = tux_clock_read();
		if (moved)
			moved_at = now;
		else if (now - moved_at > TUX_SEC(STUCK_S))
			return "nothing moves";
	}
	return e.wrong;
}
