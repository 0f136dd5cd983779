/* SPDX-License-Identifier: BSD-2-Clause */
#include "option.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>

#include "base/time.h"
#include "claim.h"
#include "fd.h"
#include "libc.h"

static int64_t timeout(int fd, int name)
{
	struct timeval tv;
	socklen_t len = sizeof(tv);

	if (libc.getsockopt(fd, SOL_SOCKET, name, &tv, &len))
		return 0;
	return (int64_t)(TUX_SEC(tv.tv_sec) + TUX_USEC(tv.tv_usec));
}

static bool lingers_not(int fd)
{
	struct linger l;
	socklen_t len = sizeof(l);

	return !libc.getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len) &&
	       l.l_onoff && !l.l_linger;
}

static bool is_on(int fd, int level, int name)
{
	int v = 0;
	socklen_t len = sizeof(v);

	return !libc.getsockopt(fd, level, name, &v, &len) && v;
}

void option_load(struct sock *s, int fd)
{
	int low = 1;
	socklen_t len = sizeof(low);

	s->rcvtimeo = timeout(fd, SO_RCVTIMEO);
	s->sndtimeo = timeout(fd, SO_SNDTIMEO);
	s->linger0 = lingers_not(fd);
	if (libc.getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, &len) || low < 1)
		low = 1;
	s->lowat = (uint32_t)low;
}

/* Another thread may set it at the same time.  If it does so after the last look
 * here, it stores what it has set after this. */
void option_load_nonblock(struct sock *s, int fd)
{
	int flags = libc.fcntl(fd, F_GETFL), before;

	do {
		before = flags;
		atomic_store(&s->nonblock, (flags & O_NONBLOCK) != 0);
		flags = libc.fcntl(fd, F_GETFL);
	} while (flags != before);
}

bool option_pins(int fd)
{
	return is_on(fd, SOL_SOCKET, SO_ZEROCOPY) ||
	       is_on(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT);
}

/* What needs the kernel's own stream: not on a socket that may leave it. */
static bool needs_tcp(int level, int name)
{
	if (level == SOL_SOCKET)
		return name == SO_ZEROCOPY;
	return level == IPPROTO_TCP &&
	       (name == TCP_ULP || name == TCP_REPAIR);
}

/* 0, or the errno to refuse it with.  Who asks for TLS in the kernel asks every
 * time, and does it itself if the kernel cannot: no reason to stay on TCP. */
static int refuses(struct sock *s, int fd, int level, int name)
{
	if (!needs_tcp(level, name))
		return 0;
	if (name != TCP_ULP)
		claim_pin(fd);
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
	if (!r && level == SOL_SOCKET && s->stage == SOCK_CLAIMED)
		option_load(s, fd);
	return r;
}

HOOK int setsockopt(int fd, int level, int name, const void *value,
		    socklen_t len)
{
	struct sock *s = fd_peek(fd) ? sock_get(fd) : NULL;
	int r;

	if (!s)
		return libc.setsockopt(fd, level, name, value, len);
	r = option_set(s, fd, level, name, value, len);
	sock_put(s);
	return r;
}

/* The kernel's error goes first; it knows of connect(). */
static void merge_error(struct sock *s, int *err)
{
	if (!*err)
		*err = (int)atomic_exchange(&s->err, 0);
	if (!*err)
		*err = (int)atomic_exchange(&s->dx->err, 0);
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
