/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seen - numbers of what came about
 */
#include "seen.h"

#include <errno.h>
#include <string.h>

#include "conn/core.h"
#include "fault.h"
#include "sim.h"
#include "wire/reason.h"
#include "wire/wire.h"

/* ---- kinds of events ---- */

struct event {
	unsigned i;
	const char *name;
};

static const struct event faults[] = {
#define X(fault, name) { SIM_##fault, name },
	SIM_FAULT_LIST(X)
#undef X
	{ 0, NULL }
};

static const struct event fates[] = {
#define X(fate, name) { SIM_FATE_##fate, name },
	SIM_FATE_LIST(X)
#undef X
	{ 0, NULL }
};

/* What an application does, and how. */
#define WORK(X) \
	X(BULK, "bulk") X(ECHO, "echo") X(CLIENT, "client") \
	X(SERVER, "server") X(V6, "v6") X(V4, "v4") X(PORTS, "ports") \
	X(SHARED, "several connections") X(AFTER, "the same ports again") \
	X(ALIAS, "alias") X(LOOPS, "two loops of a host") \
	X(OLD, "numbers wrap") X(VARY, "in pieces") \
	X(PLAIN, "no Tux") X(NO_FD, "no descriptor") X(DEAF, "no messages") \
	X(HOLD, "sleeps in a latch") X(KEEP, "keeps messages") \
	X(MIMIC, "writes like a marker") \
	X(EMPTY, "empty message") X(TINY, "message below 4") \
	X(SMALL, "small message") X(LARGE, "bulk message") \
	X(ORDERED, "ordered") X(UNORDERED, "unordered") \
	X(BACK, "taken back") X(HALF, "half closed")

/* What it is told. */
#define WORDS(X) \
	X(EOF_, "end of stream") X(READ_RESET, "read: reset") \
	X(WRITE_RESET, "write: reset") X(WRITE_PIPE, "write: pipe") \
	X(SWITCHED, "both ways on Tux") X(CAME, "message came") \
	X(SENT, "message arrived") X(CANCELED, "message taken back") \
	X(NO_PEER, "message: no Tux there") X(NO_ROOM, "message: no room") \
	X(SHUTDOWN, "message: shut down") X(RESET, "message: reset") \
	X(REFUSED, "message refused")

#define X(word, name) WORK_##word,
enum { WORK(X) WORK_N };
#undef X
#define X(word, name) WORD_##word,
enum { WORDS(X) WORD_N };
#undef X

static const struct event works[] = {
#define X(word, name) { WORK_##word, name },
	WORK(X)
#undef X
	{ 0, NULL }
};

static const struct event words[] = {
#define X(word, name) { WORD_##word, name },
	WORDS(X)
#undef X
	{ 0, NULL }
};

/* Others need a program, an interface or a kernel. */
static const struct event reasons[] = {
	{ TUX_REASON_NONE, "none" },
	{ TUX_REASON_PEER_SILENT, "peer-silent" },
	{ TUX_REASON_VERSION, "version" },
	{ TUX_REASON_STALLED, "path-stalled" },
	{ TUX_REASON_PINNED, "pinned" },
	{ TUX_REASON_NO_FD, "no-fd" },
	{ TUX_REASON_NO_MEMORY, "no-memory" },
	{ TUX_REASON_PEER_RAW, "peer-raw" },
	{ TUX_REASON_PROTOCOL, "protocol" },
	{ TUX_REASON_CLOSED, "closed" },
	{ TUX_REASON_DATA_AFTER_CLOSE, "data-after-close" },
	{ TUX_REASON_BULK, "bulk" },
	{ 0, NULL }
};

static const struct event traces[] = {
#define X(name, text) { TUX_TRACE_##name, #name },
	TUX_TRACES(X)
#undef X
	{ 0, NULL }
};

static const struct event frames[] = {
	{ TUX_FRAME_DATA, "data" }, { TUX_FRAME_MESSAGE, "message" },
	{ TUX_FRAME_FIN, "fin" }, { TUX_FRAME_RESET, "reset" },
	{ TUX_FRAME_SWITCH, "switch" }, { TUX_FRAME_RAW, "raw" },
	{ TUX_FRAME_PLAIN, "plain" },
	{ TUX_FRAME_ROOM, "room" },
	{ 0, NULL }
};

