/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mail - an application's messages, and that each arrives once
 *
 * A message of four bytes or more begins with its number, so that its reader
 * knows which it is; a shorter one has as much of that as fits, and is the
 * first that it may be.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static const tux_time KEEP = TUX_MSEC(5);	/* a message, at most */

static uint8_t byte(const struct sim_end *e, unsigned n, uint32_t i)
{
	uint64_t z = (n * UINT64_C(0x9e3779b97f4a7c15)) ^
		     ((i / 8 + 1) * UINT64_C(0xd1342543de82ef95)) ^
		     (e->conn->i * 2 + e->side);

	if (i < 4)
		return (uint8_t)(n >> 8 * i);
	z *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint8_t)(z >> (i % 8 * 8));
}

/* ---- sending ---- */

unsigned sim_send(struct sim_end *e, uint32_t len, unsigned flags)
{
	if (e->msg_n == e->msg_cap) {
		e->msg_cap = e->msg_cap ? 2 * e->msg_cap : 16;
		e->msg = realloc(e->msg, e->msg_cap * sizeof(*e->msg));
	}
	e->msg[e->msg_n] = (struct sim_msg){ .len = len, .flags = flags };
	sim_app_wake(e);
	return e->msg_n++;
}

static void ring(struct sim_end *e)
{
	if (!e->c)
		return;
	atomic_fetch_or(&e->dx->rung, TUX_DOORBELL_MESSAGE);
	sim_host_bell(e);
}

void sim_cancel(struct sim_end *e, unsigned n)
{
	struct sim_msg *m = &e->msg[n];

	if (m->cancel || m->settled)
		return;
	m->cancel = true;
	if (m->sent && tux_msgbox_cancel(e->box, m->ref))
		ring(e);
}

/* Hands in the next.  False: there is none, or no room. */
static bool send_one(struct sim_end *e)
{
	struct sim_msg *m = &e->msg[e->msg_next];
	void *p;
	uint32_t i;
	int err;

	if (e->msg_next == e->msg_n || e->shut || e->closed || e->msg_err)
		return false;
	err = tux_msgbox_reserve(e->box, m->len, m->flags, false, &p, &m->ref);
	if (err == -EAGAIN)
		return false;
	if (err) {
		e->msg_err = -err;
		return false;
	}
	for (i = 0; i < m->len; i++)
		((uint8_t *)p)[i] = byte(e, e->msg_next, i);
	tux_msgbox_commit(e->box, m->ref);
	m->sent = true;
	if (m->cancel)
		tux_msgbox_cancel(e->box, m->ref);
	e->msg_next++;
	ring(e);
	return true;
}

static void take_word(struct sim_end *e)
{
	uint64_t ref;
	unsigned i;
	int err;

	while (tux_msgbox_settled(e->box, &ref, &err)) {
		while (e->msg_told < e->msg_next && e->msg[e->msg_told].settled)
			e->msg_told++;
		for (i = e->msg_told; i < e->msg_next; i++) {
			if (e->msg[i].ref == ref && !e->msg[i].settled)
				break;
		}
		if (i == e->msg_next && e->conn->foul)
			continue;
		if (i == e->msg_next) {
			sim_fail(e->conn->s, "%c: news of no message",
				 e->host->name);
			return;
		}
		e->msg[i].settled = true;
		e->msg[i].err = err;
	}
}

/* ---- receiving ---- */

/* Until it is released nobody else may touch it. */
static void check_kept(struct sim_end *e, const struct tux_msg *m)
{
	const uint8_t *p = m->p;
	unsigned n;
	uint32_t i;

	if (e->conn->foul || m->len < 4)
		return;
	memcpy(&n, p, sizeof(n));
	for (i = 0; i < m->len && p[i] == byte(e->peer, n, i); i++)
		;
	if (i < m->len)
		sim_fail(e->conn->s, "%c: message %u has changed at %u",
			 e->host->name, n, i);
}

static void release(struct sim_end *e, unsigned i)
{
	check_kept(e, &e->kept[i]);
	if (tux_msgbox_release(e->box, &e->kept[i], 1))
		ring(e);
	e->kept[i] = e->kept[--e->kept_n];
}

