/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * post - the messages of an end, for threads outside its loop
 *
 * An end that was claimed with `messages` sends and takes whole messages beside
 * its stream. What is sent lies in a message box until the peer has it; what has
 * come is read in place, in that box, until it is released. The
 * end's ready() says that a message is complete, that one is settled, or that
 * there is room after -EAGAIN: then look again.
 *
 * A message goes as soon as the path is proved; until then, and while the peer
 * is slow, as many wait as there is room for.  While the path is away they go in
 * frames of TCP, if this direction had switched, or wait.  A peer that has no
 * Tux, or takes no messages: -EPROTONOSUPPORT, also for those that wait.
 *
 * tux_end_close() leaves it to the loop to bring the peer what was sent; but if
 * the path was not yet proved, that fails. A caller that has to know waits
 * until all is settled. The stream's end and its error (tux_duplex_poll()) come
 * behind all messages, once the stream has moved.
 *
 * An end that takes messages reads its stream, too, or tux_duplex_advance()s it
 * when TCP says readable: it is how the direction moves, and what cannot move
 * has no frames to go back to.
 *
 * Any thread may call, one at a time for each direction of an end; callers wait
 * for one another.
 */
#ifndef TUX_STACK_POST_H
#define TUX_STACK_POST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "conn/msgbox.h"
#include "stack/channel.h"

/* Sends a copy of @iov as one message, its name into *@ref; @flags are
 * TUX_MSG_*, @now as for tux_end_ring().  0; -EAGAIN: no room, wait for
 * ready(); -EMSGSIZE: longer than tux_post_longest(); -EPROTONOSUPPORT; -EPIPE
 * after the stream was shut down; or the connection's error. */
int tux_post_send(struct tux_end *e, const struct iovec *iov, int n,
		  unsigned flags, uint64_t *ref, bool now);

/* The same in two steps, for a message that is built in place: its @len bytes
 * are the caller's, at *@p, until tux_post_commit().  Messages go in the order
 * of these calls, so one that is not committed holds up others. */
int tux_post_reserve(struct tux_end *e, uint32_t len, unsigned flags, void **p,
		     uint64_t *ref);
void tux_post_commit(struct tux_end *e, uint64_t ref, bool now);

/* Wants @ref not to be sent, or not to be reserved any longer.  False: it is
 * settled.  True: tux_post_settled() will say whether that was in time
 * (ECANCELED) or not (0). */
bool tux_post_cancel(struct tux_end *e, uint64_t ref);

/* What became of a message that is settled: its name, and 0 - the peer's stack
 * has it - or an errno.  True until all have been told.  Successes need not be
 * asked for, unless the end was claimed with `asks`; what failed keeps its room
 * until it is told. */
bool tux_post_settled(struct tux_end *e, uint64_t *ref, int *err);

/* The same for all that are settled, of an end with messages that was claimed
 * without `asks`; how many, and in *@failed how many of them have failed. */
unsigned tux_post_reap(struct tux_end *e, unsigned *failed);

/* Is all settled, and told or not asked for? */
bool tux_post_idle(struct tux_end *e);

/* All that has not been told, as tux_msgbox_rest() says. */
unsigned tux_post_rest(struct tux_end *e, int why, uint64_t *ref, int *err);

/* The longest message that may be sent, as far as is known; 0: none may. */
uint32_t tux_post_longest(const struct tux_end *e);

/* Is a message there to be taken? */
bool tux_post_any(const struct tux_end *e);

/* Up to @n messages into @m, in the order of their delivery, to be read in
 * place until they are released; how many.  Room is given back in the order of
 * sending: what is kept long is better copied. */
unsigned tux_post_take(struct tux_end *e, struct tux_msg *m, unsigned n);

/* Done with @n messages; in any order. */
void tux_post_release(struct tux_end *e, const struct tux_msg *m, unsigned n);

#endif