static const struct event records[] = {
	{ TUX_REC_STREAM, "stream" }, { TUX_REC_MESSAGE, "message" },
	{ TUX_REC_SACK, "sack" }, { TUX_REC_HELLO, "hello" },
	{ TUX_REC_PREPARE, "prepare" }, { TUX_REC_PREPARED, "prepared" },
	{ TUX_REC_RESET, "reset" }, { TUX_REC_PING, "ping" },
	{ TUX_REC_RAW, "raw" }, { TUX_REC_ROOM, "room" },
	{ TUX_REC_END, "end" }, { TUX_REC_PAD, "pad" },
	{ 0, NULL }
};

static const struct event cores[] = {
	{ 0, "damaged" }, { 1, "strangers" }, { 2, "bad_mac" },
	{ 3, "wrong_version" }, { 4, "eased" }, { 5, "no_ecn" },
	{ 0, NULL }
};

static const struct {
	const char *name;
	const struct event *event;
} groups[SIM_GROUPS] = {
	[SIM_G_FAULT] = { "fault", faults },
	[SIM_G_FATE] = { "datagram", fates },
	[SIM_G_WORK] = { "work", works },
	[SIM_G_WORD] = { "word", words },
	[SIM_G_REASON] = { "reason", reasons },
	[SIM_G_TRACE] = { "trace", traces },
	[SIM_G_FRAME] = { "frame", frames },
	[SIM_G_RECORD] = { "record", records },
	[SIM_G_CORE] = { "core", cores },
};

/* ---- counting ---- */

void sim_seen_fault(struct sim *s, uint64_t what)
{
	if (s->seen)
		s->seen->event[SIM_G_FAULT][what]++;
}

void sim_seen_trace(struct sim_end *e, const struct tux_trace *t)
{
	struct sim_seen *seen = e->conn->s->seen;

	if (!seen)
		return;
	seen->event[SIM_G_TRACE][t->what]++;
	switch (t->what) {
	case TUX_TRACE_FRAME_IN:
		seen->event[SIM_G_FRAME][t->n[0] % SIM_EVENTS]++;
		break;
	case TUX_TRACE_LIFE:
		sim_step(e, SIM_M_LIFE, t);
		break;
	case TUX_TRACE_TX_PATH:
		sim_step(e, SIM_M_TX_PATH, t);
		break;
	case TUX_TRACE_RX_PATH:
		sim_step(e, SIM_M_RX_PATH, t);
		break;
	default:
		break;
	}
}

static void core(struct sim_seen *seen, const struct tux_core_stats *st)
{
	uint64_t *n = seen->event[SIM_G_CORE];

	n[0] += st->damaged;
	n[1] += st->strangers;
	n[2] += st->bad_mac;
	n[3] += st->wrong_version;
	n[4] += st->eased;
	n[5] += st->no_ecn;
}

static void message(uint64_t *work, uint64_t *word, const struct sim_msg *m)
{
	bool bulk = m->len > TUX_MSG_SMALL;

	work[m->flags & TUX_MSG_ORDERED ? WORK_ORDERED : WORK_UNORDERED]++;
	work[!m->len ? WORK_EMPTY : m->len < 4 ? WORK_TINY :
	     bulk ? WORK_LARGE : WORK_SMALL]++;
	work[WORK_BACK] += m->cancel;
	word[WORD_CAME] += m->got;
	word[WORD_REFUSED] += !m->sent;
	if (!m->settled)
		return;
	word[WORD_SENT] += !m->err;
	word[WORD_CANCELED] += m->err == ECANCELED;
	word[WORD_NO_PEER] += m->err == EPROTONOSUPPORT;
	word[WORD_NO_ROOM] += m->err == ENOBUFS;
	word[WORD_SHUTDOWN] += m->err == ESHUTDOWN;
	word[WORD_RESET] += m->err == ECONNRESET;
}

static void end(struct sim_seen *seen, const struct sim_end *e)
{
	uint64_t *work = seen->event[SIM_G_WORK];
	uint64_t *word = seen->event[SIM_G_WORD];
	const struct sim_plan *p = &e->plan;
	unsigned i;

	work[WORK_BULK + p->role]++;
	work[WORK_VARY] += p->vary;
	work[WORK_PLAIN] += p->plain;
	work[WORK_NO_FD] += p->no_fd;
	work[WORK_DEAF] += p->deaf;
	work[WORK_HOLD] += p->hold != 0;
	work[WORK_KEEP] += p->keep != 0;
	work[WORK_MIMIC] += e->patch[0].len != 0;
	work[WORK_OLD] += p->preset != NULL;
	work[WORK_HALF] += e->half;
	word[WORD_EOF_] += e->eof;
	word[WORD_READ_RESET] += e->rerr == ECONNRESET;
	word[WORD_WRITE_RESET] += e->werr == ECONNRESET;
	word[WORD_WRITE_PIPE] += e->werr == EPIPE;
	word[WORD_SWITCHED] += e->was_tx && e->was_rx;
	for (i = 0; i < e->msg_n; i++)
		message(work, word, &e->msg[i]);
}

