/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_frame - the beginning of a frame on a switched direction's TCP
 */
#ifndef TUX_CONN_CONN_FRAME_H
#define TUX_CONN_CONN_FRAME_H

#include <stdint.h>

struct tux_conn;

/* Begins a frame in c->out: encodes the header of a frame of @type, with offset
 * @off and a body of @len bytes.  No other frame may be under way. */
void tux_conn_frame(struct tux_conn *c, uint8_t type, uint64_t off,
		    uint32_t len);

#endif
