/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire - every byte that libtux puts on the network
 *
 * tux-wire(7) has the same layouts, and the rules for their use.  The word in
 * capitals before a layout below is the name of a record, frame or field there,
 * and the section of the manual stands behind it.  Change both together.
 *
 * A new record type needs: a number and a size or layout here, a decoder in
 * pkt.c, an encoder where it is sent, a case in conn_recv.c, its description in
 * tux-wire(7), and an example there (t/unit/wire/page.c).
 *
 * All numbers are unsigned and big-endian.  The first column is the offset.
 *
 * DATAGRAM  (Datagrams) one or more packets, back to back
 *
 * PACKET    (Packets)
 *           0  u16  magic
 *           2  u8   version
 *           3  u8   flags: TUX_PKT_*
 *           4  u16  length of the packet, this header included
 *           6  u16  span: seq less the sender's floor, which is the lowest
 *                   number that it still wants acknowledged
 *           8  u32  connection id of the receiver; 0 while it is not known
 *          12  u32  CRC32C of the packet with this field zero; in a packet
 *                   without OPEN, XORed with the packet's seal
 *          16  u32  seq: number of this transmission
 *          20  u32  ack: every number below has arrived or is settled
 *          24  u64  got: every stream byte below has arrived; FIN counts as a
 *                   byte
 *          32  u32  window: bytes beyond got that may be sent
 *          36  u16  delay: time since the highest number arrived, in units of
 *                   16 us
 *          38  u8   ect: ELICIT packets that came with ECT(0) or CE, mod 256
 *          39  u8   ce: those of them that came with CE, mod 256
 *          40       records
 *
 * Bytes 0 to 15 have this form in every version.
 *
 * RECORD    (Records)
 *           0  u8   type: TUX_REC_*
 *           1  u8   flags
 *           2  u16  length of the body
 *           4       body
 *
 * The bodies of records:
 *
 * STREAM    0  u64  offset
 *           8       bytes
 *                   flags: TUX_STREAM_*
 * MESSAGE   (Messages)
 *           0  u32  id: counts the messages of a lane from 0
 *           4  u32  pos: where the message begins in the space of its lane
 *              u32  order: counts the ordered messages from 0; only with the
 *                   flag ORDER
 *              u32  total: length of the message; and
 *              u32  offset of this fragment; neither if the fragment has both
 *                   FIRST and LAST
 *                   bytes
 *                   flags: TUX_MESSAGE_*
 * SACK      up to 16 times: u32 start, u32 end of a range of numbers that
 *           arrived, end excluded, highest range first
 * HELLO     (Opening) TUX_HELLO_*; the first record of a packet with OPEN.  In
 *           the header of such a packet the span, the connection id and
 *           everything from seq on are zero.
 * PREPARE   0  u32  generation
 *           4  u64  N, an offset
 *           12 u32  turn: how often the direction has become plain again; only
 *                   if not 0
 * PREPARED  0  u32  generation
 * RESET     0  u32  reason, a number of reason.h
 * PING      empty; asks for an acknowledgment
 * RAW       0  u64  offset up to which the sender's application has read; or empty;
 *           asks for plain TCP in both directions, for good
 * LEAVE     0  u64  as RAW; UINT64_MAX: the application reads on
 *           8  u32  turn: how often the direction to the sender has become plain
 *                   again
 *           asks the receiver to make that direction plain TCP, as a new turn
 * ROOM      (Messages) for the small lane and then for the bulk lane:
 *           0  u32  cap: size of the lane's space, a power of two
 *           4  u32  ids: messages with lower ids may be sent
 *           8  u32  limit: messages may fill positions below
 * END       0  u32  ids of the small lane, and
 *           4  u32  of the bulk lane: no message has these ids or higher.  If
 *                   the peer takes messages, END precedes FIN in each packet
 *                   with FIN.
 * PAD       any bytes, which are ignored
 *
 * FRAME     (TCP behind the marker) what a switched direction of TCP carries:
 *           0  u8   type: TUX_FRAME_*
 *           1       three bytes, zero
 *           4  u32  length of the body
 *           8  u64  offset
 *          16       body
 *           In a MESSAGE frame, offset holds the flags of a MESSAGE record and
 *           the body is that of the record.  In a ROOM frame, offset is zero
 *           and the body is that of a ROOM record.  A FIN frame has the body of
 *           an END record if its receiver takes messages.  A RAW frame has that
 *           of a RAW record, and a PLAIN frame that of a LEAVE record, or none.
 *
 * What is computed:
 *
 * KEY       (Announcing) of a connection: from two nonces and two initial
 *           sequence numbers of TCP's handshake; key.h
 * MASK      (Opening) HELLO's token travels XORed with SipHash-2-4 of (u8 2,
 *           u64 nonce); its id and seq with the upper and the lower half of
 *           that of (u8 3, u64 nonce).  The key is KEY, the nonce HELLO's.
 * MAC       (Opening) of HELLO: SipHash-2-4 under KEY of the whole packet, as
 *           masked, with this field and the CRC zero
 * SEAL      (Packets) of a packet without OPEN: the lower half of SipHash-1-3
 *           of its header, with the CRC zero, under the seal key
 * MARKER    (Switching a direction from TCP to Tux) SipHash-2-4 of (u32
 *           generation, u32 direction, u32 0), then that of (u32 generation,
 *           u32 direction, u32 1), under the session key; then the first byte
 *           becomes 0xfe.  The direction is 1 from the active end, 0 towards
 *           it.
 *
 * Inputs to SipHash that begin with a u8 use that byte as a label, so that no
 * two purposes hash the same input: 0 and 1 the halves of the session key, 2
 * and 3 MASK, 4 and 5 the halves of KEY, 6 and 7 the halves of the seal key.
 */
