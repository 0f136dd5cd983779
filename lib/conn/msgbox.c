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

/* The note of the message @ref; NULL if its outcome was told already, or if
 * there was no such message. */
static struct tux_note *note_of(struct tux_msgbox *b, uint64_t ref)
{
	unsigned lane = ref % TUX_LANES;
	uint64_t i = ref / TUX_LANES;

	if (i < b->tx[lane].first || i >= atomic_load(&b->tx[lane].next))
		return NULL;
	return tux_msgbox_note(b, lane, i);
}

size_t tux_msgbox_size(uint32_t small, uint32_t bulk)
{
	return sizeof(struct tux_msgbox) + TUX_MESSAGE_ALIGN +
	       5 * ((size_t)small + bulk) / 2;
}

void tux_msgbox_init(struct tux_msgbox *b, uint32_t small, uint32_t bulk)
{
	const uint32_t cap[TUX_LANES] = { small, bulk };
	uint32_t mem = (sizeof(*b) + TUX_MESSAGE_ALIGN - 1) &
		       ~(TUX_MESSAGE_ALIGN - 1u);
	unsigned i;

	memset(b, 0, offsetof(struct tux_msgbox, slot));
	for (i = 0; i < TUX_LANES; i++) {
		b->tx[i].cap = b->rx[i].cap = cap[i];
		b->tx[i].mem = mem;
		b->rx[i].mem = mem + cap[i];
		mem += 2 * cap[i] + cap[i] / 2;
		atomic_store(&b->tx[i].max, cap[i] / 2);
	}
}

static void refuse_lane(struct tux_msgbox *b, unsigned lane, int err)
{
	struct tux_msgbox_tx *t = &b->tx[lane];

	while (t->taken != atomic_load(&t->next)) {
		struct tux_note *m = tux_msgbox_note(b, lane, t->taken++);

		b->refused += m->flags & TUX_MSG_ORDERED ? 1 : 0;
		m->err = (uint32_t)err;
		atomic_store(&m->state, TUX_NOTE_FAILED);
	}
}

void tux_msgbox_refuse(struct tux_msgbox *b, int err)
{
	unsigned i;

	/* Set the error first: then only a reservation that is under way now
	 * can add a note behind refuse_lane().  No later one is refused, so the
	 * numbers of ordered messages have no gap. */
	atomic_store(&b->err, (uint32_t)err);
	for (i = 0; i < TUX_LANES; i++)
		refuse_lane(b, i, err);
}

uint32_t tux_msgbox_longest(const struct tux_msgbox *b)
{
	return atomic_load(&b->tx[TUX_LANE_BULK].max);
}

/* ---- sending ---- */

/* No locked store: the doorbell that follows orders it for the loop, and the effect
 * of the loop for the application. */
static void note_set(struct tux_note *m, uint32_t state)
{
	atomic_store_explicit(&m->state, state, memory_order_release);
}

static struct tux_note *oldest_note(struct tux_msgbox *b, unsigned lane)
{
	return tux_msgbox_note(b, lane, b->tx[lane].first);
}

/* Frees the room and the note of the lane's oldest message. */
static void note_free(struct tux_msgbox *b, unsigned lane)
{
	struct tux_msgbox_tx *t = &b->tx[lane];
	struct tux_note *m = oldest_note(b, lane);

	t->tail = m->at + tux_lane_size(m->len);
	note_set(m, TUX_NOTE_FREE);
	t->first++;
}

/* Is the lane's oldest message settled? */
static bool note_is_settled(struct tux_msgbox *b, unsigned lane)
{
	struct tux_msgbox_tx *t = &b->tx[lane];

	return t->first != atomic_load(&t->next) &&
	       atomic_load(&oldest_note(b, lane)->state) >= TUX_NOTE_SENT;
}

/* Frees the oldest messages that have succeeded, unless the application asks
 * for outcomes. */
static void note_free_sent(struct tux_msgbox *b, unsigned lane)
{
	struct tux_msgbox_tx *t = &b->tx[lane];

	while (!b->asks && t->first < atomic_load(&t->next) &&
	       atomic_load(&oldest_note(b, lane)->state) == TUX_NOTE_SENT)
		note_free(b, lane);
}

/* The next note of @lane, filled, for a message of @len bytes.  NULL: there is
 * no room, and no note was touched. */
static struct tux_note *note_open(struct tux_msgbox *b, unsigned lane,
				  uint32_t len, unsigned flags)
{
	struct tux_msgbox_tx *t = &b->tx[lane];
	uint64_t i = atomic_load(&t->next), at;
	struct tux_note *m;

	if (i == t->first) {
		t->head = t->tail = 0;
		atomic_store_explicit(&t->zero, i, memory_order_relaxed);
	}
	m = tux_msgbox_note(b, lane, i);
	at = tux_lane_place(t->head, len, t->cap);
	if (i - t->first == tux_lane_n(lane) ||
	    at + tux_lane_size(len) > t->tail + t->cap)
		return NULL;
	m->at = at;
	m->len = len;
	m->flags = flags;
	m->order = flags & TUX_MSG_ORDERED ? b->order++ : 0;
	m->err = 0;
	t->head = at + tux_lane_size(len);
	return m;
}

