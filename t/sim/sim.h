/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim - cores joined by a network that a seed decides, in virtual time
 *
 * A host has one core and drives it the way lib/io/loop.c does.  A connection
 * is a simulated TCP connection between two hosts, and at each of its ends an
 * application that uses a duplex the way a program under the preload does: it
 * looks again only when the kernel or the loop would have woken it.  Datagrams
 * cross links that delay, lose, reorder, double and damage them.
 *
 * Each byte of a stream is a function of connection, direction and offset, and
 * is checked when it is read.  The same seed gives the same datagrams.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/trace.h"
#include "conn/core.h"
#include "tcp.h"

enum {
	SIM_HOSTS = 4,
	SIM_CONNS = 16,
	SIM_DROPS = 8,
	SIM_PATCHES = 4,
	SIM_PORT = 6379,	/* where passive ends listen */
	SIM_DGRAM = 16384,	/* the longest datagram a host builds */
};

struct sim;
struct sim_host;
struct sim_end;

typedef void sim_fn(struct sim *s, void *arg, uint64_t n, uint64_t m);

/* ---- links: how datagrams travel from one host to another ------------ */

/* What a datagram carries, as bits. */
enum sim_kind {
	SIM_ASK = 0x0001,	/* a HELLO that does not know its receiver */
	SIM_ANSWER = 0x0002,	/* a HELLO that echoes, and wants an echo */
	SIM_CONFIRM = 0x0004,	/* a HELLO that echoes and wants nothing */
	SIM_PREPARE = 0x0008,
	SIM_PREPARED = 0x0010,
	SIM_DATA = 0x0020,
	SIM_FIN = 0x0040,
	SIM_RESET = 0x0080,
	SIM_PING = 0x0100,
	SIM_ACK = 0x0200,	/* nothing but an acknowledgment */
	SIM_WINDOW = 0x0400,	/* one that moves nothing but the window */
	SIM_ANY = 0xffff,
};

struct sim_drop {		/* drop `n` datagrams that carry one of `kinds` */
	unsigned kinds;
	unsigned skip;		/* ... after so many that live */
	unsigned n;
};

/* Sees, and may change, each datagram that is about to cross a link. */
typedef void sim_tap_fn(struct sim *s, uint8_t *p, size_t len);

struct sim_link {
	tux_time delay;
	tux_time jitter;	/* up to so much more, each on its own */
	uint32_t loss, twice, flip;	/* of a million datagrams */
	tux_time late;		/* the second one comes up to so much later */
	uint64_t rate;		/* bytes a second; 0: no bottleneck */
	tux_time queue;		/* the longest wait at the bottleneck */
	uint32_t mtu;		/* longer datagrams vanish; 0: none does */
	bool down;
	struct sim_drop drop[SIM_DROPS];
	sim_tap_fn *tap;
	/* the link's own */
	tux_time free_at;	/* when the bottleneck is idle */
	uint64_t got, limit;	/* of the last packet that told them */
	uint64_t sent_n, lost_n, flip_n;
};

/* ---- hosts ----------------------------------------------------------- */

struct sim_host {
	struct sim *s;
	unsigned i;
	char name;		/* a, b, ... */
	bool dead;
	tux_time stopped;	/* SIGSTOP, until then */
	struct tux_core *core;
	struct tux_core_events events;
	struct tux_addr addr;	/* with the port of its loop */
	tux_time timer_at;	/* the earliest timer event that is queued */
	tux_time wake;		/* from a doorbell to the loop */
	unsigned idle;		/* timers since anything else happened */
	unsigned turns;		/* taken at this very instant */
	tux_time turn_at;
};

/* ---- ends: one application's side of a connection -------------------- */

enum sim_role {
	SIM_BULK,		/* writes up to its goal */
	SIM_ECHO,		/* writes what it reads */
	SIM_CLIENT,		/* `rounds` requests, each after a response */
	SIM_SERVER,		/* a response to each request */
};

struct sim_plan {
	enum sim_role role;
	uint32_t req, resp;	/* bytes of a request, a response */
	uint32_t rounds;
	uint32_t wmax, rmax;	/* the longest write, read */
	bool vary;		/* any length up to it, in several pieces */
	tux_time claim;		/* so long after the connection was made */
	tux_time think;		/* between two rounds of reading and writing */
	bool finish;		/* shut down behind the last byte */
	bool linger;		/* stay open after both ends have shut down */
	bool no_fd;		/* the loop gets no handle of its own */
	bool plain;		/* a program without Tux */
	uint32_t hold;		/* of a million calls: dawdle in the latch */
};

struct sim_patch {		/* other bytes than the usual at `off` */
	uint64_t off;
	unsigned len;
	uint8_t b[64];
};

struct sim_end {
	struct sim_conn *conn;
	struct sim_host *host;
	struct sim_end *peer;
	unsigned side;		/* 0: the active opener */
	struct sim_sock sock;
	struct tux_duplex *dx;
	struct tux_conn *c;	/* NULL: plain, not claimed yet, or gone */
	struct sim_plan plan;
	struct sim_patch patch[SIM_PATCHES];
	/* the application's */
	uint64_t goal;		/* bytes to write */
	uint64_t sent, got;	/* bytes written, bytes read and checked */
	bool begun;		/* has claimed the connection */
	bool paused;		/* reads nothing */
	bool app_queued;	/* will run */
	bool shut, eof, closed, aborted;
	int rerr, werr;		/* what ended reading, writing */
	struct tux_latch *held;	/* a thread of it sleeps in there */
	/* the loop's */
	bool owned;		/* the loop has a handle of its own */
	bool tcp_work;		/* the core may want TCP */
	bool tcp_ended;		/* the core knows of its end */
	bool tcp_broken;	/* ... with an error */
	bool gone, gone_reset;
	bool was_tx, was_rx;	/* ever switched */
	enum tux_reason reason;	/* what was last decided */
	bool on_tux;
	struct tux_conn_stats stats;	/* the last ones, when it is gone */
};