/* Connections of the same two hosts, ports or other addresses. */
static void conns(struct sim_seen *seen, const struct sim *s)
{
	uint64_t *work = seen->event[SIM_G_WORK];
	unsigned i, j;

	for (i = 0; i < s->conn_n; i++) {
		const struct sim_conn *k = s->conn[i];

		work[WORK_ALIAS] += k->tuple.active.ip[SIM_ALIAS] != 0;
		for (j = 0; j < i; j++) {
			const struct sim_conn *o = s->conn[j];

			work[WORK_SHARED] += k->end[0].host == o->end[0].host &&
					     k->end[1].host == o->end[1].host;
			work[WORK_AFTER] += tux_tuple_same(&k->tuple,
							   &o->tuple);
		}
	}
}

void sim_seen_all(struct sim *s)
{
	struct sim_seen *seen = s->seen;
	uint64_t *work = seen->event[SIM_G_WORK];
	unsigned i, k;

	work[s->v6 ? WORK_V6 : WORK_V4]++;
	work[WORK_PORTS] += s->announced;
	conns(seen, s);
	for (i = 0; i < 2 * s->conn_n; i++)
		end(seen, &s->conn[i / 2]->end[i % 2]);
	for (i = 0; i < s->host_n; i++) {
		work[WORK_LOOPS] += s->host[i].place != i;
		if (s->host[i].core)
			core(seen, tux_core_stats(s->host[i].core));
	}
	for (i = 0; i < SIM_FATES; i++)
		seen->event[SIM_G_FATE][i] += s->fate_n[i];
	for (i = 0; i < s->host_n * s->host_n; i++) {
		const struct sim_link *l =
			&s->link[i / s->host_n][i % s->host_n];

		for (k = 0; k < SIM_RECORDS; k++)
			seen->event[SIM_G_RECORD][k] += l->record_n[k];
	}
}

/* ---- telling ---- */

/* @must: not to come about is a failure. */
typedef void tell_fn(void *arg, const char *group, const char *from,
		     const char *to, bool must, uint64_t n);

static void each_machine(const struct sim_seen *seen, unsigned m, tell_fn *fn,
			 void *arg)
{
	const struct sim_state_table *t = &sim_machines[m];
	unsigned i, k;

	for (i = 1; i < t->n; i++)	/* all begin in the first */
		fn(arg, t->name, t->state[i], NULL, true, seen->state[m][i]);
	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->n; k++) {
			if ((sim_must(t, i) | t->may[i]) >> k & 1)
				fn(arg, t->name, t->state[i], t->state[k],
				   sim_must(t, i) >> k & 1,
				   seen->move[m][i][k]);
		}
	}
}

static void each(const struct sim_seen *seen, tell_fn *fn, void *arg)
{
	const struct event *e;
	unsigned i;

	for (i = 0; i < SIM_GROUPS; i++) {
		for (e = groups[i].event; e->name; e++)
			fn(arg, groups[i].name, e->name, NULL, true,
			   seen->event[i][e->i]);
	}
	for (i = 0; i < SIM_MACHINES; i++)
		each_machine(seen, i, fn, arg);
}

static void print(void *arg, const char *group, const char *from,
		  const char *to, bool must, uint64_t n)
{
	(void)must;
	fprintf(arg, "%s %s%s%s: %llu\n", group, from, to ? " > " : "",
		to ? to : "", (unsigned long long)n);
}

void sim_seen_print(const struct sim_seen *seen, FILE *f)
{
	each(seen, print, f);
}

struct missing {
	FILE *f;
	unsigned n;
};

static void miss(void *arg, const char *group, const char *from,
		 const char *to, bool must, uint64_t n)
{
	struct missing *m = arg;

	if (n || !must)
		return;
	m->n++;
	fprintf(m->f, "swarm: never: %s %s%s%s\n", group, from,
		to ? " > " : "", to ? to : "");
}

unsigned sim_seen_missing(const struct sim_seen *seen, FILE *f)
{
	struct missing m = { f, 0 };

	each(seen, miss, &m);
	return m.n;
}
