/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msgbox - the application's side of a message box
 */
#include "conn/msgbox.h"

#include <errno.h>
#include <string.h>

/* The name of message @i of @lane. */
static uint64_t ref_of(unsigned lane, uint64_t i)
{
	return i * TUX_LANES + lane;
}

static struct tux_note *note_at(struct tux_msgbox *b, unsigned lane, uint64_t i)
{
	return &b->note[tux_lane_slot(lane, i)];
}

/* The note of the message @ref; NULL if its outcome was told already, or if
 * there was no such message. */
static struct tux_note *note_of(struct tux_msgbox *b, uint64_t ref)
{
	unsigned lane = ref % TUX_LANES;
	uint64_t i = ref / TUX_LANES;

	if (i < b->tx[lane].first || i >= atomic_load(&b->tx[lane].next))
		return NULL;
	return note_at(b, lane, i);
}

size_t tux_msgbox_size(uint32_t small, uint32_t bulk)
{
	return sizeof(struct tux_msgbox) + TUX_MESSAGE_ALIGN +
	       2 * ((size_t)small + bulk);
}

void tux_msgbox_init(struct tux_msgbox *b, uint32_t small, uint32_t bulk)
{
	const uint32_t cap[TUX_LANES] = { small, bulk };
	uint32_t mem = (sizeof(*b) + TUX_MESSAGE_ALIGN - 1) &
		       ~(TUX_MESSAGE_ALIGN - 1u);
	unsigned i;

	memset(b, 0, sizeof(*b));
	for (i = 0; i < TUX_LANES; i++) {
		b->tx[i].cap = b->rx[i].cap = cap[i];
		b->tx[i].mem = mem;
		b->rx[i].mem = mem + cap[i];
		mem += 2 * cap[i];
		atomic_store(&b->tx[i].max, cap[i] / 2);
	}
}

static void refuse_lane(struct tux_msgbox *b, unsigned lane, int err)
{
	struct tux_msgbox_tx *t = &b->tx[lane];

	while (t->taken != atomic_load(&t->next)) {
		struct tux_note *m = note_at(b, lane, t->taken++);

		m->err = (uint32_t)err;
		atomic_store(&m->state, TUX_NOTE_FAILED);
	}
}

void tux_msgbox_refuse(struct tux_msgbox *b, int err)
{
	unsigned i;

	/* Set the error first: then only a reservation that is under way now
	 * can add a note behind refuse_lane(). */
	atomic_store(&b->err, (uint32_t)err);
	for (i = 0; i < TUX_LANES; i++)
		refuse_lane(b, i, err);
}

uint32_t tux_msgbox_longest(const struct tux_msgbox *b)
{
	return atomic_load(&b->tx[TUX_LANE_BULK].max);
}

/* ---- sending ---- */

/* Frees the room and the note of the lane's oldest message. */
static void note_free(struct tux_msgbox *b, unsigned lane)
{
	struct tux_msgbox_tx *t = &b->tx[lane];
	struct tux_note *m = note_at(b, lane, t->first);

	t->tail = m->at + tux_lane_size(m->len);
	atomic_store(&m->state, TUX_NOTE_FREE);
	t->first++;
}

/* Frees the oldest messages that have succeeded, unless the application asks
 * for outcomes. */
static void note_free_sent(struct tux_msgbox *b, unsigned lane)
{
	struct tux_msgbox_tx *t = &b->tx[lane];

	while (!b->asks && t->first < atomic_load(&t->next) &&
	       atomic_load(&note_at(b, lane, t->first)->state) == TUX_NOTE_SENT)
		note_free(b, lane);
}

static int note_open(struct tux_msgbox *b, unsigned lane, uint32_t len,
		     unsigned flags, uint64_t *ref)
{
	struct tux_msgbox_tx *t = &b->tx[lane];
	uint64_t i = atomic_load(&t->next);
	uint64_t at = tux_lane_place(t->head, len, t->cap);
	struct tux_note *m = note_at(b, lane, i);

	if (i - t->first == tux_lane_n(lane) ||
	    at + tux_lane_size(len) > t->tail + t->cap)
		return -EAGAIN;
	m->at = at;
	m->len = len;
	m->flags = flags;
	m->order = flags & TUX_MSG_ORDERED ? b->order++ : 0;
	m->err = 0;
	atomic_store(&m->state, TUX_NOTE_OPEN);
	t->head = at + tux_lane_size(len);
	atomic_store(&t->next, i + 1);
	*ref = ref_of(lane, i);
	return 0;
}

