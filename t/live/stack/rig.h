/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig - two stacks in one process, and a connection between them
 */
#ifndef TUX_LIVE_RIG_H
#define TUX_LIVE_RIG_H

#include <pthread.h>
#include <stdint.h>

#include "side.h"

struct rig {
	struct tux_stack *client, *server;
	struct side c, s;
	int listener;
	uint16_t port;
};

/* The server's half of it: a stack that listens. */
void rig_listen(struct rig *r, unsigned threads);

/* Two stacks and a connection; both ends of it move, if the server's thread
 * echoes. */
void rig_up(struct rig *r, unsigned threads);

/* The sides have been closed. */
void rig_down(struct rig *r);

/* A thread's: returns what side @arg reads until the end. */
void *rig_echo(void *arg);

/* One byte to the echo and back; or @rounds of them, and until both directions
 * have moved. */
void rig_exchange(struct side *x);
void rig_converse(struct side *x, unsigned rounds);

/* Ends the conversation with the echo in thread @t, and closes both sides. */
void rig_end(struct rig *r, pthread_t t);

pthread_t rig_start(void *(*fn)(void *), void *arg);
intptr_t rig_finish(pthread_t t);
void rig_sleep(unsigned ms);

#endif
