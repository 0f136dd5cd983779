/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leave - both directions leave Tux at once, because another process uses the
 * connection
 *
 * That process can use plain TCP only.  It asks the loop (loop/recall.h), which
 * takes both directions to TCP and then pins them.  When this process alone has the
 * connection again, it may move once more: so what TCP becomes is a new turn of
 * each direction, and not the end of Tux.
 *
 * This end's direction leaves as back.h has it.  The peer is asked for the other
 * one, by LEAVE: in a record, and also with the PLAIN frame of this end's direction,
 * for packets may not arrive.  The peer says LEAVE as well, since it may be shared, too,
 * a moment later.
 */
#ifndef TUX_CONN_LEAVE_H
#define TUX_CONN_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct tux_conn;

/* Other processes use the connection of @c.  If it cannot leave for a while, because
 * it has messages or the peer does not know LEAVE, it leaves for good. */
void tux_leave_share(struct tux_conn *c);

/* The application is alone with @c again. */
void tux_leave_alone(struct tux_conn *c);

/* Is the peer to hear LEAVE yet?  Not once its direction is plain TCP. */
bool tux_leave_tells(const struct tux_conn *c);

/* Writes the body of LEAVE, TUX_LEAVE_LEN bytes, to @p. */
void tux_leave_tell(struct tux_conn *c, uint8_t *p);

/* The peer has sent LEAVE, and its application has read all below @off; UINT64_MAX: it
 * reads on.  @turn: of the direction that this end sends. */
void tux_leave_asked(struct tux_conn *c, uint64_t off, uint32_t turn);

/* The direction that this end receives has begun a new turn. */
void tux_leave_rx_plain(struct tux_conn *c);

/* For the settle step: does what tx.shared and tx.asked are for. */
void tux_leave_step(struct tux_conn *c, tux_time now);

#endif
