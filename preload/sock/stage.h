/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stage - the stages of a sock, and how it comes from one to the next
 *
 * The transitions stand in one table (stage.c), which DESIGN draws; a debug
 * build asserts each, but for those of sock.c, from and to SOCK_FREE.  A thread
 * that has brought a sock from SOCK_CANDIDATE or SOCK_CLAIMED to SOCK_CLAIMING
 * decides alone about it: others wait.
 */
#ifndef TUX_PRELOAD_STAGE_H
#define TUX_PRELOAD_STAGE_H

#include <stdint.h>

#include "sock/sock.h"

/* Bit b of entry a is set if stage b may follow stage a.  SOCK_FREE may follow
 * any: the last reference goes when no thread looks at the sock any more. */
extern const uint16_t stage_next[SOCK_STAGES];

static inline enum sock_stage stage_of(const struct sock *s)
{
	return (enum sock_stage)atomic_load(&s->stage);
}

/* @s comes from stage @from to @to.  False: it is not in @from, or no
 * longer. */
bool stage_try(struct sock *s, enum sock_stage from, enum sock_stage to);

/* The last descriptor of @s in this process goes.  It may have come to
 * SOCK_CLOSED by stage_try(). */
void stage_close(struct sock *s);

/* Takes candidate @s as if to claim it.  False: it is no candidate.  The caller
 * brings it back to SOCK_CANDIDATE, or to another stage. */
bool stage_hold(struct sock *s);

#endif
