/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire - every byte that libtux puts on the network
 *
 * tux-wire(7) says the same for people; keep the two together.  Numbers are
 * big-endian.  A new record type needs: a number here, its size or form below,
 * a decoder in pkt.c, an encoder where it is sent, a case in conn_recv.c, a
 * section in tux-wire(7), and an example there (t/unit/wire/page.c).
 *
 * DATAGRAM  one or more packets, back to back.
 *
 * PACKET    0  u16  magic
 *           2  u8   version
 *           3  u8   flags
 *           4  u16  length of the packet, this header included
 *           6  u16  span: seq less the lowest number still waited for
 *           8  u32  connection id, the receiver's; 0 before it is known
 *          12  u32  CRC32C of the packet with this field zero; without OPEN,
 *                   XOR its seal
 *          16  u32  seq: number of this transmission
 *          20  u32  ack: all numbers before it are settled
 *          24  u64  got: stream bytes received without a gap (FIN counts one)
 *          32  u32  window: bytes beyond got that may be sent
 *          36  u16  delay from receipt of ack's packet to now, 16 us units
 *          38  u8   numbered packets that came with ECT(0) or CE, modulo 256
 *          39  u8   ... of these, with CE
 *          40  records
 *
 * Bytes 0-15 keep their form in every version.
 *
 * RECORD    0  u8   type
 *           1  u8   flags
 *           2  u16  length of the body
 *           4  body
 *
 * STREAM    0  u64  offset; then the bytes.  flags: order, fin
 * MESSAGE   0  u32  id, from 0 in its lane
 *           4  u32  pos: where it begins in the space of its lane
 *              u32  order, with that flag: number among the ordered messages
 *              u32  total: length of the message, and
 *              u32  offset of this fragment, unless it is first and last
 *                   Then its bytes.  flags: order, first, last, bulk (the
 *                   lane), cancel (no bytes follow)
 * SACK      n times: u32 start, u32 end of numbers that arrived, highest first
 * HELLO     see TUX_HELLO_*; always the first record, in a packet with OPEN,
 *           whose header has zeros for the connection id and from 16 on
 * PREPARE   0  u32  generation   4  u64  offset N
 * PREPARED  0  u32  generation
 * RESET     0  u32  error, as a reason number
 * PING      empty; asks for an acknowledgment
 * RAW       empty; asks for plain TCP in both directions, for good
 * ROOM      for each lane of messages, small and bulk:
 *           0  u32  size of its space, a power of two
 *           4  u32  ids below this may be sent
 *           8  u32  positions up to this may be filled
 *
 * MASK      of HELLO: its token, XOR SipHash-2-4 of (u8 2, u64 nonce), and its
 *           id and seq, XOR the halves of that of (u8 3, u64 nonce), under the
 *           connection's key; the MAC is made over the result
 *
 * END       u32 ids of the small lane, u32 ids of the bulk lane: there is no
 *           message beyond; in each packet with FIN, before it
 * PAD       any bytes, which mean nothing
 *
 * MAC       of HELLO: SipHash-2-4 of the whole packet, with this field and the
 *           CRC zero, under the connection's key
 *
 * SEAL      of a packet without OPEN: the lower half of SipHash-1-3 of its
 *           header, CRC zero, under a key that both ends derive
 *
 * MARKER    SipHash-2-4 of (u32 generation, u32 direction, u32 0), and again
 *           with u32 1 at the end, under the connection's key; then 0xfe over
 *           the first byte.  Direction 1 leads away from the active opener
 *
 * FRAME     after a SWITCH marker, a direction of TCP carries these:
 *           0  u8   type
 *           1  u8   zero
 *           2  u16  zero
 *           4  u32  length of the body
 *           8  u64  offset
 *          16  body
 *           A MESSAGE's offset holds the record's flags, its body is that of
 *           the record; ROOM's is zero, and its body that of the record;
 *           FIN has END's if its receiver takes messages.
 */
#ifndef TUX_WIRE_WIRE_H
#define TUX_WIRE_WIRE_H

enum {
	TUX_WIRE_MAGIC = 0x5478,	/* "Tx" */
	TUX_WIRE_VERSION = 1,

	TUX_PKT_HDR = 40,
	TUX_PKT_MAX = 16384,		/* the longest packet anyone may send */
	TUX_REC_HDR = 4,
	TUX_STREAM_HDR = 8,
	TUX_PREPARE_LEN = 12,
	TUX_PREPARED_LEN = 4,
	TUX_RESET_LEN = 4,
	TUX_SACK_EACH = 8,
	TUX_SACK_MAX = 16,		/* ranges in one packet */
	TUX_MESSAGE_HDR_MIN = 8,	/* of a whole message without order */
	TUX_MESSAGE_HDR_MAX = 20,
	TUX_MESSAGE_ALIGN = 64,		/* positions are multiples of this */
	TUX_MESSAGE_MAX = 1 << 30,	/* the longest message of all */
	TUX_LANES = 2,
	TUX_LANE_MIN = 65536,		/* the smallest space of a lane */
	TUX_LANE_MAX = 1 << 30,
	TUX_ROOM_EACH = 12,
	TUX_ROOM_LEN = TUX_LANES * TUX_ROOM_EACH,
	TUX_END_LEN = TUX_LANES * 4,
	TUX_HELLO_LEN = 96,

