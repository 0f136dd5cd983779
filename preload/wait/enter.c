/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/enter.h"

#include "sock/candidate.h"
#include "sock/pass.h"

bool rw_enter_slow(struct rw *r, int fd)
{
	r->fd = fd;
	for (;;) {
		uint8_t stage;

		r->s = sock_claimed(fd);
		if (r->s)
			return true;
		r->s = fd_peek(fd);
		if (!r->s || r->s->stage == SOCK_TCP ||
		    r->s->stage == SOCK_PLAIN ||
		    !(r->s = sock_pass(fd)))
			break;
		stage = atomic_load(&r->s->stage);
		if (stage == SOCK_CANDIDATE)
			return false;
		atomic_fetch_sub(&r->s->refs, SOCK_PASSING);
		if (stage == SOCK_LOST)
			return true;
		sock_put(r->s);
		if (stage != SOCK_CLAIMED && stage != SOCK_CLAIMING &&
		    stage != SOCK_CANDIDATE)
			break;
	}
	r->s = NULL;
	return false;
}

void rw_leave_slow(struct rw *r, bool out, size_t n)
{
	if (n)
		candidate_moved(r->s, out, n);
	sock_passed(r->s);
}
