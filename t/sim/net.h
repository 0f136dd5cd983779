/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net - links between hosts, for datagrams
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "wire/addr.h"

struct sim;
struct sim_host;

enum { SIM_DROPS = 8, SIM_PLACES = 128 };

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
	SIM_ECT = 0x0800,	/* routers may mark it */
	SIM_ANY = 0xffff,
};

/* What becomes of a datagram, counted. */
#define SIM_FATE_LIST(X) \
	X(LOST, "lost") \
	X(CHOSEN, "lost on purpose") \
	X(DOWN, "no way there") \
	X(LONG, "too long") \
	X(HOLE, "lost for its ECT") \
	X(FULL, "no room in a queue") \
	X(TWICE, "came twice") \
	X(DAMAGED, "damaged") \
	X(OVERTOOK, "overtook another") \
	X(MARKED, "got CE") \
	X(BLEACHED, "lost its ECN") \
	X(INVENTED, "got ECN without asking")

#define X(fate, name) SIM_FATE_##fate,
enum { SIM_FATE_LIST(X) SIM_FATES };
#undef X

enum { SIM_RECORDS = 16 };	/* types that are counted */

struct sim_drop {		/* drop `n` that carry one of `kinds` */
	unsigned kinds;
	unsigned skip;		/* ... after so many that live */
	unsigned n;
};

/* Sees, and may change, each datagram that is about to cross a link. */
typedef void sim_tap_fn(struct sim *s, uint8_t *p, size_t len);

/* The same for any link: it is for @to, and comes from @from. */
typedef void sim_wire_fn(struct sim *s, struct sim_host *to,
			 const struct tux_addr *from, uint8_t *p, size_t len);

struct sim_neck {		/* a port of a switch, drop-tail */
	uint64_t rate;		/* bytes a second */
	tux_time queue;		/* the longest wait */
	unsigned places;	/* packets at once, up to SIM_PLACES; 0: any
				 * number */
	tux_time mark;		/* a wait that is told by CE, where it may be;
				 * 0: none is */
	/* its own */
	struct sim_neck *next;	/* in sim->necks */
	tux_time free_at;	/* when it is idle */
	tux_time leave[SIM_PLACES];	/* when the last ones do */
	uint64_t sent_n, lost_n;
};

struct sim_link {
	tux_time delay;
	tux_time jitter;	/* up to so much more, each on its own */
	bool fifo;		/* ... but none overtakes another */
	uint32_t loss, twice, flip;	/* of a million datagrams */
	tux_time late;		/* the second one comes up to so much later */
	struct sim_neck *neck;	/* NULL: it is as fast as its senders */
	uint32_t ce;		/* of a million with ECT, get CE */
	bool bleach;		/* no ECN gets across */
	bool invent;		/* ... and what has none gets ECT(0) */
	bool hole;		/* what has ECT does not get across */
	uint32_t mtu;		/* longer datagrams vanish; 0: none does */
	bool down;
	struct sim_drop drop[SIM_DROPS];
	sim_tap_fn *tap;
	/* the link's own */
	tux_time last_at;	/* when the last one arrives */
	uint64_t got, limit;	/* of the last packet that told them */
	uint64_t sent_n, lost_n, flip_n, ect_n, ce_n;
	uint64_t record_n[SIM_RECORDS];	/* that were to cross, by type */
};

void sim_net_fini(struct sim *s);
void sim_net_send(struct sim_host *h, const struct tux_addr *to,
		  const struct tux_addr *from, const uint8_t *p, size_t len,
		  uint8_t ecn);

/* When @len bytes that are nobody's datagram come out of @l; TUX_NEVER. */
tux_time sim_net_cross(struct sim *s, struct sim_link *l, size_t len);

/* What the @len bytes at @p carry.  Updates what @l knows of windows. */
unsigned sim_kinds(struct sim_link *l, const uint8_t *p, size_t len);

/* The names of @kinds, in @buf. */
const char *sim_kinds_text(unsigned kinds, char *buf, size_t cap);

/* Drops @n datagrams on @l that carry one of @kinds, after @skip such. */
void sim_drop(struct sim_link *l, unsigned kinds, unsigned skip, unsigned n);

/* Parts two hosts, or joins them again (datagrams only). */
void sim_part(struct sim *s, unsigned a, unsigned b, bool down);

#endif
