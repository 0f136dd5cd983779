/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reason - why a connection is not on the Tux path
 *
 * A reason is a number, a word and a sentence.  Users see the words and the
 * sentences, programs count the numbers, and RESET carries them: a number never
 * changes its meaning.  Add new reasons at the end.
 */
#ifndef TUX_WIRE_REASON_H
#define TUX_WIRE_REASON_H

#include <stdbool.h>

/* name, number, word, sentence */
#define TUX_REASONS(X) \
	X(NONE, 0, "none", "on the Tux path, or not decided yet") \
	X(PEER_SILENT, 1, "peer-silent", \
	  "the peer does not answer over UDP: it has no Tux, or the UDP path " \
	  "is blocked") \
	X(LOOPBACK, 2, "loopback", \
	  "the connection runs over loopback; -i lo takes such connections") \
	X(PORT_TAKEN, 3, "port-taken", \
	  "another socket holds the UDP port with the number of this " \
	  "listener's TCP port") \
	X(VERSION, 4, "version", \
	  "the peer speaks another version of the protocol") \
	X(NOT_OWNER, 5, "not-owner", \
	  "it belongs to the process that forked, or that sent its " \
	  "descriptor") \
	X(STALLED, 6, "path-stalled", \
	  "the Tux path stopped working; back on TCP, and will try again") \
	X(PINNED, 7, "pinned", \
	  "the program uses the socket in a way that needs plain TCP") \
	X(NO_FD, 8, "no-fd", \
	  "no file descriptor is left for the stack's duplicate of the " \
	  "socket; raise ulimit -n") \
	X(NO_MEMORY, 9, "no-memory", \
	  "there is no memory for the connection's rings") \
	X(NOT_STARTED, 10, "not-started", \
	  "the network stack could not start") \
	X(OTHER_INTERFACE, 11, "other-interface", \
	  "the connection runs over another interface than the stack uses") \
	X(PEER_RAW, 12, "peer-raw", "the peer asked for plain TCP, for good") \
	X(PROTOCOL, 13, "protocol", \
	  "the peer broke the rules of the protocol") \
	X(CLOSED, 14, "closed", "the connection ended before it could move") \
	X(DATA_AFTER_CLOSE, 15, "data-after-close", \
	  "data arrived for a connection that its program had closed") \
	X(ABORTED, 16, "aborted", \
	  "the program closed the connection with a reset") \
	X(NO_PRIVILEGE, 17, "no-privilege", \
	  "AF_XDP needs root, or CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF") \
	X(NO_INTERFACE, 18, "no-interface", \
	  "no interface has the given name, or none leads to the peer") \
	X(FOREIGN_XDP, 19, "foreign-xdp", \
	  "another program has its XDP program on the interface; it is not " \
	  "replaced") \
	X(INTERFACE_BUSY, 20, "interface-busy", \
	  "another process uses the interface over AF_XDP; one process owns " \
	  "an interface") \
	X(NO_XDP, 21, "no-xdp", \
	  "the interface's driver takes no XDP program, or has too few " \
	  "queues") \
	X(LINK_DOWN, 22, "link-down", "the interface is down") \
	X(MTU, 23, "mtu", \
	  "the driver takes no XDP program at this MTU, or the MTU is below " \
	  "576") \
	X(NO_MEMLOCK, 24, "no-memlock", \
	  "the memory for packets cannot be locked; raise RLIMIT_MEMLOCK " \
	  "(ulimit -l)") \
	X(DETACHED, 25, "detached", \
	  "the XDP program was removed from the interface; the stack will " \
	  "try again") \
	X(NO_NEIGHBOUR, 26, "no-neighbour", \
	  "the next hop does not answer, so its link-layer address is not " \
	  "known") \
	X(NOT_BUILT, 27, "not-built", "this build has no AF_XDP") \
	X(NO_DRIVER, 28, "no-driver", \
	  "the interface's driver cannot redirect packets by XDP") \
	X(ZERO_COPY, 29, "zero-copy", \
	  "zero copy did not work; the interface is being taken again, with " \
	  "copying") \
	X(NOT_ANNOUNCED, 30, "not-announced", \
	  "TCP's handshake brought no Tux option: the peer has no Tux, this " \
	  "program did not announce its own socket, or something on the way " \
	  "removed the option") \
	X(TRANSLATED, 31, "translated", \
	  "something on the way translates the connection's addresses, so " \
	  "packets over UDP would not arrive") \
	X(SYN_COOKIE, 32, "syn-cookie", \
	  "the listener answered with a SYN cookie, because too many " \
	  "connections came at once, and did not keep the peer's Tux option") \
	X(NO_ANNOUNCE, 33, "no-announce", \
	  "the Tux option cannot be put into TCP's handshake: no cgroup-v2 " \
	  "is mounted, or it takes no program") \
	X(IPSEC, 34, "ipsec", \
	  "an IPsec policy protects or blocks the connection, or UDP between " \
	  "its two ends, and packets of Tux would pass by it") \
	X(ENCAPSULATED, 35, "encapsulated", \
	  "the route to the peer encapsulates packets, and AF_XDP would send " \
	  "them without that") \
	X(BULK, 36, "bulk", \
	  "its requests or answers are long, and TCP is faster for those; " \
	  "it moves when they are short") \
	X(YOUNG, 37, "young", \
	  "it has not shown enough short requests and answers yet; only a " \
	  "connection that has is faster over Tux") \
	X(CHOSEN, 38, "chosen", \
	  "the user has chosen TCP for all connections") \
	X(BUNDLED, 39, "bundled", \
	  "the interface is a bond, a bridge or the like, which stands for " \
	  "others, or it is part of a bond") \
	X(BYPASSED, 40, "bypassed", \
	  "the program uses the socket, or may use it, through io_uring or " \
	  "bare system calls") \
	X(GIVES_WAY, 41, "gives-way", \
	  "other programs' bulk traffic on the interface is faster without " \
	  "XDP; the stack will try again") \
	X(BRIEF, 42, "brief", \
	  "connections to this peer ended after few requests, one after " \
	  "another, so most of the next ones are left to TCP") \
	X(LISTENERS, 43, "listeners", \
	  "the user has more listeners than tuxd announces for a user") \
	X(CPU_BUSY, 44, "cpu-busy", \
	  "the processors are busy, and TCP takes less of them for packets " \
	  "that come one by one; the stack will try again") \
	X(SANDBOXED, 45, "sandboxed", \
	  "the program has restricted its own system calls (seccomp), and " \
	  "the stack may not make its own any more") \
	X(SHARED, 46, "shared", \
	  "other processes hold the connection, too, or may") \
	X(UNSEEN, 47, "unseen", \
	  "bytes of it were moved by calls that the stack does not see: bare " \
	  "system calls, or those of another process")

enum tux_reason {
#define X(name, n, word, text) TUX_REASON_##name = n,
	TUX_REASONS(X)
#undef X
	TUX_REASON_N
};

/* The word (one token) and the sentence of @reason; never NULL.  tux.h declares
 * both as well, so they are exported. */
__attribute__((visibility("default")))
const char *tux_reason_word(unsigned reason);
__attribute__((visibility("default")))
const char *tux_reason_sentence(unsigned reason);

/* Will @reason be true as long as the connection lives, as far as is known?  The
 * others may end by themselves, or are followed by the stack. */
bool tux_reason_lasts(unsigned reason);

#endif