	TUX_FRAME_HDR = 16,
	TUX_FRAME_MAX = 65536,		/* the longest body of a frame */
	TUX_MARKER_LEN = 16,
	TUX_MARKER_FIRST = 0xfe,	/* no byte of UTF-8 text */
};

/* flags of a packet */
enum {
	TUX_PKT_ELICIT = 0x01,		/* has a number and wants an ack */
	TUX_PKT_OPEN = 0x02,		/* opening exchange: starts with HELLO */
	TUX_PKT_NOW = 0x04,		/* its ack is not to be held back */
	TUX_PKT_ASK = 0x08,		/* a mere question: nothing is lost with
					 * its records */
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
};

/* flags of a STREAM record */
enum {
	TUX_STREAM_ORDER = 0x01,	/* deliver in order: always, in a stream */
	TUX_STREAM_FIN = 0x08,		/* the stream ends behind these bytes */
};

/* flags of a MESSAGE record */
enum {
	TUX_MESSAGE_ORDER = 0x01,	/* after the ordered ones before it */
	TUX_MESSAGE_FIRST = 0x02,	/* the message begins in this fragment */
	TUX_MESSAGE_LAST = 0x04,	/* ... and ends */
	TUX_MESSAGE_BULK = 0x08,	/* in the lane of long messages */
	TUX_MESSAGE_CANCEL = 0x10,	/* it will never be complete: forget it */
	TUX_MESSAGE_FLAGS = 0x1f,
};

/* ECN: the low bits of IPv4's type of service or IPv6's traffic class, which a
 * datagram shows to routers (RFC 3168). */
enum {
	TUX_ECN_NONE = 0,
	TUX_ECN_ECT1 = 1,
	TUX_ECN_ECT0 = 2,		/* you may mark me, rather than drop */
	TUX_ECN_CE = 3,			/* marked: there was congestion */
	TUX_ECN_MASK = 3,
};

enum tux_lane { TUX_LANE_SMALL, TUX_LANE_BULK };

/* HELLO's body */
enum {
	TUX_HELLO_FLAGS = 0,		/* u8 */
	TUX_HELLO_VERSION = 1,		/* u8: the highest the sender speaks */
	TUX_HELLO_PORT = 2,		/* u16: UDP port of the sender's queue */
	TUX_HELLO_ID = 4,		/* u32: the sender's connection id */
	TUX_HELLO_NONCE = 8,		/* u64: the sender's */
	TUX_HELLO_ECHO = 16,		/* u64: the receiver's; 0 if not known */
	TUX_HELLO_TOKEN = 24,		/* u64: names the sender's loop */
	TUX_HELLO_SEQ = 32,		/* u32: the sender's first number */
	TUX_HELLO_WINDOW = 36,		/* u32: bytes that the peer may send */
	TUX_HELLO_PKT = 40,		/* u16: longest packet that it takes */
	TUX_HELLO_DELAY = 42,		/* u16: longest delay of an ack, 0.1 ms */
	TUX_HELLO_FAMILY = 44,		/* u8: 4 or 6 */
	TUX_HELLO_ZERO = 45,		/* u8 */
	TUX_HELLO_APORT = 46,		/* u16: TCP port of the active opener */
	TUX_HELLO_PPORT = 48,		/* u16: TCP port of the passive opener */
	TUX_HELLO_ZERO2 = 50,		/* u16, zero; u32 at 52, zero */
	TUX_HELLO_AADDR = 56,		/* 16 bytes, IPv4 as ::ffff:a.b.c.d */
	TUX_HELLO_PADDR = 72,		/* 16 bytes */
	TUX_HELLO_MAC = 88,		/* u64 */
};

enum { TUX_HELLO_PKT_MIN = TUX_PKT_HDR + 256 };	/* takes no peer less */

/* flags of a HELLO */
enum {
	TUX_HELLO_WANT = 0x01,		/* the sender's path is not yet proved */
	TUX_HELLO_ACTIVE = 0x02,	/* the sender opened the TCP connection */
	TUX_HELLO_MESSAGES = 0x04,	/* the sender takes messages */
};

enum tux_frame_type {
	TUX_FRAME_DATA = 1,		/* offset, bytes */
	TUX_FRAME_MESSAGE = 2,		/* a fragment; offset holds its flags */
	TUX_FRAME_FIN = 3,		/* the stream ends at offset */
	TUX_FRAME_RESET = 4,		/* offset holds a reason number */
	TUX_FRAME_SWITCH = 5,		/* from offset on over Tux again */
	TUX_FRAME_RAW = 6,		/* plain TCP from here on, at offset */
	TUX_FRAME_ROOM = 7,
};

#endif
