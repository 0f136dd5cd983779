/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duet - two stacks of tux.h in one process, a server and a client, each driven
 * by a thread of its own
 */
#ifndef TUX_LIVE_DUET_H
#define TUX_LIVE_DUET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <tux.h>

struct part {			/* one of the two */
	struct tux *t;
	struct tux_service *s;
	pthread_t thread;
	bool runs;
};

struct duet {
	struct part server, client;
	const char *listen_at, *connect_to;	/* 127.0.0.1, until changed */
	uint16_t port;		/* of the server's service */
};

/* Opens both over @backend, on the loopback interface, each with a service
 * without callbacks.  Their connections move to Tux if they can. */
void duet_open(struct duet *d, enum tux_backend backend);

/* The same with options of their own. */
void duet_open_as(struct duet *d, const struct tux_opts *server,
		  const struct tux_opts *client);

/* Has the server listen, and starts both threads. */
void duet_start(struct duet *d);

/* Without threads: the server listens, and the client begins to connect. */
void duet_meet(struct duet *d);

void duet_close(struct duet *d);

/* Options as those of duet_open(). */
struct tux_opts duet_opts(enum tux_backend backend);

/* Connects from the client's thread. */
struct tux_connection *duet_connect(struct duet *d, void *user);

/* Runs @fn on the network thread of @p, and waits until it has returned. */
void part_do(struct part *p, void (*fn)(void *arg), void *arg);

/* Waits until *@n is @at_least, some seconds at most: then the test fails. */
void await(_Atomic unsigned *n, unsigned at_least);

/* A TCP socket of the kernel's, connected to @port. */
int plain_connect(uint16_t port);

#endif
