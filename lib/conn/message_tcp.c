/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/message_tcp.h"

#include <errno.h>

#include "conn/conn_frame.h"
#include "conn/conn_in.h"
#include "conn/message_fate.h"
#include "conn/message_room.h"
#include "conn/message_rx.h"
#include "conn/message_tx.h"
#include "conn/window.h"

enum { PIECE = 16384 };	/* longest body of a MESSAGE frame: others wait for it */

bool tux_message_may_frame(const struct tux_conn *c)
{
	return c->msg && c->tx.path == TUX_PATH_FRAMES && !c->tx.done &&
	       !c->out.raw && tux_conn_tx_state(c) == TUX_TX_SWITCHED;
}

bool tux_message_room_frame(struct tux_conn *c)
{
	struct tux_conn_out *o = &c->out;

	if (!(c->todo & TUX_DO_ROOM) || !tux_message_may_frame(c))
		return false;
	c->todo &= ~(uint32_t)TUX_DO_ROOM;
	tux_conn_frame(c, TUX_FRAME_ROOM, tux_window_end(c), TUX_ROOM_LEN);
	tux_message_tell_room(c, o->hdr + TUX_FRAME_HDR);
	o->hdr_len = o->hdr_left = TUX_FRAME_HDR + TUX_ROOM_LEN;
	o->left = 0;
	return true;
}

void tux_message_fin_frame(struct tux_conn *c)
{
	struct tux_conn_out *o = &c->out;
	bool end = c->msg && c->peer_messages;

	tux_conn_frame(c, TUX_FRAME_FIN, c->tx.buf.end, end ? TUX_END_LEN : 0);
	o->left = 0;
	if (!end)
		return;
	tux_message_tell_end(c, o->hdr + TUX_FRAME_HDR);
	o->hdr_len = o->hdr_left = TUX_FRAME_HDR + TUX_END_LEN;
}

bool tux_message_frame(struct tux_conn *c)
{
	struct tux_conn_out *o = &c->out;
	uint32_t hdr;

	if (!tux_message_may_frame(c) || o->sw)
		return false;
	tux_message_begin(c);
	if (!tux_message_pick(c, PIECE, &o->pick))
		return false;
	tux_message_take(c, &o->pick, NULL);
	hdr = tux_message_hdr_len(o->pick.h.flags);
	tux_conn_frame(c, TUX_FRAME_MESSAGE, o->pick.h.flags,
		       hdr + o->pick.h.len);
	tux_message_encode(&o->pick.h, o->hdr + TUX_FRAME_HDR);
	o->hdr_len = o->hdr_left = (uint8_t)(TUX_FRAME_HDR + hdr);
	o->left = o->pick.h.len;
	return true;
}

/* ---- in ---- */

uint8_t tux_message_frame_need(const struct tux_frame *f)
{
	switch (f->type) {
	case TUX_FRAME_MESSAGE:
		return (uint8_t)(TUX_FRAME_HDR +
				 tux_message_hdr_len((unsigned)f->off));
	case TUX_FRAME_ROOM:
		return TUX_FRAME_HDR + TUX_ROOM_LEN;
	case TUX_FRAME_FIN:
	case TUX_FRAME_RAW:
	case TUX_FRAME_PLAIN:
		return (uint8_t)(TUX_FRAME_HDR + f->len);
	default:
		return TUX_FRAME_HDR;
	}
}

int tux_message_frame_in(struct tux_conn *c)
{
	struct tux_conn_in *i = &c->in;
	const uint8_t *body = i->hdr + TUX_FRAME_HDR;
	int err;

	if (!c->msg)
		return -EBADMSG;
	if (i->frame.type == TUX_FRAME_ROOM) {
		tux_window_heard(c, i->frame.off);
		return tux_message_room(c, body, TUX_ROOM_LEN);
	}
	err = tux_message_decode(&i->part, i->frame.off, body, i->frame.len);
	if (err)
		return err;
	i->left = i->part.len;
	i->message = i->left != 0;
	return i->message ? 0 : tux_message_put(c, &i->part, body, true);
}

int tux_message_frame_body(struct tux_conn *c, const uint8_t *p, uint32_t len)
{
	struct tux_conn_in *i = &c->in;
	int err;

	i->part.len = len;
	err = tux_message_put(c, &i->part, p, true);
	i->part.off += len;
	i->left -= len;
	i->message = i->left != 0;
	return err;
}
