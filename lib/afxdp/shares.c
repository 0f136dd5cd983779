/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/shares.h"

#include "sys/wake.h"

void tux_shares_init(struct tux_shares *s)
{
	unsigned i;

	atomic_store(&s->n, 0);
	for (i = 0; i < TUX_LINK_LOOPS; i++) {
		atomic_store(&s->at[i].held, false);
		atomic_store(&s->at[i].fd, -1);
	}
}

static void wake_loop(const struct tux_shares *s, unsigned i)
{
	int fd = atomic_load(&s->at[i].fd);

	if (fd >= 0)
		tux_wake_kick(fd);
}

void tux_shares_wake(const struct tux_shares *s, unsigned i)
{
	unsigned j;

	for (j = 0; j < TUX_LINK_LOOPS; j++)
		if (j != i)
			wake_loop(s, j);
}

void tux_shares_assign(struct tux_shares *s, uint32_t n)
{
	atomic_store(&s->n, n);
	tux_shares_wake(s, TUX_LINK_LOOPS);
}

void tux_shares_revoke(struct tux_shares *s)
{
	tux_shares_assign(s, 0);
}

bool tux_shares_revoked(const struct tux_shares *s)
{
	unsigned i;

	for (i = 0; i < TUX_LINK_LOOPS; i++)
		if (atomic_load(&s->at[i].held))
			return false;
	return true;
}

/* The loop stores `held` and then loads `n`; tux_shares_revoke() stores `n`, and
 * tux_shares_revoked() then loads `held`.  So either the loop sees that the shares are
 * revoked, or the path manager sees this one.  While it is held, `n` does not become
 * again what it was. */
uint32_t tux_shares_get(struct tux_shares *s, unsigned i)
{
	uint32_t n = atomic_load(&s->n);

	if (i >= n)
		return n;
	atomic_store(&s->at[i].held, true);
	if (atomic_load(&s->n) == n)
		return n;
	tux_shares_put(s, i);
	return 0;
}

void tux_shares_put(struct tux_shares *s, unsigned i)
{
	if (atomic_exchange(&s->at[i].held, false))
		wake_loop(s, 0);
}
