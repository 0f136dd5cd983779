/* SPDX-License-Identifier: BSD-2-Clause */
#include "digest.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sip.h"
#include "sim.h"
#include "wire/wire.h"

static const struct tux_key key = { 1, 2 };

/* ---- datagrams ---- */

/* The bytes of an address that differ between hosts; the others tell the
 * family. */
enum { OWN = SIM_ALIAS };

static uint64_t number(const struct tux_addr *a)
{
	return (uint64_t)a->ip[OWN] << 24 | (uint64_t)a->ip[OWN + 1] << 16 |
	       a->port;
}

/* Blanks what depends on the family in a packet that opens: in its HELLO, and
 * the sums over it. */
static void blank_family(uint8_t *p)
{
	uint8_t *hello = p + TUX_PKT_HDR + TUX_REC_HDR;

	memset(p + 12, 0, 4);		/* the CRC */
	hello[TUX_HELLO_FAMILY] = 0;
	memset(hello + TUX_HELLO_AADDR, 0, OWN);
	memset(hello + TUX_HELLO_PADDR, 0, OWN);
	memset(hello + TUX_HELLO_MAC, 0, TUX_HELLO_LEN - TUX_HELLO_MAC);
}

static uint64_t hash_packets(const uint8_t *p, size_t len)
{
	uint8_t copy[SIM_DGRAM];
	size_t at;

	memcpy(copy, p, len);
	for (at = 0; at < len; at += tux_get16(p + at + 4)) {
		if (p[at + 3] & TUX_PKT_OPEN)
			blank_family(copy + at);
	}
	return tux_sip(&key, copy, len);
}

void sim_digest_datagram(struct sim_host *h, const struct tux_addr *to,
			 const struct tux_addr *from, const uint8_t *p,
			 size_t len, uint8_t ecn)
{
	struct sim *s = h->s;
	uint64_t in[] = {
		s->now, h->i, h->sent_n++, number(to), number(from), ecn, 0,
	};
	struct sim_link none = { 0 };	/* no window is known */
	char text[80];

	if (s->no_digest)
		return;
	in[6] = hash_packets(p, len);
	s->digest += tux_sip(&key, in, sizeof(in));
	if (!s->wire_lines)
		return;
	sim_kinds_text(sim_kinds(&none, p, len) & ~(unsigned)SIM_WINDOW, text,
		       sizeof(text));
	printf("%.6f %c %llu: %llx > %llx ecn %u len %zu %s %016llx\n",
	       (double)s->now / 1e6, h->name, (unsigned long long)in[2],
	       (unsigned long long)in[4], (unsigned long long)in[3], ecn, len,
	       text, (unsigned long long)in[6]);
}

/* ---- segments ---- */

/* FNV-1a, as the bytes may be in two places. */
static uint64_t hash_pipe(const struct sim_pipe *p, uint64_t off, uint64_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; len; off++, len--)
		h = (h ^ p->mem[off & (p->cap - 1)]) *
		    UINT64_C(0x100000001b3);
	return h;
}

void sim_digest_segment(struct sim_end *e, uint64_t off, uint64_t len,
			enum sim_segment what)
{
	static const char *const name[] = { "", " fin", " reset" };
	struct sim *s = e->conn->s;
	uint64_t in[] = { s->now, e->conn->i, e->side, off, len, what, 0 };

	if (s->no_digest)
		return;
	in[6] = hash_pipe(e->sock.tx, off, len);
	s->digest += tux_sip(&key, in, sizeof(in));
	if (!s->wire_lines)
		return;
	printf("%.6f %c%u tcp: %llu len %llu%s %016llx\n",
	       (double)s->now / 1e6, e->host->name, e->conn->i,
	       (unsigned long long)off, (unsigned long long)len, name[what],
	       (unsigned long long)in[6]);
}
