/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim - cores joined by a network that a seed decides, in virtual time
 *
 * A host has one core and drives it the way lib/loop/loop.c does.  A connection
 * is a simulated TCP connection between two hosts, and at each of its ends an
 * application that uses a duplex the way a program under the preload does: it
 * looks again only when the kernel or the loop would have woken it.  Datagrams
 * cross links that delay, lose, reorder, double and damage them.
 *
 * Each byte of a stream is a function of connection, direction and offset, and
 * is checked when it is read.  The same seed gives the same datagrams and the
 * same TCP segments, whatever the family of the addresses.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/time.h"
#include "conn/trace.h"
#include "host.h"
#include "net.h"
#include "tcp.h"

enum {
	SIM_HOSTS = 80,
	SIM_CONNS = 256,
	SIM_PORT = 6379,	/* where passive ends listen */
	SIM_ALIAS = 14,		/* the byte in which a host's addresses differ */
	SIM_DGRAM = 16384,	/* the longest datagram a host builds */
};

struct sim;
typedef void sim_fn(struct sim *s, void *arg, uint64_t n, uint64_t m);

/* ---- the world ------------------------------------------------------- */

struct sim_conn {
	struct sim *s;
	unsigned i;
	struct sim_end end[2];
	struct sim_tcp tcp;
	struct tux_tuple tuple;
	struct tux_key key;
	uint32_t ring, mtu;
	uint32_t small, bulk;	/* lanes of messages; 0: there are none */
	bool foul;		/* somebody breaks the rules: errors are due, */
	unsigned foul_side;	/* ... that end does */
};

struct sim_event {
	tux_time at;
	uint64_t order;
	sim_fn *fn;
	void *arg;
	uint64_t n, m;
};

struct sim_text {
	char *p;
	size_t len, cap;
};

struct sim {
	tux_time now;
	uint64_t rng;
	bool v6;		/* addresses are IPv6's */
	const struct tux_cc_ops *cc;	/* of hosts to come; NULL: the usual */
	uint64_t digest;	/* see digest.h */
	bool no_digest;		/* there is none */
	bool wire_lines;	/* print what leaves hosts; needs the digest */
	struct sim_event *heap;
	size_t heap_len, heap_cap;
	uint64_t order;
	bool announced;		/* handshakes announce the ports of loops */
	tux_time own;		/* duplicating a descriptor takes up to so long */
	struct sim_host host[SIM_HOSTS];
	unsigned host_n;
	struct sim_link *link[SIM_HOSTS];	/* [from][to] */
	struct sim_conn *conn[SIM_CONNS];
	unsigned conn_n;
	struct tux_mem mem;
	uint64_t blocks;	/* that cores hold now */
	uint64_t alloc_n, alloc_fail_at;	/* fail the n-th; 0: none */
	uint32_t alloc_loss;	/* ... and so many of a million */
	struct tux_list wire;	/* datagrams under way */
	struct sim_neck *necks;
	sim_wire_fn *spy;	/* NULL: nobody looks */
	void *user;		/* whose simulation it is */
	struct sim_seen *seen;	/* what came about; NULL: nobody counts */
	uint64_t fate_n[SIM_FATES];
	/* traces */
	uint64_t only;		/* SIM_T() bits of what goes to `golden` */
	bool net_lines;		/* ... and what the network loses */
	struct sim_text golden, full;
	bool mute;		/* collect no traces */
	bool loud;		/* print them as they come */
	/* the verdict */
	bool failed;
	uint64_t packets, chunks;	/* datagrams sent; reads checked */
};

/* ---- a simulation ---------------------------------------------------- */

struct sim *sim_new(uint64_t seed, bool v6);

/* Frees all; fails @s first if a core has kept memory.  Returns whether the
 * simulation held. */
bool sim_free(struct sim *s, uint64_t *digest);

/* A world of its own within a story, for tales that are told many times over;
 * @n makes it another one.  sim_inner_free() fails @s, naming @n, if it did not
 * hold. */
struct sim *sim_inner(struct sim *s, uint64_t n);
void sim_inner_free(struct sim *s, struct sim *inner, uint64_t n);

/* The next host, a to z, and again; links to and from it take 1 ms. */
struct sim_host *sim_add_host(struct sim *s);
struct sim_link *sim_link(struct sim_host *from, struct sim_host *to);

/* @h, which is new, is another loop of the same host as @other; on ports of
 * their own, not TCP's. */
void sim_same_host(struct sim_host *h, const struct sim_host *other);

/* The first @n new hosts from @h on are loops of one host, with one port: what comes there
 * comes to any of them, which passes on what is not its own. */
void sim_one_port(struct sim_host *h, unsigned n);

/* A bottleneck, for any number of links, that lets @rate bytes pass in a second
 * and has a queue for what passes in @queue. */
struct sim_neck *sim_add_neck(struct sim *s, uint64_t rate, tux_time queue);

/* A connection from @a to @b, established now.  Adjust plan, ring, mtu and tcp
 * before running. */
struct sim_conn *sim_connect(struct sim_host *a, struct sim_host *b);

