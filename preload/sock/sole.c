/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/sole.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include "ground/libc.h"
#include "handshake/mark.h"

enum { ULP_NAME = 16 };

static _Atomic uint32_t under_way;	/* messages with descriptors */

void sole_sending(void)
{
	atomic_fetch_add(&under_way, 1);
}

void sole_sent(unsigned n)
{
	if (n)
		atomic_fetch_sub(&under_way, n);
}

void sole_forked(void)
{
	atomic_store(&under_way, 0);
}

/* Neither end has sent a FIN, and none is read as if it had come. */
static bool sole_is_open(int fd)
{
	struct pollfd f = { .fd = fd, .events = POLLRDHUP };
	struct tcp_info i;
	socklen_t len = sizeof(i);

	return !libc.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) &&
	       i.tcpi_state == TCP_ESTABLISHED && !libc.poll(&f, 1, 0);
}

static bool sole_is_plain(int fd)
{
	char ulp[ULP_NAME] = "";
	socklen_t len = sizeof(ulp);

	return !(libc.fcntl(fd, F_GETFL) & O_ASYNC) &&
	       !libc.getsockopt(fd, IPPROTO_TCP, TCP_ULP, ulp, &len) && !len;
}

/* The loop of a sleeping end has a duplicate, and has read the key. */
static unsigned sole_own(const struct sock *s)
{
	return atomic_load(&s->fds) + (s->asleep ? tux_end_copies(s->end) : 0);
}

bool sole_is_not(const struct sock *s, int fd)
{
	struct tux_mark_held h;

	return !tux_mark_held(fd, &h) && h.n > sole_own(s);
}

bool sole_is(const struct sock *s, int fd)
{
	struct tux_mark_held h;

	return !atomic_load(&under_way) && atomic_load(&s->fds) == 1 &&
	       !tux_mark_held(fd, &h) && h.n == sole_own(s) &&
	       (!h.read || s->asleep) &&
	       sole_is_open(fd) && sole_is_plain(fd);
}
