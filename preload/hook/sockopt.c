/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sockopt - the options that a program sets and asks for
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/claim.h"
#include "sock/fd.h"
#include "sock/option.h"
#include "sock/pass.h"
#include "stack/bound.h"
#include "sys/tcp_only.h"

/* What needs the kernel's own stream: not on a socket that may leave it. */
static bool needs_tcp(int level, int name)
{
	if (level == SOL_SOCKET)
		return name == SO_ZEROCOPY;
	return level == IPPROTO_TCP &&
	       (name == TCP_ULP || name == TCP_REPAIR);
}

/* 0, or the errno to refuse it with.  A program that asks for TLS in the kernel
 * asks for each connection, and does TLS itself if the kernel cannot: no reason
 * to stay on TCP. */
static int refuses(struct sock *s, int fd, int level, int name)
{
	if (!needs_tcp(level, name))
		return 0;
	if (name != TCP_ULP)
		claim_stay(fd, TUX_REASON_SOCKOPT);
	return s->stage == SOCK_CLAIMED || s->stage == SOCK_CANDIDATE ?
	       ENOPROTOOPT : 0;
}

static int option_set(struct sock *s, int fd, int level, int name,
		      const void *value, socklen_t len)
{
	int err = refuses(s, fd, level, name);
	int r;

	if (err)
		return (int)libc_ret(-err);
	r = libc.setsockopt(fd, level, name, value, len);
	if (!r && level == SOL_SOCKET && s->stage == SOCK_CLAIMED &&
	    s->epoch == process_here.epoch) {
		option_load(s, fd);
		tux_end_bound(s->end, fd);
		/* There may be more room now, at either end, or fewer bytes may
		 * be enough. */
		sock_ring(s);
		tux_end_ring(s->end, TUX_DOORBELL_RX, false);
	}
	return r;
}

static void low_water_kernel(int fd, int low)
{
	libc.setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
}

/* Does a loop, of this process or of its parent, read from @fd's socket?  Then
 * @low is for reads of the rings alone. */
static bool low_water_stays(int fd, int low)
{
	struct sock *s = sock_get(fd);
	uint8_t stage;

	if (!s)
		return false;
	stage = atomic_load(&s->stage);
	if (stage == SOCK_CLAIMED || stage == SOCK_LOST) {
		atomic_store(&s->lowat, (uint32_t)low);
		atomic_store(&s->lowat_stays, true);
	}
	sock_put(s);
	return stage == SOCK_CLAIMED || stage == SOCK_LOST;
}

/* The kernel has taken @low for SO_RCVLOWAT of @s, reached by @fd.  The loop
 * waits for frames with the same socket, and they are short.  So the kernel has
 * the option only when the socket is back on TCP.  On a socket that cannot go
 * back, reads honour it: the program did nothing wrong. */
static void low_water_set(struct sock *s, int fd, int low)
{
	atomic_store(&s->lowat_stays, false);
	if (claim_is_kernels(s) || !tux_tcp_only_set(fd))
		return;
	low_water_kernel(fd, 1);
	pass_plain_for(fd, TUX_REASON_SOCKOPT);
	if (!low_water_stays(fd, low))
		low_water_kernel(fd, low);
}

HOOK int setsockopt(int fd, int level, int name, const void *value,
		    socklen_t len)
{
	struct sock *s;
	int r;

	if (fd_peek(fd) && tux_tcp_only(level, name) &&
	    !pass_plain_for(fd, TUX_REASON_SOCKOPT))
		return -1;
	s = fd_peek(fd) ? sock_get(fd) : NULL;
	if (!s)
		return libc.setsockopt(fd, level, name, value, len);
	r = option_set(s, fd, level, name, value, len);
	if (!r && level == SOL_SOCKET && name == SO_RCVLOWAT)
		low_water_set(s, fd, *(const int *)value);
	sock_put(s);
	return r;
}

/* The kernel's error goes first; it knows of connect(). */
static void merge_error(struct sock *s, int *err)
{
	if (!*err)
		*err = (int)atomic_exchange(&s->err, 0);
	if (!*err)
		*err = tux_duplex_error(s->dx);
}

HOOK int getsockopt(int fd, int level, int name, void *restrict value,
		    socklen_t *restrict len)
{
	int r = libc.getsockopt(fd, level, name, value, len);
	struct sock *s;

	if (r || level != SOL_SOCKET || name != SO_ERROR || !fd_peek(fd) ||
	    *len < sizeof(int))
		return r;
	s = sock_get(fd);
	if (!s)
		return r;
	if (s->stage == SOCK_CLAIMED)
		merge_error(s, value);
	sock_put(s);
	return r;
}