#ifndef TUX_WIRE_WIRE_H
#define TUX_WIRE_WIRE_H

enum {
	TUX_WIRE_MAGIC = 0x5478,	/* "Tx" */
	TUX_WIRE_VERSION = 1,

	TUX_PKT_HDR = 40,
	TUX_PKT_MAX = 16384,		/* the longest packet */
	TUX_REC_HDR = 4,
	TUX_STREAM_HDR = 8,
	TUX_PREPARE_LEN = 12,
	TUX_PREPARE_TURN_LEN = 16,	/* with the turn */
	TUX_PREPARED_LEN = 4,
	TUX_RESET_LEN = 4,
	TUX_RAW_LEN = 8,		/* if not empty */
	TUX_LEAVE_LEN = 12,
	TUX_SACK_EACH = 8,
	TUX_SACK_MAX = 16,		/* ranges in one packet */
	TUX_MESSAGE_HDR_MIN = 8,	/* FIRST and LAST, but not ORDER */
	TUX_MESSAGE_HDR_MAX = 20,
	TUX_MESSAGE_ALIGN = 64,		/* positions are multiples of this */
	TUX_MESSAGE_MAX = 1 << 30,	/* the longest message */
	TUX_LANES = 2,
	TUX_LANE_MIN = 65536,		/* size of a lane's space, in bytes */
	TUX_LANE_MAX = 1 << 30,
	TUX_ROOM_EACH = 12,
	TUX_ROOM_LEN = TUX_LANES * TUX_ROOM_EACH,
	TUX_END_LEN = TUX_LANES * 4,
	TUX_HELLO_LEN = 96,

	TUX_FRAME_HDR = 16,
	TUX_FRAME_MAX = 65536,		/* the longest body of a frame */
	TUX_MARKER_LEN = 16,
	TUX_MARKER_FIRST = 0xfe,	/* never part of UTF-8 text */
};

/* flags of a packet */
enum {
	TUX_PKT_ELICIT = 0x01,		/* takes a number, asks for an ack */
	TUX_PKT_OPEN = 0x02,		/* opening exchange: HELLO is first */
	TUX_PKT_NOW = 0x04,		/* asks for an ack without delay */
	TUX_PKT_ASK = 0x08,		/* only asks for an ack: no record would
					 * have to be sent again */
};

enum tux_record_type {
	TUX_REC_STREAM = 1,
	TUX_REC_MESSAGE = 2,
	TUX_REC_SACK = 3,
	TUX_REC_HELLO = 4,
	TUX_REC_PREPARE = 5,
	TUX_REC_PREPARED = 6,
	TUX_REC_RESET = 7,
	TUX_REC_PING = 8,
	TUX_REC_RAW = 9,
	TUX_REC_ROOM = 10,
	TUX_REC_END = 11,
	TUX_REC_PAD = 12,
	TUX_REC_LEAVE = 13,
};

/* flags of a STREAM record */
enum {
	TUX_STREAM_ORDER = 0x01,	/* deliver in order; always set */
	TUX_STREAM_FIN = 0x08,		/* the stream ends behind these bytes */
};