/* Two hosts a and b and a connection: what most stories begin with.  *@a is the
 * active end. */
void sim_pair(struct sim *s, struct sim_end **a, struct sim_end **b);

/* @fn(s, @arg, @n, @m) will be called at @at. */
void sim_at(struct sim *s, tux_time at, sim_fn *fn, void *arg, uint64_t n,
	    uint64_t m);

/* Takes the earliest event out; there must be one. */
struct sim_event sim_pop(struct sim *s);

/* Runs up to and including @until. */
void sim_run(struct sim *s, tux_time until);

/* Runs until every application has closed and every loop is done with its
 * connections.  Fails @s if that takes longer than @until. */
void sim_run_out(struct sim *s, tux_time until);

/* As sim_pair(); and runs for 50 ms, until both directions are on Tux.  Traces
 * of that are not kept. */
void sim_switched(struct sim *s, struct sim_end **a, struct sim_end **b);

/* Fails @s unless every application has read all that its peer wrote, and the
 * end of it, and nobody was told an error. */
void sim_check_all(struct sim *s);

/* The end of most stories: sim_finish() for every application that is not told
 * yet, sim_run_out() for at most @within, and sim_check_all(). */
void sim_finish_all(struct sim *s, tux_time within);

/* As sim_pair(), and both take messages; lanes of 128 and 256 KB. */
void sim_messages(struct sim *s, struct sim_end **a, struct sim_end **b);

/* Fails @s if a message was doubled, or came although it was taken back; and,
 * with @all, unless each came.  Of one end, those that were handed in. */
void sim_check_mail(struct sim_end *e, bool all);
void sim_check_messages(struct sim *s, bool all);

/* Runs the @ms milliseconds that come next. */
static inline void sim_ms(struct sim *s, uint64_t ms)
{
	sim_run(s, s->now + TUX_MSEC(ms));
}

/* The seed's numbers. */
uint64_t sim_rand(struct sim *s);
uint64_t sim_mix(uint64_t *rng);	/* the next after @rng, wherever it is */
uint64_t sim_below(struct sim *s, uint64_t n);	/* 0 to n - 1 */
bool sim_chance(struct sim *s, uint32_t of_a_million);

/* Says what is wrong, once, and stops the run. */
void sim_fail(struct sim *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define SIM_CHECK(s, cond) \
	do { \
		if (!(cond)) \
			sim_fail(s, "%s:%d: %s", __FILE__, __LINE__, #cond); \
	} while (0)

/* ---- traces ---------------------------------------------------------- */

#define SIM_T(name)	(UINT64_C(1) << TUX_TRACE_##name)

/* The opening, the switch, the way back, and how it ends. */
#define SIM_OPENING \
	(SIM_T(SEND_HELLO) | SIM_T(RECV_HELLO) | SIM_T(PROVED))
#define SIM_SWITCH \
	(SIM_T(SEND_PREPARE) | SIM_T(ARMED) | SIM_T(SEND_PREPARED) | \
	 SIM_T(RECV_PREPARED) | SIM_T(VOID) | SIM_T(COMMIT) | \
	 SIM_T(RX_SWITCHED))
#define SIM_DONE	(SIM_T(COMMIT) | SIM_T(RX_SWITCHED))
#define SIM_STEPS	(SIM_T(LIFE) | SIM_T(TX_PATH) | SIM_T(RX_PATH))
#define SIM_BACK	(SIM_T(BACK) | SIM_T(PROBE) | SIM_T(AGAIN))
#define SIM_END \
	(SIM_T(SEND_RESET) | SIM_T(RECV_RESET) | SIM_T(PEER_DIED) | \
	 SIM_T(CLOSE) | SIM_T(GONE))
#define SIM_STREAM \
	(SIM_T(SEND) | SIM_T(RECV) | SIM_T(SEND_FIN) | SIM_T(RECV_FIN) | \
	 SIM_T(LOST) | SIM_T(TIMEOUT) | SIM_T(TAIL) | SIM_T(SPURIOUS) | \
	 SIM_T(UNDO))

#define SIM_MESSAGES \
	(SIM_T(MSG_SEND) | SIM_T(MSG_LOST) | SIM_T(MSG_DELIVER) | \
	 SIM_T(MSG_SENT) | SIM_T(MSG_CANCEL) | SIM_T(MSG_FAILED))

/* What did the traces that s->only selects say?  Fails @s, with both texts, if
 * they are not @want; begins anew. */
void sim_trace_is(struct sim *s, const char *file, int line, const char *want);
#define SIM_TRACE(s, want)	sim_trace_is(s, __FILE__, __LINE__, want)

void sim_trace_event(struct sim_end *e, const struct tux_trace *t);
void sim_trace_clear(struct sim *s);
void sim_note(struct sim *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));	/* a line of the network's */

/* ---- stories --------------------------------------------------------- */

struct sim_story {
	const char *name;
	void (*run)(struct sim *s);
};

/* A story's program defines this and nothing else; a NULL name ends it.  Each
 * is run over IPv4 and over IPv6, and must send the same datagrams at the same
 * times. */
extern const struct sim_story sim_stories[];

#endif