struct sim_conn {
	struct sim *s;
	unsigned i;
	struct sim_end end[2];
	struct sim_tcp tcp;
	struct tux_tuple tuple;
	struct tux_key key;
	uint32_t ring, mtu;
	bool foul;		/* somebody breaks the rules: errors are due */
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
	uint64_t digest;	/* of all datagrams, with their times */
	struct sim_event *heap;
	size_t heap_len, heap_cap;
	uint64_t order;
	struct sim_host host[SIM_HOSTS];
	unsigned host_n;
	struct sim_link link[SIM_HOSTS][SIM_HOSTS];
	struct sim_conn *conn[SIM_CONNS];
	unsigned conn_n;
	struct tux_mem mem;
	uint64_t blocks;	/* that cores hold now */
	uint64_t alloc_n, alloc_fail_at;	/* fail the n-th; 0: none */
	struct tux_list wire;	/* datagrams under way */
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

struct sim *sim_new(uint64_t seed);

/* Frees all; fails @s first if a core has kept memory.  Returns whether the
 * simulation held. */
bool sim_free(struct sim *s, uint64_t *digest);

/* A world of its own within a story, for tales that are told many times over;
 * @n makes it another one.  sim_inner_free() fails @s, naming @n, if it did not
 * hold. */
struct sim *sim_inner(struct sim *s, uint64_t n);
void sim_inner_free(struct sim *s, struct sim *inner, uint64_t n);

/* The next host, a, b, ...; links to and from it take 1 ms. */
struct sim_host *sim_add_host(struct sim *s);
struct sim_link *sim_link(struct sim_host *from, struct sim_host *to);

/* A connection from @a to @b, established now.  Adjust plan, ring, mtu and tcp
 * before running. */
struct sim_conn *sim_connect(struct sim_host *a, struct sim_host *b);

/* Two hosts a and b and a connection: what most stories begin with.  *@a is the
 * active end. */
void sim_pair(struct sim *s, struct sim_end **a, struct sim_end **b);

/* @fn(s, @arg, @n, @m) will be called at @at. */
void sim_at(struct sim *s, tux_time at, sim_fn *fn, void *arg, uint64_t n,
	    uint64_t m);

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

/* Runs the @ms milliseconds that come next. */
static inline void sim_ms(struct sim *s, uint64_t ms)
{
	sim_run(s, s->now + TUX_MSEC(ms));
}

/* The seed's numbers. */
uint64_t sim_rand(struct sim *s);
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

/* ---- what applications do -------------------------------------------- */

void sim_write(struct sim_end *e, uint64_t n);	/* @n bytes more */
void sim_finish(struct sim_end *e);	/* shut down when all is written */
void sim_pause(struct sim_end *e, bool on);	/* stop or go on reading */
void sim_close(struct sim_end *e);
void sim_abort(struct sim_end *e);	/* close, with SO_LINGER {1, 0} */
void sim_raw(struct sim_end *e);	/* ask for plain TCP for good */
bool sim_pin(struct sim_end *e);	/* as fork does; false: too late */
void sim_kill(struct sim_host *h);	/* kill -9 */
void sim_stop(struct sim_host *h, tux_time in);	/* SIGSTOP, for so long */

/* The bytes of @e at @off are these instead. */
void sim_patch(struct sim_end *e, uint64_t off, const void *p, unsigned len);

/* The application looks again, soon.  For tcp.c and host.c. */
void sim_app_wake(struct sim_end *e);

/* ---- hosts and the network, for each other --------------------------- */

void sim_host_init(struct sim_host *h);
void sim_host_fini(struct sim_host *h);
void sim_host_claim(struct sim_end *e);		/* opens the connection */
void sim_host_bell(struct sim_end *e);		/* rings for dx->rung */
void sim_host_tcp(struct sim_end *e);		/* TCP has news */
void sim_host_turn(struct sim_host *h);
void sim_host_input(struct sim_host *h, const struct tux_addr *from,
		    const uint8_t *p, size_t len);

void sim_net_fini(struct sim *s);
void sim_net_send(struct sim_host *h, const struct tux_addr *to,
		  const struct tux_addr *from, const uint8_t *p, size_t len);

/* What the @len bytes at @p carry.  Updates what @l knows of windows. */
unsigned sim_kinds(struct sim_link *l, const uint8_t *p, size_t len);

/* Drops @n datagrams on @l that carry one of @kinds, after @skip such. */
void sim_drop(struct sim_link *l, unsigned kinds, unsigned skip, unsigned n);

/* Parts two hosts, or joins them again (datagrams only). */
void sim_part(struct sim *s, unsigned a, unsigned b, bool down);

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
#define SIM_BACK	(SIM_T(BACK) | SIM_T(PROBE) | SIM_T(AGAIN))
#define SIM_END \
	(SIM_T(SEND_RESET) | SIM_T(RECV_RESET) | SIM_T(PEER_DIED) | \
	 SIM_T(CLOSE) | SIM_T(GONE))
#define SIM_STREAM \
	(SIM_T(SEND) | SIM_T(RECV) | SIM_T(SEND_FIN) | SIM_T(RECV_FIN) | \
	 SIM_T(LOST) | SIM_T(TIMEOUT))

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
 * is run twice, and must send the same datagrams at the same times. */
extern const struct sim_story sim_stories[];

#endif
