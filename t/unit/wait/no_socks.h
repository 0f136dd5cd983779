/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * no_socks - what epoll instances call of the rest of the preload, in a process
 * in which no socket is on Tux
 */
#ifndef TUX_T_UNIT_WAIT_NO_SOCKS_H
#define TUX_T_UNIT_WAIT_NO_SOCKS_H

#include "ground/conf.h"
#include "ground/libc.h"
#include "ground/process.h"
#include "sock/allow.h"
#include "sock/claim.h"
#include "sock/close.h"
#include "sock/fd.h"
#include "sock/kind.h"
#include "sock/pass.h"
#include "wait/transfer.h"
#include "wait/wait.h"

__thread bool transfer_found_nothing;
struct sock *_Atomic fd_table[FD_MAX];
_Atomic uint8_t kind_table[FD_MAX];
struct conf conf = { .path = TUX_PATH_MODE_AUTO };
struct process_here process_here = { .epoch = 1 };

int fd_top(void)
{
	return 0;
}

int close_fresh(int fd)
{
	return fd;
}

void fd_seen(int fd)
{
	(void)fd;
}

bool pass_plain(int fd)
{
	(void)fd;
	return true;
}

static bool claims_stopped = true;

bool claim_stop(enum tux_reason why)
{
	(void)why;
	claims_stopped = true;
	return true;
}

bool allow_sandboxed(void)
{
	return false;
}

bool process_is_sandboxed(void)
{
	return false;
}

bool allow_stopped(void)
{
	return claims_stopped;
}

/* No thread waits. */
struct waiting *wait_take(void)
{
	return NULL;
}

void wait_give(struct waiting *t)
{
	(void)t;
}

void tux_channel_turn(struct tux_stack *s, const struct tux_waiter *w)
{
	(void)s, (void)w;
}

void tux_waiter_follow(struct tux_waiter *w, const struct tux_end *e)
{
	(void)w, (void)e;
}

static _Atomic unsigned channel_waits;	/* of threads that would run the loop */

int tux_channel_wait(struct tux_stack *s, struct tux_waiter *w,
		     struct pollfd *fds, unsigned n, tux_time until,
		     const sigset_t *mask)
{
	(void)s, (void)w, (void)fds, (void)n, (void)until, (void)mask;
	channel_waits++;
	return 0;
}

struct sock *sock_claimed(int fd)
{
	(void)fd;
	return NULL;
}

struct sock *sock_get(int fd)
{
	(void)fd;
	return NULL;
}

void sock_let_go(struct sock *s, uint64_t n)
{
	(void)s, (void)n;
}

void sock_ring(struct sock *s)
{
	(void)s;
}

void sock_watch(struct sock *s, struct watch *w)
{
	(void)s, (void)w;
}

void sock_unwatch(struct sock *s, struct watch *w)
{
	(void)s, (void)w;
}

static struct ready sock_is;		/* what is known of any sock */

struct ready ready_of(struct sock *s)
{
	(void)s;
	return sock_is;
}

bool ready_plain(const struct sock *s)
{
	return !s;
}

bool ready_turn(const struct tux_waiter *w, tux_time now)
{
	return !w && !now;
}

uint32_t ready_told(struct sock *s, int fd, uint32_t told, struct ready *r)
{
	(void)fd;
	*r = ready_of(s);
	return told;
}

void edge_init(struct edge *e, struct sock *s)
{
	(void)e, (void)s;
}

bool edge_new(struct edge *e, struct sock *s, uint32_t asked, uint32_t now)
{
	return e && s && asked && now;
}

bool edge_wrote(const struct edge *e, struct sock *s)
{
	return e && s;
}

void edge_told(struct edge *e, struct sock *s, uint32_t told)
{
	(void)e, (void)s, (void)told;
}

bool edge_hidden(struct edge *e, struct sock *s)
{
	return e && s;
}

#endif
