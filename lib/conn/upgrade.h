/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upgrade - when to announce a switch, and at which offset N: the policy around
 * the rules of duplex*.c
 *
 * The first generation announces N at the byte just written.  That works if the
 * application now waits for an answer.  If it writes on, the generation is
 * void, and the next one puts N ahead by twice what was written meanwhile, so
 * that PREPARED is back before the writer reaches N.  If PREPARED has come and
 * the writer stops short of N, a new generation has its N where the writer
 * has stopped.
 */
#ifndef TUX_CONN_UPGRADE_H
#define TUX_CONN_UPGRADE_H

#include <stdint.h>

#include "conn/conn.h"

/* PREPARE has come: generation @gen switches at offset @at, in turn @turn of
 * the direction.  The settle step arms the receiving direction and answers. */
void tux_upgrade_prepare(struct tux_conn *c, uint32_t gen, uint64_t at,
			 uint32_t turn);

/* PREPARED for generation @gen has come.  The settle step takes it. */
void tux_upgrade_prepared(struct tux_conn *c, uint32_t gen);

/* Does what is due at @now: tries a latch again that was held, and looks
 * whether the writer has stopped short of N. */
void tux_upgrade_expire(struct tux_conn *c, tux_time now);

/* When tux_upgrade_expire() has something to do; TUX_NEVER: nothing. */
tux_time tux_upgrade_deadline(const struct tux_conn *c);

/* For the settle step, while the life is PROVED: takes the next step of the
 * upgrade in each direction that has not switched, as far as the bits @dirty
 * (TUX_DIRTY_*) say that something has changed. */
void tux_upgrade_step(struct tux_conn *c, uint32_t dirty, tux_time now);

#endif