int tux_msgbox_reserve(struct tux_msgbox *b, uint32_t len, unsigned flags,
		       bool shut, void **p, uint64_t *ref)
{
	unsigned lane = len > TUX_MSG_SMALL ? TUX_LANE_BULK : TUX_LANE_SMALL;
	struct tux_msgbox_tx *t = &b->tx[lane];
	int err = (int)atomic_load(&b->err);

	if (err)
		return -err;
	if (shut)
		return -EPIPE;
	if (len > atomic_load(&t->max))
		return -EMSGSIZE;
	note_free_sent(b, lane);
	err = note_open(b, lane, len, flags, ref);
	if (err)
		return err;
	*p = (uint8_t *)b + t->mem +
	     (note_of(b, *ref)->at & (t->cap - 1));
	return 0;
}

void tux_msgbox_commit(struct tux_msgbox *b, uint64_t ref)
{
	uint32_t open = TUX_NOTE_OPEN;
	struct tux_note *m = note_of(b, ref);

	if (m)
		atomic_compare_exchange_strong(&m->state, &open,
					       TUX_NOTE_READY);
}

int tux_msgbox_send(struct tux_msgbox *b, const struct iovec *iov, int n,
		    unsigned flags, bool shut, uint64_t *ref)
{
	uint64_t len = 0, at = 0;
	void *p;
	int i, err;

	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	if (len > TUX_MESSAGE_MAX)
		return -EMSGSIZE;
	err = tux_msgbox_reserve(b, (uint32_t)len, flags, shut, &p, ref);
	if (err)
		return err;
	for (i = 0; i < n; at += iov[i++].iov_len)
		memcpy((uint8_t *)p + at, iov[i].iov_base, iov[i].iov_len);
	tux_msgbox_commit(b, *ref);
	return 0;
}

bool tux_msgbox_cancel(struct tux_msgbox *b, uint64_t ref)
{
	struct tux_note *m = note_of(b, ref);
	uint32_t state;

	if (!m)
		return false;
	state = atomic_load(&m->state);
	while (state == TUX_NOTE_OPEN || state == TUX_NOTE_READY) {
		if (atomic_compare_exchange_strong(&m->state, &state,
						   TUX_NOTE_CANCEL)) {
			atomic_store(&b->cancels, 1);
			return true;
		}
	}
	return state == TUX_NOTE_CANCEL;
}

bool tux_msgbox_settled(struct tux_msgbox *b, uint64_t *ref, int *err)
{
	unsigned lane;

	for (lane = 0; lane < TUX_LANES; lane++) {
		struct tux_msgbox_tx *t = &b->tx[lane];
		struct tux_note *m = note_at(b, lane, t->first);

		if (t->first == atomic_load(&t->next) ||
		    atomic_load(&m->state) < TUX_NOTE_SENT)
			continue;
		*ref = ref_of(lane, t->first);
		*err = (int)m->err;
		note_free(b, lane);
		return true;
	}
	return false;
}

unsigned tux_msgbox_rest(const struct tux_msgbox *b, int why, uint64_t *ref,
			 int *err)
{
	unsigned lane, n = 0;

	for (lane = 0; lane < TUX_LANES; lane++) {
		uint64_t i = b->tx[lane].first, end = atomic_load(&b->tx[lane].next);

		for (; i < end; i++, n++) {
			const struct tux_note *m = &b->note[tux_lane_slot(lane,
									  i)];

			ref[n] = ref_of(lane, i);
			err[n] = atomic_load(&m->state) < TUX_NOTE_SENT ? why :
				 (int)m->err;
		}
	}
	return n;
}

bool tux_msgbox_idle(struct tux_msgbox *b)
{
	unsigned lane;

	for (lane = 0; lane < TUX_LANES; lane++) {
		note_free_sent(b, lane);
		if (b->tx[lane].first != atomic_load(&b->tx[lane].next))
			return false;
	}
	return true;
}

/* ---- receiving ---- */

unsigned tux_msgbox_take(struct tux_msgbox *b, struct tux_msg *m, unsigned n)
{
	uint32_t head = atomic_load(&b->in_head);
	uint32_t tail = atomic_load_explicit(&b->in_tail, memory_order_relaxed);
	unsigned i;

	for (i = 0; i < n && tail != head; i++, tail++) {
		const struct tux_arrival *a = &b->in[tail % TUX_MSG_IN];

		m[i].p = (const uint8_t *)b + b->rx[a->lane].mem + a->at;
		m[i].len = a->len;
		m[i].flags = a->flags;
		m[i].ref = ref_of(a->lane, a->id);
	}
	atomic_store(&b->in_tail, tail);
	return i;
}

bool tux_msgbox_release(struct tux_msgbox *b, const struct tux_msg *m)
{
	unsigned lane = m->ref % TUX_LANES;
	struct tux_msgbox_rx *r = &b->rx[lane];
	uint32_t size = tux_msgbox_takes(r->cap, lane, m->len);

	atomic_store(&b->released[tux_lane_slot(lane, m->ref / TUX_LANES)], 1);
	return atomic_fetch_add(&r->freed, size) + size >=
	       atomic_load(&r->wake_at);
}
