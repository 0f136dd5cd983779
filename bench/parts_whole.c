/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All parts together: two cores, from one application to the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"
#include "parts.h"
#include "twin.h"

enum { ROUNDS = 300 };			/* until windows have grown */

static uint8_t bytes[32768], copy[32768];

static struct twin one;

static void open_twin(struct twin *t, unsigned conns, bool messages)
{
	int err = t->n ? 0 : twin_init(t, conns, PARTS_RING,
				       messages ? PARTS_LANE : 0);

	if (err)
		option_fail(1, "the cores: %s", strerror(-err));
}

static void read_all(struct duo_end *e)
{
	while (duo_read(e, copy, sizeof(copy)) > 0)
		;
}

enum { OUT = 1, IN = 2, ACK = 4, WRITE = 8, READ = 16, ALL = 31 };

static void stage(struct watch *w, int want, int is, bool go)
{
	if (want == ALL || !(want & is))
		return;
	if (go)
		watch_go(w);
	else
		watch_stop(w);
}

/* A batch of packets and the acknowledgments for them. */
static unsigned bulk_round(struct twin *t, struct watch *w, int want)
{
	struct duo_end *e = &t->end[0][0];
	unsigned n;

	stage(w, want, WRITE, true);
	duo_write(e, bytes, sizeof(bytes));
	duo_write(e, bytes, sizeof(bytes));
	stage(w, want, WRITE, false);
	stage(w, want, OUT, true);
	n = twin_output(t, 0);
	stage(w, want, OUT, false);
	stage(w, want, IN, true);
	twin_input(t, 1);
	stage(w, want, IN, false);
	stage(w, want, READ, true);
	read_all(e->peer);
	stage(w, want, READ, false);
	twin_pass(t, TUX_USEC(20));
	stage(w, want, ACK, true);
	twin_output(t, 1);
	twin_input(t, 0);
	stage(w, want, ACK, false);
	twin_pass(t, TUX_USEC(20));
	return n;
}

static unsigned bulk(struct watch *w, unsigned n, int want)
{
	static bool grown;
	unsigned i, done = 0;

	watch_stop(w);
	open_twin(&one, 1, false);
	for (i = 0; i < ROUNDS && !grown; i++)
		bulk_round(&one, w, 0);
	grown = true;
	if (want == ALL)
		watch_go(w);
	while (done < n)
		done += bulk_round(&one, w, want);
	if (want != ALL)
		watch_go(w);
	return done;
}

#define BULK(what, want) \
	static unsigned bulk_##what(struct watch *w, unsigned n) \
	{ \
		return bulk(w, n, want); \
	}
BULK(write, WRITE)
BULK(out, OUT)
BULK(in, IN)
BULK(read, READ)
BULK(ack, ACK)
BULK(all, ALL)

/* ---- questions and answers ---- */

/* A kind of question: @burst are under way at once on each connection. */
struct ask {
	unsigned conns, burst;
	bool messages;
};

static void ask(const struct ask *a, struct duo_end *e)
{
	const struct iovec v = { bytes, PARTS_SMALL };
	uint64_t ref;
	unsigned i;

	for (i = 0; i < a->burst; i++) {
		if (!a->messages)
			duo_write(e, bytes, PARTS_SMALL);
		else if (tux_msgbox_send(e->box, &v, 1, 0, false, &ref))
			abort();
	}
	if (a->messages)
		duo_ring(e, TUX_DOORBELL_MESSAGE);
}

/* The application at @e has what came, and with @answers sends it back.  How
 * many bytes. */
static size_t hear_stream(struct duo_end *e, bool answers)
{
	ssize_t n = duo_read(e, copy, sizeof(copy));

	if (n > 0 && answers)
		duo_write(e, copy, (size_t)n);
	return n > 0 ? (size_t)n : 0;
}

static size_t hear_messages(struct duo_end *e, bool answers)
{
	struct tux_msg m[PARTS_BURST];
	unsigned i, n = tux_msgbox_take(e->box, m, PARTS_BURST);
	bool ring = n && answers;
	size_t len = 0;
	uint64_t ref;

	for (i = 0; i < n; i++) {
		const struct iovec v = { (void *)(uintptr_t)m[i].p, m[i].len };

		len += m[i].len;
		if (answers &&
		    tux_msgbox_send(e->box, &v, 1, 0, false, &ref))
			abort();
	}
	if (tux_msgbox_release(e->box, m, n) || ring)
		duo_ring(e, TUX_DOORBELL_MESSAGE);
	return len;
}

/* Carries the datagrams of side @i to the other side, and lets the applications there
 * take all that was sent. */
static void carry(struct twin *t, const struct ask *a, unsigned i)
{
	unsigned k;

	while (twin_output(t, i))
		twin_input(t, !i);
	for (k = 0; k < t->n; k++) {
		struct duo_end *e = &t->end[!i][k];
		size_t len = a->messages ? hear_messages(e, !i) :
					   hear_stream(e, !i);

		if (len != (size_t)a->burst * PARTS_SMALL)
			abort();
	}
}

static unsigned ask_all(struct twin *t, const struct ask *a, struct watch *w,
			unsigned n)
{
	unsigned done = 0, i;

	watch_stop(w);
	open_twin(t, a->conns, a->messages);
	watch_go(w);
	while (done < n) {
		for (i = 0; i < t->n; i++)
			ask(a, &t->end[0][i]);
		carry(t, a, 0);
		twin_pass(t, TUX_USEC(10));
		carry(t, a, 1);
		twin_pass(t, TUX_USEC(10));
		done += t->n * a->burst;
	}
	return done;
}

#define ASK(what, conns, burst, messages) \
	static unsigned what(struct watch *w, unsigned n) \
	{ \
		static const struct ask a = { conns, burst, messages }; \
		static struct twin t; \
		return ask_all(&t, &a, w, n); \
	}
ASK(ask_one, 1, 1, false)
ASK(ask_burst, 1, PARTS_BURST, false)
ASK(ask_crowd, PARTS_CROWD, 1, false)
ASK(message_one, 1, 1, true)
ASK(message_burst, 1, PARTS_BURST, true)
ASK(message_crowd, PARTS_CROWD, 1, true)

const struct part parts_whole[] = {
	{ "bulk-write", bulk_write },
	{ "bulk-out", bulk_out },
	{ "bulk-in", bulk_in },
	{ "bulk-read", bulk_read },
	{ "bulk-ack", bulk_ack },
	{ "bulk-all", bulk_all },
	{ "ask-1", ask_one },
	{ "ask-32", ask_crowd },
	{ "ask-burst", ask_burst },
	{ "message-1", message_one },
	{ "message-32", message_crowd },
	{ "message-burst", message_burst },
	{ 0 },
};
