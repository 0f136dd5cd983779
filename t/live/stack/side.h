/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * side - one end of a TCP connection that a stack has claimed, with blocking
 * calls, for tests that need real sockets, threads and time
 */
#ifndef TUX_LIVE_SIDE_H
#define TUX_LIVE_SIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "stack/channel.h"

struct side {
	struct tux_stack *stack;
	int fd;
	bool active;
	struct tux_end *end;
	struct tux_duplex *dx;
	struct tux_waiter *w;		/* shared if given by side_open() */
	struct tux_waiter own;
	uint32_t index;			/* in w's bell */
	_Atomic uint32_t queued;
	_Atomic uint32_t decided, tux, why, gone;
};

/* A stack on the loopback interface, over UDP. */
struct tux_stack *side_stack(unsigned threads);

/* One as @o has it, which need not name the callbacks for ends. */
struct tux_stack *side_stack_as(const struct tux_stack_opts *o);

/* A TCP listener on 127.0.0.1, or on @ip, that @s makes reachable; its port in
 * *@port. */
int side_listen(struct tux_stack *s, uint16_t *port);
int side_listen_at(struct tux_stack *s, const char *ip, uint16_t *port);
int side_connect(uint16_t port);

/* To @ip, from a socket that @s marks, if it is not NULL. */
int side_connect_to(struct tux_stack *s, const char *ip, uint16_t port);

/* Claims @fd, with messages if the stack has them.  @w is the waiter to ring at @index; NULL: one of its own. */
void side_open(struct side *x, struct tux_stack *s, int fd, bool active,
	       struct tux_waiter *w, uint32_t index);

/* What can be done at once: a count, 0 at the end, -EAGAIN, -errno. */
ssize_t side_try_read(struct side *x, void *p, size_t len);
ssize_t side_try_write(struct side *x, const void *p, size_t len);

/* As read(2) and write(2) of a blocking socket: all of it, for write. */
ssize_t side_read(struct side *x, void *p, size_t len);
ssize_t side_write(struct side *x, const void *p, size_t len);

/* Takes note that @x rang; then look, then side_wait() again. */
void side_hear(struct side *x);

/* Waits until @x rings, its TCP socket is ready for @events where that counts,
 * or @until. */
int side_wait(struct side *x, short events, tux_time until);

void side_shut(struct side *x);

void side_close(struct side *x, bool abort);

/* Waits until the loop is done with a closed side: its peer must close, too. */
void side_free(struct side *x);

/* tux_end_raw(). */
int side_raw(struct side *x, tux_time for_ns);

/* Are both directions on rings? */
bool side_on_rings(const struct side *x);

#endif
