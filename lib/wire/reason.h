/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reason - why a connection is where it is
 *
 * Every connection that is not on the Tux path can say why.  The numbers are
 * shown to people, counted, and sent in RESET; they keep their meaning.  Add at
 * the end.
 */
#ifndef TUX_WIRE_REASON_H
#define TUX_WIRE_REASON_H

#define TUX_REASONS(X) \
	X(NONE, 0, "none", "on the Tux path, or still deciding") \
	X(PEER_SILENT, 1, "peer-silent", \
	  "the peer does not answer: no Tux there, or the UDP path is blocked") \
	X(LOOPBACK, 2, "loopback", "a loopback connection; -i lo asks for them") \
	X(PORT_TAKEN, 3, "port-taken", \
	  "another socket holds the UDP port of this listener") \
	X(VERSION, 4, "version", "the peer speaks another protocol version") \
	X(NOT_OWNER, 5, "not-owner", \
	  "the connection came through fork from the process that owns it") \
	X(STALLED, 6, "path-stalled", \
	  "the Tux path went quiet; back on TCP, and will try again") \
	X(PINNED, 7, "pinned", \
	  "the program uses the socket in a way that needs plain TCP") \
	X(NO_FD, 8, "no-fd", "no file descriptor is left for the copy of our own (ulimit -n)") \
	X(NO_MEMORY, 9, "no-memory", "no memory for the connection's rings") \
	X(NOT_STARTED, 10, "not-started", "the network stack could not start") \
	X(OTHER_INTERFACE, 11, "other-interface", \
	  "the connection runs over another interface than the one asked for") \
	X(PEER_RAW, 12, "peer-raw", "the peer asked for plain TCP") \
	X(PROTOCOL, 13, "protocol", "the peer broke the protocol") \
	X(CLOSED, 14, "closed", "ended before it could move") \
	X(DATA_AFTER_CLOSE, 15, "data-after-close", \
	  "data arrived for a connection that its program had closed") \
	X(ABORTED, 16, "aborted", "the program closed it with a reset") \
	X(NO_PRIVILEGE, 17, "no-privilege", \
	  "AF_XDP needs root, or CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF") \
	X(NO_INTERFACE, 18, "no-interface", \
	  "no interface has that name, or leads to the peer") \
	X(FOREIGN_XDP, 19, "foreign-xdp", \
	  "the interface has somebody else's XDP program") \
	X(INTERFACE_BUSY, 20, "interface-busy", \
	  "another process has the interface: one owns it") \
	X(NO_XDP, 21, "no-xdp", \
	  "the interface's driver takes no XDP program, or has too few queues") \
	X(LINK_DOWN, 22, "link-down", "the interface is down") \
	X(MTU, 23, "mtu", \
	  "the driver takes no XDP program at this MTU, or it is below 576") \
	X(NO_MEMLOCK, 24, "no-memlock", \
	  "the frames may not be locked in memory (RLIMIT_MEMLOCK)") \
	X(DETACHED, 25, "detached", \
	  "the XDP program was taken off the interface") \
	X(NO_NEIGHBOUR, 26, "no-neighbour", \
	  "the next hop does not answer: its address is not known") \
	X(NOT_BUILT, 27, "not-built", "this build has no AF_XDP") \
	X(NO_DRIVER, 28, "no-driver", \
	  "the interface's driver cannot redirect packets by XDP") \
	X(ZERO_COPY, 29, "zero-copy", \
	  "zero copy does not work there; the interface is taken without") \
	X(NOT_ANNOUNCED, 30, "not-announced", \
	  "TCP's handshake brought no word of Tux: none there, or it was cut out") \
	X(TRANSLATED, 31, "translated", \
	  "addresses are translated between the two ends") \
	X(SYN_COOKIE, 32, "syn-cookie", \
	  "too many connections at once: TCP kept no word of the peer's Tux") \
	X(NO_ANNOUNCE, 33, "no-announce", \
	  "no cgroup-v2 is mounted, or it takes no program: peers cannot be told")

enum tux_reason {
#define X(name, n, word, text) TUX_REASON_##name = n,
	TUX_REASONS(X)
#undef X
	TUX_REASON_N
};

/* The word (one token) and the sentence for @reason; never NULL.  tux.h offers
 * them to everybody, hence their visibility. */
__attribute__((visibility("default")))
const char *tux_reason_word(unsigned reason);
__attribute__((visibility("default")))
const char *tux_reason_sentence(unsigned reason);

#endif
