/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/recall.h"

#include <errno.h>
#include <sys/socket.h>

#include "loop/loop.h"
#include "sys/area.h"
#include "sys/carried.h"
#include "sys/sys.h"
#include "sys/take.h"

/* Looks are counted and not the time, in which a process may not run. */
enum {
	LOOKS = 5000,		/* then it is refused: the peer's application must
				 * read to follow */
	LOOK_US = 200,		/* between two of them */
	WAITS = 16384,		/* looks of a child for the answer */
	WAIT_US = 100,		/* between two of them */
	AGAIN = 256,		/* of them, until it asks again */
	AGAIN_WAITS = 100,	/* of one that had been refused before */
};

/* ---- the table ---- */

static size_t recall_len(void)
{
	return sizeof(struct tux_recall) +
	       TUX_ENDS_MAX * sizeof(struct tux_recall_at);
}

int tux_recall_map(struct tux_recall **rp)
{
	int err = tux_area_map((void **)rp, recall_len(), TUX_AREA_SHARED);

	if (!err)
		(*rp)->owner.pid = (int)TUX_SYS(SYS_getpid, 0, 0, 0, 0, 0, 0);
	return err;
}

void tux_recall_fork(struct tux_recall *r)
{
	if (!r->owner.start)
		tux_alive_self(&r->owner);
}

void tux_recall_unmap(struct tux_recall *r)
{
	tux_area_unmap(r, recall_len());
}

void tux_recall_follow(struct tux_recall *r, struct tux_end *e)
{
	e->dx->claim = e->claims;
	e->dx->begun = &r->at[e->index].begun;
}

/* ---- a forked child ---- */

/* A child of an earlier fork may ask for an earlier connection. */
void tux_recall_ask(struct tux_recall *r, const struct tux_end *e)
{
	const struct tux_loop *l = atomic_load(&e->loop);
	_Atomic uint32_t *asked = &r->at[e->index].asked;
	uint32_t was = atomic_load(asked);

	while ((int32_t)(e->claims - was) > 0 &&
	       !atomic_compare_exchange_weak(asked, &was, e->claims))
		;
	atomic_fetch_or(&r->rung, 1u << l->o.number);
}

void tux_recall_uncounted(const struct tux_end *e)
{
	struct tux_recall *r = atomic_load(&e->loop)->o.recall;

	if (r)
		atomic_store(&r->at[e->index].stranger, e->claims);
}

/* Is a word of the entry of @e about a later connection? */
static bool recall_later(const _Atomic uint32_t *word, const struct tux_end *e)
{
	return (int32_t)(atomic_load(word) - e->claims) > 0;
}

enum tux_recall_is tux_recall_look(const struct tux_recall *r,
				   const struct tux_end *e)
{
	const struct tux_recall_at *a = &r->at[e->index];

	if (recall_later(&a->begun, e))
		return TUX_RECALL_REFUSED;
	if (atomic_load(&a->done) == e->claims)
		return TUX_RECALL_DONE;
	return atomic_load(&a->refused) == e->claims ||
	       recall_later(&a->done, e) || recall_later(&a->refused, e) ?
		       TUX_RECALL_REFUSED : TUX_RECALL_OPEN;
}

void tux_recall_call(const struct tux_end *e)
{
	const struct tux_loop *l = atomic_load(&e->loop);

	if (!l->o.recall)
		return;
	tux_recall_ask(l->o.recall, e);
	tux_wake_kick(l->held.bell_fd);
}

/* There was no answer: why? */
static int recall_silence(const struct tux_recall *r)
{
	switch (tux_alive_look(&r->owner)) {
	case TUX_ALIVE_GONE:
		return -ESRCH;
	case TUX_ALIVE_STOPPED:
		return -ETIMEDOUT;
	default:
		return -EBUSY;
	}
}

/* The owner has ended.  Had the connection not begun to move? */
static bool recall_unmoved(const struct tux_recall *r, const struct tux_end *e)
{
	return (int32_t)(atomic_load(&r->at[e->index].begun) - e->claims) < 0;
}

int tux_recall(const struct tux_end *e)
{
	const struct tux_loop *l = atomic_load(&e->loop);
	struct tux_recall *r = l->o.recall;
	enum tux_recall_is is;
	unsigned n;
	int why;

	if (!r)
		return -EBUSY;
	for (n = 0; (is = tux_recall_look(r, e)) != TUX_RECALL_DONE &&
		    n < (is == TUX_RECALL_OPEN ? WAITS : AGAIN_WAITS); n++) {
		if (n % AGAIN == 0) {
			if (recall_silence(r) == -ESRCH)
				break;
			tux_recall_call(e);
		}
		tux_sys_sleep(TUX_USEC(WAIT_US));
	}
	if (is != TUX_RECALL_OPEN)
		return is == TUX_RECALL_DONE ? 0 : -EBUSY;
	why = recall_silence(r);
	if (tux_recall_look(r, e) == TUX_RECALL_DONE ||
	    (why == -ESRCH && recall_unmoved(r, e)))
		return 0;
	return why;
}

