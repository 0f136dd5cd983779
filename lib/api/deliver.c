/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a connection's callbacks are told, in one run of its task: that it is
 * open, messages, what has settled, the stream, room; closing.c has the last
 * word.  Preemption is off (tux_sched_enter()), except in the callbacks.
 */
#include "api/deliver.h"

#include <errno.h>

#include "api/ask.h"
#include "api/claim.h"
#include "api/closing.h"
#include "api/connection.h"
#include "api/stream.h"
#include "api/tell.h"
#include "stack/post.h"
#include "sys/sys.h"

/* Events that a run which does not get to the stream leaves for the next. */
enum {
	LATER = TUX_EVENT_READY | TUX_EVENT_IN | TUX_EVENT_OUT |
		TUX_EVENT_AGAIN | TUX_EVENT_LOOK,
};

/* ---- the stream ---- */

static bool ring_changed(struct tux_connection *c, unsigned can)
{
	return tux_end_ring_grew(c->dx, &c->rx_told) || (can & TUX_IS_ERR);
}

/* Is it plain TCP anew, or do reads that had stopped go on?  No event tells of bytes
 * that lay behind the frames, or were there before. */
static bool deliver_turned(struct tux_connection *c)
{
	uint32_t turns = tux_duplex_rx_turns(c->dx);
	bool news = turns != c->turns_told;

	c->turns_told = turns;
	return news;
}

static bool stream_due(struct tux_connection *c, uint32_t events)
{
	bool due = events & (TUX_EVENT_AGAIN | TUX_EVENT_BREAK);
	unsigned can;

	if (!c->end)
		return due || events & TUX_EVENT_IN;
	can = tux_duplex_poll(c->dx);
	if (!(can & TUX_RX_ON_RING)) {
		due |= events & TUX_EVENT_IN && tux_api_advance(c);
		due |= tux_duplex_readable(c->dx) || tux_api_ring_grew(c);
		can = tux_duplex_poll(c->dx);
	}
	due |= deliver_turned(c);
	return (can & TUX_RX_ON_RING && ring_changed(c, can)) || due;
}

/* The program has no on_stream(): the end of the stream closes the connection,
 * and bytes break it, since the peer should not have sent any. */
static void unheard(struct tux_connection *c)
{
	char byte;
	ssize_t k = tux_peek(c, &byte, 1);

	if (k == 0) {
		tux_disconnect(c);
	} else if (k > 0) {
		tux_api_broke(c, EPROTO);
		tux_abort(c);
	}
}

static bool stream_has_news(struct tux_connection *c, uint32_t events)
{
	bool due = stream_due(c, events);

	/* Before the callback runs: then the bytes that it finds are all. */
	due |= tux_api_find_end(c);
	return due || (atomic_load(&c->err) && !c->err_told);
}

static void stream(struct tux_connection *c, uint32_t events)
{
	bool due = stream_has_news(c, events);

	if (!c->s->on_stream.fn) {
		if (due)
			unheard(c);
		return;
	}
	if (atomic_load(&c->watched)) {
		c->unread |= due;
		due = c->unread && tux_api_hears(c);
	}
	if (!due)
		return;
	c->err_told = atomic_load(&c->err);
	c->looked = c->took = false;
	TUX_TELL(c, on_stream);
}

/* ---- room ---- */

static bool stream_has_room(const struct tux_connection *c, uint32_t events)
{
	unsigned can = c->end ? tux_duplex_poll(c->dx) : 0;

	if (can & (TUX_TX_ON_RING | TUX_TX_WAITS))
		return can & TUX_CAN_WRITE;
	return events & (TUX_EVENT_OUT | TUX_EVENT_READY | TUX_EVENT_OPEN);
}

/* What waits for room, and may have some now. */
static uint32_t has_room_for(const struct tux_connection *c, uint32_t events)
{
	uint32_t wants = atomic_load(&c->wants), has = 0;

	if (wants & TUX_WANTS_MESSAGE &&
	    events & (TUX_EVENT_READY | TUX_EVENT_OPEN))
		has |= TUX_WANTS_MESSAGE;
	if (wants & TUX_WANTS_STREAM && stream_has_room(c, events))
		has |= TUX_WANTS_STREAM;
	return has;
}

/* Watched for TUX_OUT, and no write has failed since there last was room? */
static bool watches_room(const struct tux_connection *c)
{
	return atomic_load(&c->watched) & TUX_OUT &&
	       !(atomic_load(&c->wants) & TUX_WANTS_STREAM);
}

/* Tells of room once; of room in a stream that is watched, in every run.  Room for
 * messages is told once in any case. */
static void room(struct tux_connection *c, uint32_t events)
{
	bool watched = atomic_load(&c->watched);
	uint32_t has;

	if (!c->s->on_room.fn)
		return;
	has = has_room_for(c, events);
	if (has && !watched)
		has = TUX_WANTS_STREAM | TUX_WANTS_MESSAGE;
	if (has)
		atomic_fetch_and(&c->wants, ~has);
	if (watched ? has & TUX_WANTS_MESSAGE || watches_room(c) : has)
		TUX_TELL(c, on_room);
}

