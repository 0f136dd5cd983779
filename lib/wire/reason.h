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

/* Name, number, word, properties, sentence.  The properties:
 *   LASTS     it is true as long as the connection lives, as far as is known;
 *             the others may end by themselves, or are followed by the stack
 *   OURS      it lies in how the process was started, and not in a peer
 *   MEASURED  it follows from what the connection carries
 *   UNTOLD    the peer is not told: the connection ends, or another process may
 *             still move it */
#define TUX_REASONS(X) \
	X(NONE, 0, "none", 0, "on the Tux path, or not decided yet") \
	X(PEER_SILENT, 1, "peer-silent", 0, \
	  "the peer does not answer over UDP: it has no Tux, or the UDP path " \
	  "is blocked") \
	X(LOOPBACK, 2, "loopback", LASTS, \
	  "the connection runs over loopback; -i lo takes such connections") \
	X(PORT_TAKEN, 3, "port-taken", LASTS | OURS, \
	  "another socket holds the UDP port with the number of this " \
	  "listener's TCP port") \
	X(VERSION, 4, "version", LASTS, \
	  "the peer speaks another version of the protocol") \
	X(NOT_OWNER, 5, "not-owner", LASTS | UNTOLD, \
	  "it belongs to the process that forked, or that sent its " \
	  "descriptor") \
	X(STALLED, 6, "path-stalled", 0, \
	  "the Tux path stopped working; back on TCP, and will try again") \
	X(PINNED, 7, "pinned", LASTS, \
	  "the program uses the socket in a way that needs plain TCP") \
	X(NO_FD, 8, "no-fd", OURS, \
	  "no file descriptor is left for the stack's duplicate of the " \
	  "socket; raise ulimit -n") \
	X(NO_MEMORY, 9, "no-memory", OURS, \
	  "there is no memory for the connection's rings") \
	X(NOT_STARTED, 10, "not-started", OURS, \
	  "the network stack could not start") \
	X(OTHER_INTERFACE, 11, "other-interface", LASTS, \
	  "the connection runs over another interface than the stack uses") \
	X(PEER_RAW, 12, "peer-raw", 0, "the peer asked for plain TCP, for good") \
	X(PROTOCOL, 13, "protocol", 0, \
	  "the peer broke the rules of the protocol") \
	X(CLOSED, 14, "closed", UNTOLD, \
	  "the connection ended before it could move") \
	X(DATA_AFTER_CLOSE, 15, "data-after-close", 0, \
	  "data arrived for a connection that its program had closed") \
	X(ABORTED, 16, "aborted", 0, \
	  "the program closed the connection with a reset") \
	X(NO_PRIVILEGE, 17, "no-privilege", LASTS | OURS, \
	  "AF_XDP needs root, or CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF") \
	X(NO_INTERFACE, 18, "no-interface", OURS, \
	  "no interface has the given name, or none leads to the peer") \
	X(FOREIGN_XDP, 19, "foreign-xdp", LASTS | OURS, \
	  "another program has its XDP program on the interface; it is not " \
	  "replaced") \
	X(INTERFACE_BUSY, 20, "interface-busy", LASTS | OURS, \
	  "another process uses the interface over AF_XDP; one process owns " \
	  "an interface") \
	X(NO_XDP, 21, "no-xdp", LASTS | OURS, \
	  "the interface's driver takes no XDP program, or has too few " \
	  "queues") \
	X(LINK_DOWN, 22, "link-down", 0, "the interface is down") \
	X(MTU, 23, "mtu", LASTS | OURS, \
	  "the driver takes no XDP program at this MTU, or the MTU is below " \
	  "576") \
	X(NO_MEMLOCK, 24, "no-memlock", LASTS | OURS, \
	  "the memory for packets cannot be locked; raise RLIMIT_MEMLOCK " \
	  "(ulimit -l)") \
	X(DETACHED, 25, "detached", 0, \
	  "the XDP program was removed from the interface; the stack will " \
	  "try again") \
	X(NO_NEIGHBOUR, 26, "no-neighbour", 0, \
	  "the next hop does not answer, so its link-layer address is not " \
	  "known") \
	X(NOT_BUILT, 27, "not-built", LASTS | OURS, "this build has no AF_XDP") \
	X(NO_DRIVER, 28, "no-driver", LASTS | OURS, \
	  "the interface's driver cannot redirect packets by XDP") \
	X(ZERO_COPY, 29, "zero-copy", 0, \
	  "zero copy did not work; the interface is being taken again, with " \
	  "copying") \
	X(NOT_ANNOUNCED, 30, "not-announced", LASTS, \
	  "TCP's handshake brought no Tux option: the peer has no Tux, this " \
	  "program did not announce its own socket, or something on the way " \
	  "removed the option") \
	X(TRANSLATED, 31, "translated", LASTS, \
	  "something on the way translates the connection's addresses, so " \
	  "packets over UDP would not arrive") \
	X(SYN_COOKIE, 32, "syn-cookie", LASTS, \
	  "the listener answered with a SYN cookie, because too many " \
	  "connections came at once, and did not keep the peer's Tux option") \
	X(NO_ANNOUNCE, 33, "no-announce", LASTS | OURS, \
	  "the Tux option cannot be put into TCP's handshake: no cgroup-v2 " \
	  "is mounted, or it takes no program") \
	X(IPSEC, 34, "ipsec", 0, \
	  "an IPsec policy protects or blocks the connection, or UDP between " \
	  "its two ends, and packets of Tux would pass by it") \
	X(ENCAPSULATED, 35, "encapsulated", 0, \
	  "the route to the peer encapsulates packets, and AF_XDP would send " \
	  "them without that") \
	X(BULK, 36, "bulk", MEASURED, \
	  "its requests or answers are long, and TCP is faster for those; " \
	  "it moves when they are short") \
	X(YOUNG, 37, "young", MEASURED, \
	  "it has not shown enough short requests and answers yet; only a " \
	  "connection that has is faster over Tux") \
	X(CHOSEN, 38, "chosen", LASTS, \
	  "the user has chosen TCP for all connections") \
	X(BUNDLED, 39, "bundled", LASTS | OURS, \
	  "the interface is a bond, a bridge or the like, which stands for " \
	  "others, or it is part of a bond") \
	X(BYPASSED, 40, "bypassed", LASTS, \
	  "the program uses the socket, or may use it, through io_uring or " \
	  "bare system calls") \
	X(GIVES_WAY, 41, "gives-way", 0, \
	  "other programs' bulk traffic on the interface is faster without " \
	  "XDP; the stack will try again") \
	X(BRIEF, 42, "brief", 0, \
	  "connections to this peer ended after few requests, one after " \
	  "another, so most of the next ones are left to TCP") \
	X(LISTENERS, 43, "listeners", LASTS, \
	  "the user has more listeners than tuxd announces for a user") \
	X(CPU_BUSY, 44, "cpu-busy", 0, \
	  "the processors are busy, and TCP takes less of them for packets " \
	  "that come one by one; the stack will try again") \
	X(SANDBOXED, 45, "sandboxed", LASTS, \
	  "the program has restricted its own system calls (seccomp), and " \
	  "the stack may not make its own any more") \
	X(SHARED, 46, "shared", LASTS | UNTOLD, \
	  "other processes hold the connection, too, or may") \
	X(UNSEEN, 47, "unseen", LASTS, \
	  "bytes of it were moved by calls that the stack does not see: bare " \
	  "system calls, or those of another process") \
	X(UNSURE, 48, "unsure", 0, \
	  "the kernel's count of its bytes differs at this moment from what " \
	  "the stack has seen; both will be compared again") \
	X(IN_USE, 49, "in-use", 0, \
	  "another thread or another descriptor uses it whenever it could " \
	  "move; the stack will try again") \
	X(PASSED, 50, "passed", LASTS, \
	  "its descriptor was passed to another process or program") \
	X(NO_TUXD, 51, "no-tuxd", LASTS | UNTOLD, \
	  "another process has opened it, and this one can move it only " \
	  "under tuxd") \
	X(SOCKOPT, 52, "sockopt", LASTS, \
	  "the program has set an option of the socket that needs plain TCP") \
	X(PEER_SHARED, 53, "peer-shared", 0, \
	  "other processes use the connection at the peer, and for them it " \
	  "is on TCP")

enum tux_reason {
#define X(name, n, word, is, text) TUX_REASON_##name = n,
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

/* @n, which came from another process, if it is the number of a reason that
 * this version has; else @other. */
enum tux_reason tux_reason_of(unsigned n, enum tux_reason other);

/* Has @reason this property? */
bool tux_reason_lasts(unsigned reason);
bool tux_reason_is_ours(unsigned reason);
bool tux_reason_is_measured(unsigned reason);
bool tux_reason_is_untold(unsigned reason);

#endif