/* ---- the loop ---- */

/* Of the marker, which comes next: nothing else is read here. */
static ssize_t recall_recv(void *arg, const struct iovec *iov, int n, bool peek)
{
	const struct tux_end *e = arg;
	int flags = MSG_DONTWAIT | (peek ? MSG_PEEK : 0);
	struct msghdr m = {
		.msg_iov = (void *)(uintptr_t)iov, .msg_iovlen = (size_t)n,
	};

	return TUX_SYS(SYS_recvmsg, e->line.fd, &m, flags, 0, 0, 0);
}

/* What the kernel has counted.  0 or -errno. */
static int recall_carried(struct tux_end *e, struct tux_carried *c)
{
	int r;

	if (e->line.fd >= 0)
		return tux_carried_look(e->line.fd, e->active, c);
	tux_latch_take(&e->fd_latch);
	r = e->fd >= 0 ? tux_carried_look(e->fd, e->active, c) : -EBADF;
	tux_latch_drop(&e->fd_latch);
	return r;
}

/* Pins the directions until the connection may move again, if both are plain. */
static bool recall_sleep(struct tux_loop *l, struct tux_end *e)
{
	struct tux_carried c;
	int r = atomic_load(&e->dx->err) ? -EIO : tux_duplex_sleep(e->dx);

	/* Its error may have been taken from TCP: only calls here know it.  One that
	 * is pinned already, because it was shut down, say, does not move again. */
	e->for_good |= r == -EPERM;
	if (r)
		return false;
	if (recall_carried(e, &c)) {
		tux_duplex_wake(e->dx, NULL, NULL);
		return false;
	}
	if (l->o.sleeps(e->user, &c))
		return true;
	tux_duplex_wake(e->dx, NULL, NULL);
	e->for_good = true;
	return false;
}

/* Both latches are held: no thread of the owner claims it anew before the answer. */
static bool recall_to_tcp(struct tux_loop *l, struct tux_end *e, bool for_good)
{
	const struct tux_tcp tcp = { .recv = recall_recv, .arg = e };
	const struct tux_tcp *t = e->line.fd >= 0 ? &tcp : NULL;
	bool plain;

	if (!for_good && t)
		tux_duplex_advance(e->dx, t);
	plain = for_good ? tux_duplex_go_raw(e->dx, t) : recall_sleep(l, e);
	if (plain) {
		e->slept = !for_good;
		tux_recall_plain(e);
	}
	return plain;
}

/* Is the connection plain TCP, and stays so?  False also if a thread is in a call. */
static bool recall_pin(struct tux_loop *l, struct tux_end *e, bool for_good)
{
	struct tux_duplex *d = e->dx;
	bool plain = false;

	if (!tux_latch_try(&d->tx.latch))
		return false;
	if (tux_latch_try(&d->rx.latch)) {
		plain = recall_to_tcp(l, e, for_good);
		tux_latch_drop(&d->rx.latch);
	}
	tux_latch_drop(&d->tx.latch);
	return plain;
}

/* Has the connection no way back to Tux?  Then the peer is told. */
static bool recall_for_good(struct tux_loop *l, struct tux_end *e)
{
	if (!l->o.sleeps ||
	    atomic_load(&l->o.recall->at[e->index].stranger) == e->claims)
		e->for_good = true;
	if (!e->conn)
		return e->for_good || e->stage != TUX_END_FRESH;
	if (e->for_good && tux_conn_is_shared(e->conn))
		tux_conn_rung(e->conn, TUX_DOORBELL_RAW, l->now);
	return !tux_conn_is_shared(e->conn);
}

/* The core hears of a marker that recall_pin() has found. */
static void recall_rung(struct tux_loop *l, struct tux_end *e)
{
	const uint32_t both = TUX_DOORBELL_TX | TUX_DOORBELL_RX;
	uint32_t bits = atomic_fetch_and(&e->dx->rung, ~both) & both;

	if (bits && e->conn)
		tux_conn_rung(e->conn, bits, l->now);
}

static void recall_begin(struct tux_loop *l, struct tux_end *e)
{
	e->recall_looks = LOOKS;
	l->recalled_n++;
	atomic_store(&e->dx->raw_why, TUX_REASON_SHARED);
	/* A WOKE of before may be in the bell yet. */
	if (e->conn && atomic_fetch_and(&e->dx->rung, ~(uint32_t)TUX_DOORBELL_WOKE) &
	    TUX_DOORBELL_WOKE)
		tux_conn_rung(e->conn, TUX_DOORBELL_WOKE, l->now);
	if (e->conn)
		tux_conn_rung(e->conn, TUX_DOORBELL_SHARE, l->now);
}

