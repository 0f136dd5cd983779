/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/post.h"

#include <errno.h>
#include <string.h>

#include "loop/end.h"
#include "sys/take.h"

static bool is_shut(const struct tux_end *e)
{
	return atomic_load(&e->dx->tx.shut);
}

/* ---- sending ---- */

int tux_post_reserve(struct tux_end *e, uint32_t len, unsigned flags, void **p,
		     uint64_t *ref)
{
	int err;

	if (!e->box)
		return -EPROTONOSUPPORT;
	tux_latch_take(&e->dx->tx.latch);
	err = tux_msgbox_reserve(e->box, len, flags, is_shut(e), p, ref);
	tux_latch_drop(&e->dx->tx.latch);
	return err;
}

void tux_post_commit(struct tux_end *e, uint64_t ref, bool now)
{
	tux_latch_take(&e->dx->tx.latch);
	tux_msgbox_commit(e->box, ref);
	tux_latch_drop(&e->dx->tx.latch);
	tux_end_ring(e, TUX_DOORBELL_MESSAGE, now);
}

static uint64_t sum(const struct iovec *iov, int n)
{
	uint64_t len = 0;
	int i;

	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	return len;
}

static int send_small(struct tux_end *e, const struct iovec *iov, int n,
		      unsigned flags, uint64_t *ref, bool now)
{
	int err;

	tux_latch_take(&e->dx->tx.latch);
	err = tux_msgbox_send(e->box, iov, n, flags, is_shut(e), ref);
	tux_latch_drop(&e->dx->tx.latch);
	if (!err)
		tux_end_ring(e, TUX_DOORBELL_MESSAGE, now);
	return err;
}

/* Nobody waits for the latch while much is copied. */
static int send_bulk(struct tux_end *e, const struct iovec *iov, int n,
		     uint32_t len, unsigned flags, uint64_t *ref, bool now)
{
	void *p;
	int i, err = tux_post_reserve(e, len, flags, &p, ref);

	if (err)
		return err;
	for (i = 0; i < n; i++)
		p = mempcpy(p, iov[i].iov_base, iov[i].iov_len);
	tux_post_commit(e, *ref, now);
	return 0;
}

int tux_post_send(struct tux_end *e, const struct iovec *iov, int n,
		  unsigned flags, uint64_t *ref, bool now)
{
	uint64_t len = sum(iov, n);

	if (!e->box)
		return -EPROTONOSUPPORT;
	if (len <= TUX_MSG_SMALL)
		return send_small(e, iov, n, flags, ref, now);
	if (len > TUX_MESSAGE_MAX)
		return -EMSGSIZE;
	return send_bulk(e, iov, n, (uint32_t)len, flags, ref, now);
}

bool tux_post_cancel(struct tux_end *e, uint64_t ref)
{
	bool open;

	tux_latch_take(&e->dx->tx.latch);
	open = tux_msgbox_cancel(e->box, ref);
	tux_latch_drop(&e->dx->tx.latch);
	if (open)
		tux_end_ring(e, TUX_DOORBELL_MESSAGE, false);
	return open;
}

bool tux_post_settled(struct tux_end *e, uint64_t *ref, int *err)
{
	bool any;

	if (!e->box)
		return false;
	tux_latch_take(&e->dx->tx.latch);
	any = tux_msgbox_settled(e->box, ref, err);
	tux_latch_drop(&e->dx->tx.latch);
	return any;
}

unsigned tux_post_reap(struct tux_end *e, unsigned *failed)
{
	unsigned n;

	tux_latch_take(&e->dx->tx.latch);
	n = tux_msgbox_reap(e->box, failed);
	tux_latch_drop(&e->dx->tx.latch);
	return n;
}

bool tux_post_idle(struct tux_end *e)
{
	bool idle;

	tux_latch_take(&e->dx->tx.latch);
	idle = tux_msgbox_idle(e->box);
	tux_latch_drop(&e->dx->tx.latch);
	return idle;
}

unsigned tux_post_rest(struct tux_end *e, int why, uint64_t *ref, int *err)
{
	unsigned n;

	tux_latch_take(&e->dx->tx.latch);
	n = tux_msgbox_rest(e->box, why, ref, err);
	tux_latch_drop(&e->dx->tx.latch);
	return n;
}

uint32_t tux_post_longest(const struct tux_end *e)
{
	return e->box ? tux_msgbox_longest(e->box) : 0;
}

/* ---- receiving ---- */

bool tux_post_any(const struct tux_end *e)
{
	return e->box && tux_msgbox_any(e->box);
}

unsigned tux_post_take(struct tux_end *e, struct tux_msg *m, unsigned n)
{
	if (!tux_post_any(e))
		return 0;
	tux_latch_take(&e->dx->rx.latch);
	n = tux_msgbox_take(e->box, m, n);
	tux_latch_drop(&e->dx->rx.latch);
	return n;
}

void tux_post_release(struct tux_end *e, const struct tux_msg *m, unsigned n)
{
	/* No latch: each message has a byte of its own in the box. */
	if (tux_msgbox_release(e->box, m, n))
		tux_end_ring(e, TUX_DOORBELL_MESSAGE, false);
}