/* Which of the peer's is it?  UINT_MAX: none. */
static unsigned which(const struct sim_end *e, const struct tux_msg *m)
{
	const struct sim_end *peer = e->peer;
	uint32_t n = 0, mask;
	unsigned i;

	memcpy(&n, m->p, m->len < 4 ? m->len : 4);
	if (m->len >= 4)
		return n < peer->msg_next ? n : UINT32_MAX;
	mask = (1u << 8 * m->len) - 1;
	for (i = 0; i < peer->msg_next; i++) {
		const struct sim_msg *is = &peer->msg[i];

		if (is->len == m->len && is->flags == m->flags &&
		    (i & mask) == n && !is->got)
			return i;
	}
	return UINT32_MAX;
}

/* Are the ordered ones before it here, or gone, or did they fail? */
static bool in_turn(const struct sim_end *peer, unsigned n)
{
	unsigned i;

	for (i = 0; i < peer->msg_n; i++) {
		const struct sim_msg *m = &peer->msg[i];

		if (!(m->flags & TUX_MSG_ORDERED) || i == n)
			continue;
		if (i < n && !m->got && !m->cancel && !m->err)
			return false;
		if (i > n && m->got)
			return false;
	}
	return true;
}

static void check(struct sim_end *e, const struct tux_msg *m)
{
	struct sim *s = e->conn->s;
	unsigned n = which(e, m);
	const uint8_t *p = m->p;
	struct sim_msg *is;
	uint32_t i;

	e->msg_got++;
	s->chunks++;
	if (e->conn->foul)
		return;
	if (n == UINT32_MAX) {
		sim_fail(s, "%c: a message that nobody sent", e->host->name);
		return;
	}
	is = &e->peer->msg[n];
	if (is->got++)
		sim_fail(s, "%c: message %u twice", e->host->name, n);
	if (m->len != is->len || m->flags != is->flags)
		sim_fail(s, "%c: message %u is another", e->host->name, n);
	for (i = 0; i < m->len && p[i] == byte(e->peer, n, i); i++)
		;
	if (i < m->len && m->len >= 4)
		sim_fail(s, "%c: message %u, wrong byte at %u", e->host->name,
			 n, i);
	if (!(is->flags & TUX_MSG_ORDERED) || in_turn(e->peer, n))
		return;
	take_word(e->peer);		/* it may have closed, and not asked */
	if (!in_turn(e->peer, n))
		sim_fail(s, "%c: message %u out of turn", e->host->name, n);
}

static void look_again(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	(void)s, (void)n, (void)m;
	sim_app_wake(arg);
}

static bool read_some(struct sim_end *e)
{
	struct sim *s = e->conn->s;
	unsigned i, n, room = SIM_KEEP - e->kept_n;

	if (e->paused || e->closed)
		return false;
	n = tux_msgbox_take(e->box, e->kept + e->kept_n, room);
	for (i = 0; i < n; i++)
		check(e, &e->kept[e->kept_n + i]);
	e->kept_n += n;
	if (n) {
		e->kept_at = s->now;
		sim_at(s, s->now + KEEP, look_again, e, 0, 0);
	}
	while (e->kept_n > (s->now - e->kept_at < KEEP ? e->plan.keep : 0))
		release(e, (unsigned)sim_below(s, e->kept_n));
	return n > 0;
}

bool sim_app_messages(struct sim_end *e)
{
	bool more;

	if (!e->box) {
		e->msg_err = EPROTONOSUPPORT;
		return false;
	}
	take_word(e);
	more = read_some(e);
	return send_one(e) || more;
}

/* ---- in the end ---- */

static void check_one(struct sim *s, const struct sim_end *e, unsigned n,
		      bool all)
{
	const struct sim_msg *m = &e->msg[n];

	bool never = m->err == ECANCELED || m->err == EPROTONOSUPPORT ||
		     m->err == ENOBUFS;

	if (m->got && never)
		sim_fail(s, "%c: message %u failed with %d, and came",
			 e->host->name, n, m->err);
	if (all && !m->got && !never)
		sim_fail(s, "%c: message %u of %u did not come, error %d",
			 e->host->name, n, m->len, m->err);
}

void sim_check_mail(struct sim_end *e, bool all)
{
	unsigned n;

	if (e->box)
		take_word(e);
	for (n = 0; n < e->msg_n; n++)
		check_one(e->conn->s, e, n, all && e->msg[n].sent);
}

void sim_check_messages(struct sim *s, bool all)
{
	unsigned i;

	for (i = 0; i < 2 * s->conn_n; i++) {
		struct sim_end *e = &s->conn[i / 2]->end[i % 2];

		if (all)
			SIM_CHECK(s, e->msg_next == e->msg_n);
		sim_check_mail(e, all);
	}
}