/* ---- level-triggered ---- */

/* What a callback has left to be done, another run does, in the next turn: as with
 * poll(), other connections have their turn before, and so has the loop of the
 * application. */
static void watch_on(struct tux_connection *c)
{
	if ((c->unread && tux_api_hears(c)) ||
	    (watches_room(c) && c->s->on_room.fn))
		tux_api_raise(c, TUX_EVENT_LOOK);
}

int tux_watch(struct tux_connection *c, unsigned events)
{
	uint8_t now = (uint8_t)(TUX_LEVEL | (events & (TUX_IN | TUX_OUT)));
	uint8_t was;
	int err;

	tux_sched_enter();
	was = atomic_exchange(&c->watched, now);
	/* One that is not open yet is looked at when it opens. */
	err = tux_api_unusable(c);
	if (now & ~was && !err)
		tux_api_raise(c, was ? TUX_EVENT_LOOK : TUX_EVENT_AGAIN);
	tux_sched_leave();
	return err == -EAGAIN ? 0 : err;
}

/* ---- errors ---- */

static void take_tcp_error(struct tux_connection *c)
{
	int err = 0;
	socklen_t len = sizeof(err);

	tux_sys_getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	if (err)
		tux_api_broke(c, err);
}

/* TCP's own error, or one that the loop has found.  While a direction is on a
 * ring, only the loop's counts. */
static void look_at_error(struct tux_connection *c, uint32_t events)
{
	unsigned can = c->end ? tux_duplex_poll(c->dx) : 0;

	if (can & TUX_IS_ERR)
		tux_api_broke(c, (int)atomic_load(&c->dx->err));
	if (events & TUX_EVENT_BREAK &&
	    !(can & (TUX_RX_ON_RING | TUX_TX_ON_RING)))
		take_tcp_error(c);
}

void tux_api_look_at_break(struct tux_connection *c)
{
	look_at_error(c, atomic_load(&c->events));
}

/* A connection that closes waits only for its messages.  The loop watches TCP
 * only while the receiving direction is on a ring; otherwise a reset by the peer
 * shows here. */
static void look_while_closing(struct tux_connection *c, uint32_t events)
{
	if (events & TUX_EVENT_BREAK &&
	    !(c->end && tux_duplex_poll(c->dx) & TUX_RX_ON_RING))
		take_tcp_error(c);
}

/* ---- all of it ---- */

/* Must the stream wait for the messages that are left?  Its end may be told only
 * after them, and off the ring what is readable may be the end. */
static bool must_wait(const struct tux_connection *c)
{
	return (tux_duplex_poll(c->dx) & (TUX_RX_ON_RING | TUX_IS_EOF |
					  TUX_IS_ERR)) != TUX_RX_ON_RING;
}

static bool asked_to_end(const struct tux_connection *c)
{
	return atomic_load(&c->asked);
}

static void deliver_events(struct tux_connection *c, uint32_t events)
{
	c->fin |= (events & TUX_EVENT_FIN) != 0;
	look_at_error(c, events);
	if (!asked_to_end(c))
		tux_api_claim_look(c);
	if (events & TUX_EVENT_OPEN && !asked_to_end(c))
		tux_api_tell_open(c);
	if (c->messages && !asked_to_end(c)) {
		bool more;

		tux_api_tell_messages(c);
		tux_api_settle(c);
		more = tux_post_any(c->end);
		if (more && must_wait(c)) {
			if (events & TUX_EVENT_IN)
				tux_api_advance(c);
			tux_api_raise_here(c, TUX_EVENT_READY |
					      (events & LATER));
			return;
		}
		if (more)
			tux_api_raise_here(c, TUX_EVENT_READY);
	}
	if (!asked_to_end(c))
		stream(c, events);
	if (!asked_to_end(c))
		room(c, events);
	/* Bytes that a callback has read may have hidden the end. */
	if (!asked_to_end(c) && tux_api_find_end(c))
		tux_api_raise(c, TUX_EVENT_AGAIN);
	else if (!asked_to_end(c) && atomic_load(&c->watched))
		watch_on(c);
}

void tux_api_run(struct tux_task *task)
{
	struct tux_connection *c =
		TUX_CONTAINER(task, struct tux_connection, task);
	uint32_t events;

	tux_sched_enter();
	events = atomic_exchange(&c->events, 0);
	if (atomic_load(&c->stage) == TUX_STAGE_OPEN)
		deliver_events(c, events);
	else if (atomic_load(&c->stage) == TUX_STAGE_CLOSING)
		look_while_closing(c, events);
	/* An OVER that came while gone() was called is kept. */
	if (atomic_load(&c->stage) == TUX_STAGE_GONE)
		tux_api_raise_here(c, events & TUX_EVENT_OVER);
	else
		tux_api_ending(c);
	tux_sched_leave();
}
