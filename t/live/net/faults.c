/* SPDX-License-Identifier: BSD-2-Clause */
#include "faults.h"

#include <stdlib.h>
#include <string.h>

enum {
	HELD_MAX = 65536,	/* packets under way */
	QUEUE = 200,		/* ms that a slow link holds at most */
	OVERTAKEN = 2000,	/* us that a reordered packet waits at most */
	SPIKE = 300,		/* ms that a spike is at most */
	ETH = 14, TYPE_AT = 12, IPV4 = 0x0800, IPV6 = 0x86dd,
	PROTO4_AT = 9, PROTO6_AT = 6, IPV6_HDR = 40,
	TCP = 6, TCP_HDR = 20, FLAGS_AT = 13, RST = 4, UDP = 17,
};

static void *mem_alloc(void *arg, size_t len)
{
	(void)arg;
	return calloc(1, len);
}

static void mem_free(void *arg, void *p)
{
	(void)arg;
	free(p);
}

static const struct tux_mem memory = { mem_alloc, mem_free, NULL };

void faults_init(struct faults *f, const struct faults_opts *o)
{
	const struct tux_key key = { o->seed, 0x6661756c7473 };

	memset(f, 0, sizeof(*f));
	f->o = *o;
	tux_rng_init(&f->rng, &key);
	tux_heap_init(&f->heap, &memory);
	if (tux_heap_reserve(&f->heap, HELD_MAX))
		abort();
}

void faults_fini(struct faults *f)
{
	struct faults_packet *p;

	while ((p = faults_take(f, TUX_NEVER)))
		free(p);
	tux_heap_fini(&f->heap);
}

/* Where the header of protocol @proto is in the Ethernet frame @p; 0 if it has
 * none. */
static size_t header_at(const uint8_t *p, size_t len, uint8_t proto)
{
	unsigned type;

	if (len < ETH + IPV6_HDR)
		return 0;
	type = (unsigned)p[TYPE_AT] << 8 | p[TYPE_AT + 1];
	if (type == IPV4 && p[ETH + PROTO4_AT] == proto)
		return ETH + (p[ETH] & 15u) * 4;
	if (type == IPV6 && p[ETH + PROTO6_AT] == proto)
		return ETH + IPV6_HDR;
	return 0;
}

static bool is_ip(const uint8_t *p, size_t len)
{
	unsigned type = len < ETH ? 0 :
			(unsigned)p[TYPE_AT] << 8 | p[TYPE_AT + 1];

	return type == IPV4 || type == IPV6;
}

static bool is_reset(const uint8_t *p, size_t len)
{
	size_t tcp = header_at(p, len, TCP);

	return tcp && len >= tcp + TCP_HDR && p[tcp + FLAGS_AT] & RST;
}

static bool happens(struct faults *f, double p)
{
	return p > 0 &&
	       (double)(tux_rng_u64(&f->rng) >> 11) * 0x1p-53 < p;
}

static tux_time up_to(struct faults *f, tux_time max)
{
	return max ? tux_rng_u64(&f->rng) % max : 0;
}

static void hold(struct faults *f, unsigned side, const void *p, size_t len,
		 tux_time at, size_t flip)
{
	struct faults_packet *k;

	if (f->held == HELD_MAX || !(k = malloc(sizeof(*k) + len))) {
		f->n[side].overflowed++;
		return;
	}
	memset(k, 0, sizeof(*k));
	k->side = side;
	k->len = len;
	memcpy(k->bytes, p, len);
	if (flip) {
		flip += (size_t)up_to(f, len - flip);
		k->bytes[flip] ^= (uint8_t)(1u << up_to(f, 8));
		f->n[side].corrupted++;
	}
	tux_heap_set(&f->heap, &k->due, at);
	f->held++;
}

/* When a packet that comes now gets to the far end; TUX_NEVER: the queue of
 * the slow link is full. */
static tux_time arrival(struct faults *f, unsigned side, size_t len,
			tux_time now)
{
	tux_time at = now;

	if (f->o.rate) {
		at = f->free_at[side] > now ? f->free_at[side] : now;
		if (at > now + TUX_MSEC(QUEUE))
			return TUX_NEVER;
		at += TUX_SEC(len) / f->o.rate;
		f->free_at[side] = at;
	}
	at += f->o.delay + up_to(f, f->o.jitter);
	if (happens(f, f->o.spike)) {
		f->n[side].spikes++;
		at += up_to(f, TUX_MSEC(SPIKE));
	}
	if (happens(f, f->o.reorder)) {
		f->n[side].reordered++;
		return at + up_to(f, TUX_USEC(OVERTAKEN));
	}
	if (at <= f->last[side])
		at = f->last[side] + 1;
	f->last[side] = at;
	return at;
}

void faults_add(struct faults *f, unsigned side, const void *p, size_t len,
		size_t skip, tux_time now)
{
	const uint8_t *eth = (const uint8_t *)p + skip;
	size_t udp = header_at(eth, len - skip, UDP), flip = 0;
	struct faults_counts *n = &f->n[side];
	tux_time at;

	if (udp ? false : f->o.udp_only || !is_ip(eth, len - skip)) {
		n->unharmed++;
		hold(f, side, p, len, now, 0);
		return;
	}
	if (udp && f->blackhole) {
		n->blackholed++;
		return;
	}
	if (!(f->o.spare_resets && is_reset(eth, len - skip)) &&
	    happens(f, f->o.loss)) {
		n->lost++;
		return;
	}
	at = arrival(f, side, len, now);
	if (at == TUX_NEVER) {
		n->overflowed++;
		return;
	}
	/* Never a bit of TCP's: on veth no checksum would tell. */
	if (udp && happens(f, f->o.corrupt))
		flip = skip + udp;
	n->passed++;
	hold(f, side, p, len, at, flip);
	if (happens(f, f->o.dup)) {
		n->doubled++;
		hold(f, side, p, len, at + 1 + up_to(f, f->o.jitter), 0);
	}
}

struct faults_packet *faults_take(struct faults *f, tux_time now)
{
	struct tux_heap_node *n = tux_heap_min(&f->heap);

	if (!n || n->at > now)
		return NULL;
	tux_heap_set(&f->heap, n, TUX_NEVER);
	f->held--;
	return (struct faults_packet *)n;
}

tux_time faults_deadline(const struct faults *f)
{
	const struct tux_heap_node *n = tux_heap_min(&f->heap);

	return n ? n->at : TUX_NEVER;
}
