/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/stage.h"

#include <assert.h>

#include "sys/take.h"

#define STAGE(name) (1u << SOCK_##name)

/* From CLAIMING to CLOSED it comes if the thread that was about to claim it
 * does not run for long: at exit, it may not run any more. */
const uint16_t stage_next[SOCK_STAGES] = {
	[SOCK_FREE] = STAGE(LISTENER) | STAGE(CANDIDATE),
	[SOCK_LISTENER] = STAGE(CLOSED),
	[SOCK_CANDIDATE] = STAGE(CLAIMING) | STAGE(LOST) | STAGE(CLOSED),
	[SOCK_CLAIMING] = STAGE(CANDIDATE) | STAGE(CLAIMED) | STAGE(TCP) |
			  STAGE(LOST) | STAGE(CLOSED),
	[SOCK_CLAIMED] = STAGE(CLAIMING) | STAGE(PLAIN) | STAGE(CLOSED),
	[SOCK_TCP] = STAGE(LOST) | STAGE(CLOSED),
	[SOCK_LOST] = STAGE(CANDIDATE) | STAGE(TCP) | STAGE(CLOSED),
	[SOCK_PLAIN] = STAGE(CLOSED),
	[SOCK_CLOSED] = 0,
};

bool stage_try(struct sock *s, enum sock_stage from, enum sock_stage to)
{
	uint8_t is = (uint8_t)from;

#ifdef TUX_DEBUG
	assert(stage_next[from] >> to & 1 && "the table has no such transition");
#endif
	return atomic_compare_exchange_strong(&s->stage, &is, (uint8_t)to);
}

void stage_close(struct sock *s)
{
	uint8_t from = atomic_exchange(&s->stage, SOCK_CLOSED);

#ifdef TUX_DEBUG
	assert(from == SOCK_CLOSED || stage_next[from] >> SOCK_CLOSED & 1);
#else
	(void)from;
#endif
}

bool stage_hold(struct sock *s)
{
	uint8_t is = SOCK_CANDIDATE;

	/* A thread that is about to claim it may yet leave it a candidate. */
	for (unsigned i = 1; !atomic_compare_exchange_strong(&s->stage, &is,
							     SOCK_CLAIMING); i++) {
		if (is != SOCK_CLAIMING)
			return false;
		is = SOCK_CANDIDATE;
		tux_await(i);
	}
	return true;
}
