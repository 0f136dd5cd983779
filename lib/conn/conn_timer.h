/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_timer - the deadline of a connection, and what happens when it passes
 */
#ifndef TUX_CONN_CONN_TIMER_H
#define TUX_CONN_CONN_TIMER_H

#include "base/time.h"

struct tux_conn;

tux_time tux_conn_deadline(struct tux_conn *c);

/* Does what is due at @now. */
void tux_conn_expire(struct tux_conn *c, tux_time now);

/* Its timer goes off in time for the deadline as it is now. */
void tux_conn_set_timer(struct tux_conn *c);

/* The timer has gone off, and was looked at: it goes off later than @now. */
void tux_conn_rearm(struct tux_conn *c, tux_time now);

#endif
