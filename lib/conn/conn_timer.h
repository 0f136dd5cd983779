/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_timer - the deadline of a connection, and what happens when it passes
 */
#ifndef TUX_CONN_CONN_TIMER_H
#define TUX_CONN_CONN_TIMER_H

#include "base/time.h"

struct tux_conn;

/* The earliest instant at which tux_conn_expire() has something to do;
 * TUX_NEVER: there is none. */
tux_time tux_conn_deadline(struct tux_conn *c);

/* Does what is due at @now. */
void tux_conn_expire(struct tux_conn *c, tux_time now);

/* Takes @c out of core->untimed, and makes its timer earlier if the deadline
 * has become earlier.  A timer that is too early is corrected when it
 * expires. */
void tux_conn_set_timer(struct tux_conn *c);

/* After tux_conn_expire(): sets the timer to the deadline, but later than
 * @now. */
void tux_conn_rearm(struct tux_conn *c, tux_time now);

#endif