static void recall_end(struct tux_loop *l, struct tux_end *e)
{
	e->recall_looks = 0;
	l->recalled_n--;
}

/* It may yet become plain, for good. */
static void recall_refuse(struct tux_loop *l, struct tux_end *e)
{
	e->for_good = true;
	if (e->conn && !e->closed)
		tux_conn_rung(e->conn, TUX_DOORBELL_RAW, l->now);
	atomic_store(&e->recalled, TUX_RECALL_REFUSED);
	atomic_store(&l->o.recall->at[e->index].refused, e->claims);
}

void tux_recall_plain(struct tux_end *e)
{
	struct tux_recall *r = atomic_load(&e->loop)->o.recall;

	atomic_store(&e->recalled, TUX_RECALL_DONE);
	if (r)
		atomic_store(&r->at[e->index].done, e->claims);
}

/* The answer to the earlier claim goes: a process that is not counted, and asks only
 * now, finds none.  One that has asked already gets what it asked for. */
void tux_recall_anew(struct tux_end *e)
{
	struct tux_recall *r = atomic_load(&e->loop)->o.recall;
	uint32_t was;

	if (!r || atomic_load(&e->recalled) == TUX_RECALL_OPEN)
		return;
	was = atomic_fetch_add(&e->claims, 1);
	e->dx->claim = was + 1;
	atomic_store(&r->at[e->index].done, 0);
	atomic_store(&e->recalled, TUX_RECALL_OPEN);
	if (atomic_load(&r->at[e->index].stranger) == was) {
		tux_duplex_pin(e->dx);
		atomic_store(&r->at[e->index].done, was);
	}
}

static void recall_done(struct tux_loop *l, struct tux_end *e)
{
	l->o.recalled(e->user, e->slept);
}

/* True: @e is taken up, or answered.  What was refused may be plain by now. */
static bool recall_take(struct tux_loop *l, struct tux_end *e)
{
	uint8_t is = atomic_load(&e->recalled);

	if (e->recall_looks || is == TUX_RECALL_DONE ||
	    atomic_load(&l->o.recall->at[e->index].asked) != e->claims)
		return false;
	if (e->closed)
		recall_refuse(l, e);
	else if (is == TUX_RECALL_OPEN)
		recall_begin(l, e);
	else if (recall_pin(l, e, recall_for_good(l, e)))
		recall_done(l, e);
	return true;
}

static uint32_t recall_bit(const struct tux_loop *l)
{
	return UINT32_C(1) << l->o.number;
}

bool tux_loop_unasked(const struct tux_loop *l)
{
	return !l->o.recall ||
	       !(atomic_load(&l->o.recall->rung) & recall_bit(l));
}

unsigned tux_loop_recalls(struct tux_loop *l)
{
	uint32_t i, used;
	unsigned n = 0;

	if (tux_loop_unasked(l))
		return 0;
	atomic_fetch_and(&l->o.recall->rung, ~recall_bit(l));
	used = atomic_load(&l->o.ends->used);
	for (i = 0; i < used; i++) {
		struct tux_end *e = tux_ends_at(l->o.ends, i);

		n += atomic_load(&e->loop) == l && recall_take(l, e);
	}
	return n;
}

static void recall_answer(struct tux_loop *l, struct tux_end *e)
{
	bool plain = recall_pin(l, e, recall_for_good(l, e));

	recall_rung(l, e);
	if (plain) {
		recall_end(l, e);
		recall_done(l, e);
	} else if (!--e->recall_looks || tux_duplex_hopeless(e->dx)) {
		recall_end(l, e);
		recall_refuse(l, e);
	}
}

void tux_loop_recalled(struct tux_loop *l)
{
	uint32_t i, used;

	if (!l->recalled_n || l->now < l->recalled_at)
		return;
	used = atomic_load(&l->o.ends->used);
	l->recalled_at = tux_time_add(l->now, TUX_USEC(LOOK_US));
	for (i = 0; i < used && l->recalled_n; i++) {
		struct tux_end *e = tux_ends_at(l->o.ends, i);

		if (atomic_load(&e->loop) == l && e->recall_looks)
			recall_answer(l, e);
	}
}

void tux_loop_recall_over(struct tux_loop *l, struct tux_end *e)
{
	if (!l->o.recall)
		return;
	if (e->recall_looks)
		recall_end(l, e);
	if (!recall_pin(l, e, true))
		recall_refuse(l, e);
}
