/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/conn_frame.h"

#include "conn/conn_in.h"

void tux_conn_frame(struct tux_conn *c, uint8_t type, uint64_t off, uint32_t len)
{
	struct tux_conn_out *o = &c->out;
	const struct tux_frame f = { .type = type, .len = len, .off = off };

	tux_frame_encode(&f, o->hdr);
	o->hdr_len = o->hdr_left = TUX_FRAME_HDR;
	o->type = type;
	o->left = len;
	o->busy = true;
	tux_conn_trace(c, TUX_TRACE_FRAME_OUT, type, off, len);
}
