/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sleep - what surrounds the sleep of a network thread
 *
 * A thread that runs one loop sleeps on what that waits for (tux_poll()).  One that
 * runs several, or the application, sleeps on the descriptor of each, t->fd, an
 * epoll instance of all of that.
 */
#ifndef TUX_API_SLEEP_H
#define TUX_API_SLEEP_H

#include "api/api_in.h"

/* When the next turn is due, if nothing comes. */
tux_time tux_api_deadline(struct tux *t);

/* The network thread is about to sleep: false if it must not.  In either case
 * tux_api_finish_sleep() follows, with what tux_poll() returned or would have
 * returned. */
bool tux_api_prepare_sleep(struct tux *t);
void tux_api_finish_sleep(struct tux *t, int got);

/* The same, for a sleep on t->fd, until *@at at most.  Then the sleep has got
 * TUX_API_WOKEN or nothing. */
enum { TUX_API_WOKEN = 0x07 };
bool tux_api_lie_down(struct tux *t, tux_time *at);

/* tux_api_beckon(): no thread drives @t from now on, and t->fd is readable until
 * one does.  tux_api_awake(): the caller drives it again. */
void tux_api_beckon(struct tux *t);
void tux_api_awake(struct tux *t);

/* t->fd is readable from @at on, until this is called again; TUX_NEVER: never. */
void tux_api_set_timer(struct tux *t, tux_time at);

/* t->fd is readable while @fd is; -errno. */
int tux_api_watch_fd(const struct tux *t, int fd);

/* A sleep without t->fd is next: descriptors of the link may be closed
 * meanwhile, and others get their numbers. */
void tux_api_watch_none(struct tux *t);

#endif
