/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check - what each byte must be, and which ends of a stream are due
 */
#include <errno.h>
#include <string.h>

#include "check.h"

/* Eight bytes of a stream at once; multiplication mixes enough for a test. */
static uint64_t word(const struct sim_end *e, uint64_t i)
{
	uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z ^= (e->conn->i * 2 + e->side + 1) * UINT64_C(0xd1342543de82ef95);
	z *= UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ (z >> 29);
}

static void patch(const struct sim_end *e, uint64_t off, uint8_t *p,
		  uint64_t len)
{
	unsigned i;
	uint64_t j;

	for (i = 0; i < SIM_PATCHES; i++) {
		const struct sim_patch *x = &e->patch[i];

		for (j = 0; j < x->len; j++) {
			if (x->off + j >= off && x->off + j < off + len)
				p[x->off + j - off] = x->b[j];
		}
	}
}

void sim_fill(const struct sim_end *e, uint64_t off, uint8_t *p, uint64_t len)
{
	uint64_t done = 0, w;

	while (done < len) {
		uint64_t skip = (off + done) % 8, n = 8 - skip;

		w = word(e, (off + done) / 8);
		if (n > len - done)
			n = len - done;
		memcpy(p + done, (uint8_t *)&w + skip, n);
		done += n;
		for (; done + 8 <= len; done += 8) {	/* most of them */
			w = word(e, (off + done) / 8);
			memcpy(p + done, &w, 8);
		}
	}
	patch(e, off, p, len);
}

void sim_patch(struct sim_end *e, uint64_t off, const void *p, unsigned len)
{
	unsigned i;

	for (i = 0; i < SIM_PATCHES && e->patch[i].len; i++)
		;
	e->patch[i].off = off;
	e->patch[i].len = len;
	memcpy(e->patch[i].b, p, len);
}

void sim_check_read(struct sim_end *e, const uint8_t *p, uint64_t len)
{
	struct sim *s = e->conn->s;
	static uint8_t want[SIM_IO_MAX];
	uint64_t i;

	if (e->conn->foul)
		return;
	if (e->got + len > e->peer->sent) {
		sim_fail(s, "%c reads to %llu, %llu were written",
			 e->host->name, (unsigned long long)(e->got + len),
			 (unsigned long long)e->peer->sent);
		return;
	}
	sim_fill(e->peer, e->got, want, len);
	if (memcmp(p, want, len) == 0)
		return;
	for (i = 0; i < len && p[i] == want[i]; i++)
		;
	if (i < len)
		sim_fail(s, "%c reads a wrong byte at %llu", e->host->name,
			 (unsigned long long)(e->got + i));
}

void sim_check_ended(const struct sim_end *e)
{
	const struct sim_end *peer = e->peer;

	if (!e->conn->foul && !peer->shut && !peer->closed &&
	    !peer->host->dead)
		sim_fail(e->conn->s, "%c: an end that nobody made",
			 e->host->name);
}

void sim_check_eof(struct sim_end *e)
{
	const struct sim_end *peer = e->peer;

	sim_check_ended(e);
	if (!e->conn->foul && e->got != peer->sent)
		sim_fail(e->conn->s, "%c: end at %llu, %llu were written",
			 e->host->name, (unsigned long long)e->got,
			 (unsigned long long)peer->sent);
}

/* May @e be told that the connection is broken? */
static bool due(const struct sim_end *e)
{
	const struct sim_end *peer = e->peer;

	return peer->host->dead || peer->aborted || e->conn->foul ||
	       (peer->closed && peer->got < e->sent);
}

void sim_check_error(struct sim_end *e, int err)
{
	if ((err != ECONNRESET && err != EPIPE) || !due(e))
		sim_fail(e->conn->s, "%c: error %d is not due", e->host->name,
			 err);
}

void sim_check_all(struct sim *s)
{
	unsigned i;

	for (i = 0; i < 2 * s->conn_n; i++) {
		struct sim_end *e = &s->conn[i / 2]->end[i % 2];

		SIM_CHECK(s, e->sent == e->goal);
		SIM_CHECK(s, e->got == e->peer->sent);
		SIM_CHECK(s, e->eof);
		SIM_CHECK(s, !e->rerr && !e->werr);
	}
}