/* flags of a MESSAGE record */
enum {
	TUX_MESSAGE_ORDER = 0x01,	/* deliver in the order of `order` */
	TUX_MESSAGE_FIRST = 0x02,	/* it has the first byte, or is empty */
	TUX_MESSAGE_LAST = 0x04,	/* it has the last byte, or is empty */
	TUX_MESSAGE_BULK = 0x08,	/* the bulk lane; else the small lane */
	TUX_MESSAGE_CANCEL = 0x10,	/* the sender gives the message up */
	TUX_MESSAGE_FLAGS = 0x1f,
};

/* The ECN field of IP (RFC 3168): the two low bits of IPv4's type of service or
 * IPv6's traffic class. */
enum {
	TUX_ECN_NONE = 0,
	TUX_ECN_ECT1 = 1,
	TUX_ECN_ECT0 = 2,		/* routers may mark instead of drop */
	TUX_ECN_CE = 3,			/* a router met congestion */
	TUX_ECN_MASK = 3,
};

enum tux_lane { TUX_LANE_SMALL, TUX_LANE_BULK };

/* Offsets in HELLO's body. */
enum {
	TUX_HELLO_FLAGS = 0,		/* u8 */
	TUX_HELLO_VERSION = 1,		/* u8: the highest that it speaks */
	TUX_HELLO_PORT = 2,		/* u16: UDP port to send packets to */
	TUX_HELLO_ID = 4,		/* u32: the sender's id; masked */
	TUX_HELLO_NONCE = 8,		/* u64: the sender's */
	TUX_HELLO_ECHO = 16,		/* u64: the peer's nonce; 0: unknown */
	TUX_HELLO_TOKEN = 24,		/* u64: the sender's loop; masked */
	TUX_HELLO_SEQ = 32,		/* u32: the sender's next seq; masked */
	TUX_HELLO_WINDOW = 36,		/* u32: bytes that the peer may send */
	TUX_HELLO_PKT = 40,		/* u16: longest packet that it takes */
	TUX_HELLO_DELAY = 42,		/* u16: longest ack delay, 0.1 ms */
	TUX_HELLO_FAMILY = 44,		/* u8: 4 or 6 */
	TUX_HELLO_WHY = 45,		/* u8: 0; or the sender will not move: its
					 * reason */
	TUX_HELLO_APORT = 46,		/* u16: TCP port of the active end */
	TUX_HELLO_PPORT = 48,		/* u16: TCP port of the passive end */
	TUX_HELLO_ZERO2 = 50,		/* u16, zero; u32 at 52, zero */
	TUX_HELLO_AADDR = 56,		/* 16 bytes, IPv4 as ::ffff:a.b.c.d */
	TUX_HELLO_PADDR = 72,		/* 16 bytes */
	TUX_HELLO_MAC = 88,		/* u64 */
};

/* The least that HELLO may name as the longest packet. */
enum { TUX_HELLO_PKT_MIN = TUX_PKT_HDR + 256 };

/* flags of a HELLO */
enum {
	TUX_HELLO_WANT = 0x01,		/* asks for an answer: the path of the
					 * sender is not proved yet */
	TUX_HELLO_ACTIVE = 0x02,	/* the sender is the active end */
	TUX_HELLO_MESSAGES = 0x04,	/* the sender takes messages */
	TUX_HELLO_PLAIN = 0x08,		/* the sender knows the frame PLAIN */
	TUX_HELLO_AGAIN = 0x10,		/* the sender knows the offset in RAW */
	TUX_HELLO_LEAVE = 0x20,		/* the sender knows LEAVE */
	TUX_HELLO_BOUND = 0x40,		/* the sender knows the offset in ROOM */
};

enum tux_frame_type {
	TUX_FRAME_DATA = 1,		/* stream bytes from offset on */
	TUX_FRAME_MESSAGE = 2,		/* a fragment; offset holds its flags */
	TUX_FRAME_FIN = 3,		/* the stream ends at offset */
	TUX_FRAME_RESET = 4,		/* offset holds a reason number */
	TUX_FRAME_SWITCH = 5,		/* from offset on over Tux again */
	TUX_FRAME_RAW = 6,		/* from offset on plain TCP, for good */
	TUX_FRAME_ROOM = 7,		/* room for messages, and for the stream up
					 * to offset */
	TUX_FRAME_PLAIN = 8,		/* from offset on plain TCP; the
					 * direction may switch again */
};

#endif
