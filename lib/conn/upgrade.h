/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upgrade - when to announce a switch, and how far ahead: policy around the
 * rules of duplex*.c
 *
 * A generation announced at the byte just written works for a writer that now
 * waits for an answer.  A writer that goes on makes it void; the next generation
 * looks ahead by about twice what was written meanwhile, so that the
 * acknowledgment is back before N is reached.  A writer that stops short of an
 * acknowledged N is given a new generation where it stopped.
 */
#ifndef TUX_CONN_UPGRADE_H
#define TUX_CONN_UPGRADE_H

#include <stdint.h>

#include "base/time.h"

struct tux_conn;

/* PREPARE(@gen, @at) or PREPARED(@gen) has come; the settle step answers it. */
void tux_upgrade_prepare(struct tux_conn *c, uint32_t gen, uint64_t at);
void tux_upgrade_prepared(struct tux_conn *c, uint32_t gen);

/* What time has made due: a latch is tried again, a writer that rests short of N
 * gets another generation. */
void tux_upgrade_expire(struct tux_conn *c, tux_time now);
tux_time tux_upgrade_deadline(const struct tux_conn *c);

/* For the settle step: the next step of the upgrade in both directions, as
 * @dirty (TUX_DIRTY_*) allows.  Only while the life is PROVED. */
void tux_upgrade_step(struct tux_conn *c, uint32_t dirty, tux_time now);

#endif
