/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace - what happens to a connection, as events and as lines of text
 *
 * The core passes each event, as a few numbers, to a function that the caller
 * gave it.  Only code that shows events makes text of them: the simulator's
 * stories are such lines.
 */
#ifndef TUX_CONN_TRACE_H
#define TUX_CONN_TRACE_H

#include <stddef.h>
#include <stdint.h>

/* name, text; each % stands for one of up to three numbers */
#define TUX_TRACES(X) \
	X(SEND_HELLO, "send hello %") \
	X(RECV_HELLO, "recv hello %") \
	X(PROVED, "path proved") \
	X(SEND_PREPARE, "send prepare % at %") \
	X(RECV_PREPARE, "recv prepare % at %") \
	X(SEND_NOWHERE, "send prepare % nowhere") \
	X(RECV_NOWHERE, "recv prepare % nowhere") \
	X(ARMED, "armed % at %") \
	X(SEND_PREPARED, "send prepared %") \
	X(RECV_PREPARED, "recv prepared %") \
	X(VOID, "generation % void") \
	X(COMMIT, "commit % at %") \
	X(RX_SWITCHED, "receive switched at %") \
	X(SEND, "send % stream % +%") \
	X(SEND_FIN, "send % fin at %") \
	X(SEND_ACK, "send ack % got %") \
	X(RECV, "recv % stream % +%") \
	X(RECV_FIN, "recv % fin at %") \
	X(RECV_ACK, "recv ack % got %") \
	X(DUPLICATE, "duplicate %") \
	X(DROPPED, "dropped %") \
	X(LOST, "lost % stream % +%") \
	X(TIMEOUT, "timeout, % in flight") \
	X(TAIL, "probe the tail, % in flight") \
	X(SPURIOUS, "% was not lost") \
	X(UNDO, "window back to %") \
	X(MTU_PROBE, "try % bytes") \
	X(MTU, "up to % bytes") \
	X(EASE, "% came with CE, window %") \
	X(NO_ECN, "no ECN on this path: %") \
	X(PROBE, "probe") \
	X(BACK, "back to tcp at %") \
	X(AGAIN, "tux again at %") \
	X(FRAME_OUT, "tcp out frame % at % +%") \
	X(FRAME_IN, "tcp in frame % at % +%") \
	X(SEND_RESET, "send reset %") \
	X(RECV_RESET, "recv reset %") \
	X(PEER_DIED, "peer died") \
	X(TCP_END, "tcp end %") \
	X(RAW_OUT, "raw out at %") \
	X(RAW_IN, "raw in at %") \
	X(LEAVE, "bursts of %, limit %, % bytes/s: leaves") \
	X(RECV_LEAVE, "recv leave, read to %, turn %") \
	X(PLAIN_OUT, "plain out at %") \
	X(PLAIN_IN, "plain in at %") \
	X(MSG_SEND, "send message %.% at %") \
	X(MSG_RECV, "recv message %.% at %") \
	X(MSG_LOST, "lost message %.% at %") \
	X(MSG_DELIVER, "deliver message %.% +%") \
	X(MSG_SENT, "message %.% arrived") \
	X(MSG_CANCEL, "send cancel %.%") \
	X(MSG_FAILED, "message %.% failed %") \
	X(ROOM, "send room from % and %") \
	X(CLOSE, "close") \
	X(GONE, "gone") \
	X(LIFE, "life % to %") \
	X(TX_PATH, "send path % to %") \
	X(RX_PATH, "receive path % to %")

enum tux_trace_what {
#define X(name, text) TUX_TRACE_##name,
	TUX_TRACES(X)
#undef X
	TUX_TRACE_N
};

struct tux_trace {
	enum tux_trace_what what;
	uint64_t n[3];
};

typedef void tux_trace_fn(void *arg, void *user, const struct tux_trace *t);

/* Writes the line for @t to @buf, cut to @cap bytes with the NUL at its end.
 * Returns the length of what was written. */
size_t tux_trace_text(const struct tux_trace *t, char *buf, size_t cap);

#endif