/* Shows the loop the note that note_open() has given, with @state.  The note's
 * name. */
static uint64_t note_show(struct tux_msgbox *b, unsigned lane,
			  struct tux_note *m, uint32_t state)
{
	struct tux_msgbox_tx *t = &b->tx[lane];
	uint64_t i = atomic_load(&t->next);

	note_set(m, state);
	atomic_store_explicit(&t->next, i + 1, memory_order_release);
	return ref_of(lane, i);
}

static unsigned lane_of(uint64_t len)
{
	return len > TUX_MSG_SMALL ? TUX_LANE_BULK : TUX_LANE_SMALL;
}

static void *bytes_of_note(struct tux_msgbox *b, unsigned lane,
			   const struct tux_note *m)
{
	const struct tux_msgbox_tx *t = &b->tx[lane];

	return (uint8_t *)b + t->mem + (m->at & (t->cap - 1));
}

/* As tux_msgbox_reserve(), but the loop is not shown the note in *@m yet. */
static int open_one(struct tux_msgbox *b, uint64_t len, unsigned flags,
		    bool shut, struct tux_note **m)
{
	unsigned lane = lane_of(len);
	int err = (int)atomic_load(&b->err);

	if (err)
		return -err;
	if (shut)
		return -EPIPE;
	if (len > atomic_load(&b->tx[lane].max))
		return -EMSGSIZE;
	note_free_sent(b, lane);
	*m = note_open(b, lane, (uint32_t)len, flags);
	return *m ? 0 : -EAGAIN;
}

int tux_msgbox_reserve(struct tux_msgbox *b, uint32_t len, unsigned flags,
		       bool shut, void **p, uint64_t *ref)
{
	unsigned lane = lane_of(len);
	struct tux_note *m;
	int err = open_one(b, len, flags, shut, &m);

	if (err)
		return err;
	*p = bytes_of_note(b, lane, m);
	*ref = note_show(b, lane, m, TUX_NOTE_OPEN);
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
	struct tux_note *m;
	uint64_t len = 0;
	uint8_t *p;
	int i, err;

	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	err = open_one(b, len, flags, shut, &m);
	if (err)
		return err;
	p = bytes_of_note(b, lane_of(len), m);
	for (i = 0; i < n; p += iov[i++].iov_len)
		memcpy(p, iov[i].iov_base, iov[i].iov_len);
	*ref = note_show(b, lane_of(len), m, TUX_NOTE_READY);
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
		if (!note_is_settled(b, lane))
			continue;
		*ref = ref_of(lane, b->tx[lane].first);
		*err = (int)oldest_note(b, lane)->err;
		note_free(b, lane);
		return true;
	}
	return false;
}

unsigned tux_msgbox_reap(struct tux_msgbox *b, unsigned *failed)
{
	unsigned lane, n = 0;

	*failed = 0;
	for (lane = 0; lane < TUX_LANES; lane++) {
		for (; note_is_settled(b, lane); n++) {
			*failed += oldest_note(b, lane)->err != 0;
			note_free(b, lane);
		}
	}
	return n;
}

unsigned tux_msgbox_rest(const struct tux_msgbox *b, int why, uint64_t *ref,
			 int *err)
{
	unsigned lane, n = 0;

	for (lane = 0; lane < TUX_LANES; lane++) {
		uint64_t i = b->tx[lane].first, end = atomic_load(&b->tx[lane].next);

		for (; i < end; i++, n++) {
			const struct tux_note *m = &b->slot[tux_lane_slot(lane,
						i - b->tx[lane].zero)].note;

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
	uint32_t head = atomic_load_explicit(&b->in_head, memory_order_acquire);
	uint32_t tail = atomic_load_explicit(&b->in_tail, memory_order_relaxed);
	unsigned i;

	for (i = 0; i < n && tail != head; i++, tail++) {
		unsigned slot = b->in[tail % TUX_MSG_IN];
		unsigned lane = slot >= TUX_MSG_SMALL_N;
		const struct tux_arrival *a = &b->slot[slot].arrived;

		m[i].p = (const uint8_t *)b + b->rx[lane].mem + a->at;
		m[i].len = a->len;
		m[i].flags = a->flags;
		m[i].ref = slot;
	}
	atomic_store_explicit(&b->in_tail, tail, memory_order_release);
	return i;
}

bool tux_msgbox_release(struct tux_msgbox *b, const struct tux_msg *m,
			unsigned n)
{
	uint64_t sum[TUX_LANES] = { 0 };
	bool ring = false;
	unsigned lane, i;

	for (i = 0; i < n; i++) {
		unsigned slot = (unsigned)(m[i].ref % TUX_MSG_N);

		lane = slot >= TUX_MSG_SMALL_N;
		sum[lane] += tux_msgbox_takes(b->rx[lane].cap, lane, m[i].len);
		atomic_store_explicit(&b->slot[slot].released, 1,
				      memory_order_release);
	}
	for (lane = 0; lane < TUX_LANES; lane++) {
		struct tux_msgbox_rx *r = &b->rx[lane];

		if (sum[lane] && atomic_fetch_add(&r->freed, sum[lane]) +
				 sum[lane] >= atomic_load(&r->wake_at))
			ring = true;
	}
	return ring;
}
