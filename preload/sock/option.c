/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/option.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>

#include "base/time.h"
#include "ground/libc.h"
#include "sys/tcp_only.h"

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
	if (atomic_load(&s->lowat_stays))
		return;
	if (libc.getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, &len) || low < 1)
		low = 1;
	s->lowat = (uint32_t)low;
}

/* Another thread may set it at the same time.  If it does so after the last
 * look here, it stores what it has set after this. */
void option_load_nonblock(struct sock *s, int fd)
{
	int flags = libc.fcntl(fd, F_GETFL), before;

	do {
		before = flags;
		atomic_store(&s->nonblock, (flags & O_NONBLOCK) != 0);
		flags = libc.fcntl(fd, F_GETFL);
	} while (flags != before);
}

void option_give(struct sock *s, int fd)
{
	int low = (int)s->lowat;

	if (s->rdshut)
		libc.shutdown(fd, SHUT_RD);
	if (atomic_exchange(&s->lowat_stays, false))
		libc.setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
}

bool option_pins(int fd)
{
	return is_on(fd, SOL_SOCKET, SO_ZEROCOPY) ||
	       is_on(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT) ||
	       tux_tcp_only_set(fd);
}
