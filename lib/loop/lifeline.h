/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lifeline - the TCP socket under a connection, as its loop holds it
 *
 * A private duplicate of the application's descriptor, or that descriptor itself
 * if it is lent.  It carries the marker and the frames of switched directions, and
 * shows that the peer's process has died.  It reads no more bytes than the core
 * asks for, because the rest is the application's to read.  It is registered with
 * epoll only while the core wants to read or TCP is full: epoll always reports a
 * hangup, so a registered socket whose peer hung up would wake the loop for ever.
 */
#ifndef TUX_LOOP_LIFELINE_H
#define TUX_LOOP_LIFELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "conn/core.h"

enum { TUX_LIFELINE_BUF = 65536 };	/* length of each @buf below */

struct tux_lifeline {
	int fd;			/* -1: none */
	bool lent;		/* it is the application's */
	uint32_t watched;	/* EPOLLIN, EPOLLOUT: what epoll looks for */
	bool full;		/* TCP took less than there was */
	bool ended;		/* the core has been told the end */
	bool alone;		/* see tux_lifeline_acknowledge() */
	bool cut;		/* if this process died now, TCP is to be reset */
	struct linger linger;	/* ... and what the program had set */
	int broken;		/* errno of a write; told when all is read */
};

void tux_lifeline_init(struct tux_lifeline *t);

/* Takes a duplicate of @fd, or @fd itself if it is @lent.  0 or -errno. */
int tux_lifeline_open(struct tux_lifeline *t, int fd, bool lent);

/* Closes it, if it is a duplicate.  With @reset, the peer gets RST when the last
 * descriptor of the socket is closed.  Harmless if there is none. */
void tux_lifeline_close(struct tux_lifeline *t, int epfd, bool reset);

/* No more bytes go out: FIN. */
void tux_lifeline_shut(struct tux_lifeline *t);

/* @alone: the peer's bytes travel over TCP, and this end's do not.  Then no
 * segment of this end carries acknowledgments, and TCP would delay them, for
 * 40 ms.  A peer whose writes wait for them (Nagle's algorithm) would wait for
 * so long.  So TCP is told to acknowledge at once what the application has
 * read. */
void tux_lifeline_acknowledge(struct tux_lifeline *t, bool alone);

/* Writes what @c has for TCP, by way of @buf. */
void tux_lifeline_write(struct tux_lifeline *t, struct tux_conn *c,
			uint8_t *buf, tux_time now);

/* What epoll said of it (EPOLL*): reads and writes accordingly. */
void tux_lifeline_event(struct tux_lifeline *t, struct tux_conn *c,
			uint32_t events, uint8_t *buf, tux_time now);

/* Registers the socket with @epfd, under @data, for what @c can do next. */
void tux_lifeline_watch(struct tux_lifeline *t, struct tux_conn *c, int epfd,
			uint64_t data);

#endif
