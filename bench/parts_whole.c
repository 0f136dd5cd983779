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

static struct twin one, crowd;

static void open_twin(struct twin *t, unsigned conns)
{
	int err = t->n ? 0 : twin_init(t, conns, PARTS_RING);

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
	open_twin(&one, 1);
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

/* Datagrams of side @i to the other one, whose applications read what came in
 * them and, with @answer, write as much. */
static void carry(struct twin *t, unsigned i, bool answer)
{
	uint8_t p[PARTS_SMALL];
	unsigned k;

	while (twin_output(t, i))
		twin_input(t, !i);
	for (k = 0; k < t->n; k++) {
		struct duo_end *e = &t->end[!i][k];

		if (duo_read(e, p, sizeof(p)) != PARTS_SMALL)
			abort();
		if (answer)
			duo_write(e, p, sizeof(p));
	}
}

static unsigned ask(struct twin *t, unsigned conns, struct watch *w, unsigned n)
{
	unsigned done = 0, i;

	watch_stop(w);
	open_twin(t, conns);
	watch_go(w);
	while (done < n) {
		for (i = 0; i < t->n; i++)
			duo_write(&t->end[0][i], bytes, PARTS_SMALL);
		carry(t, 0, true);
		twin_pass(t, TUX_USEC(10));
		carry(t, 1, false);
		twin_pass(t, TUX_USEC(10));
		done += t->n;
	}
	return done;
}

static unsigned ask_one(struct watch *w, unsigned n)
{
	static struct twin t;

	return ask(&t, 1, w, n);
}

static unsigned ask_crowd(struct watch *w, unsigned n)
{
	return ask(&crowd, PARTS_CROWD, w, n);
}

const struct part parts_whole[] = {
	{ "bulk-write", bulk_write },
	{ "bulk-out", bulk_out },
	{ "bulk-in", bulk_in },
	{ "bulk-read", bulk_read },
	{ "bulk-ack", bulk_ack },
	{ "bulk-all", bulk_all },
	{ "ask-1", ask_one },
	{ "ask-32", ask_crowd },
	{ 0 },
};
