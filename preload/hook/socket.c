/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * socket - the calls that make, connect and end sockets
 */
#include "sock/sock.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "ground/libc.h"
#include "sock/allow.h"
#include "sock/claim.h"
#include "sock/close.h"
#include "sock/fd.h"
#include "sock/iface.h"
#include "sock/kind.h"
#include "sock/listener.h"
#include "sock/mark.h"
#include "sock/pass.h"
#include "sock/path.h"

HOOK int socket(int domain, int type, int protocol)
{
	int fd = close_fresh(libc.socket(domain, type, protocol));

	kind_made(fd, domain, type, protocol);
	return fd;
}

HOOK int socketpair(int domain, int type, int protocol, int fds[2])
{
	int r = libc.socketpair(domain, type, protocol, fds);

	if (!r) {
		close_fresh(fds[0]);
		close_fresh(fds[1]);
	}
	return r;
}

static bool read_addr(struct tux_addr *a, const struct sockaddr *addr,
		      socklen_t len)
{
	struct sockaddr_in6 sa = { 0 };	/* the longest that iface_addr() reads */

	if (!addr || len > sizeof(struct sockaddr_storage))
		return false;
	memcpy(&sa, addr, len < sizeof(sa) ? len : sizeof(sa));
	return iface_addr(a, (const void *)&sa);
}

/* accept() has returned @fd.  The program's @addr had room for @room bytes, and
 * the address that came has *@len. */
static int accepted(int listener, int fd, const struct sockaddr *addr,
		    socklen_t room, const socklen_t *len)
{
	struct tux_addr peer;
	bool known;

	close_fresh(fd);
	if (fd < 0)
		return fd;
	known = addr && *len <= room && read_addr(&peer, addr, *len);
	claim_accepted(listener, fd, known ? &peer : NULL);
	return fd;
}

/* What is no address is for the kernel to complain about. */
static socklen_t room_for(const struct sockaddr *addr, const socklen_t *len)
{
	return addr && len ? *len : 0;
}

HOOK int accept(int fd, struct sockaddr *addr, socklen_t *restrict len)
{
	socklen_t room = room_for(addr, len);

	return accepted(fd, libc.accept(fd, addr, len), addr, room, len);
}

HOOK int accept4(int fd, struct sockaddr *addr, socklen_t *restrict len,
		 int flags)
{
	socklen_t room = room_for(addr, len);

	return accepted(fd, libc.accept4(fd, addr, len, flags), addr, room,
			len);
}

/* A UDP port that a listener of ours holds for its connections' sake is the
 * program's, if the program wants it. */
static bool yield_port(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct tux_addr a;
	int type = 0;
	socklen_t size = sizeof(type);

	if (libc.getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) ||
	    type != SOCK_DGRAM)
		return false;
	return read_addr(&a, addr, len) && listener_yield_port(a.port);
}

HOOK int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	int r = libc.bind(fd, addr, len);

	if (r && errno == EADDRINUSE && !allow_sandboxed() &&
	    yield_port(fd, addr, len))
		r = libc.bind(fd, addr, len);
	return r;
}

HOOK int listen(int fd, int backlog)
{
	int r;

	mark_listening(fd);
	r = libc.listen(fd, backlog);
	if (!r)
		listener_add(fd, true);
	return r;
}

/* The kernel takes it for "reset the connection; the socket may have
 * another". */
static bool asks_for_reset(const struct sockaddr *addr, socklen_t len)
{
	return addr && len >= sizeof(addr->sa_family) &&
	       addr->sa_family == AF_UNSPEC;
}

HOOK int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct tux_addr peer;
	enum tux_reason why;
	int r, saved;

	/* Its result is that of the kernel's call below, which does it once
	 * more. */
	if (!kind_left(fd) && asks_for_reset(addr, len))
		pass_reset(fd);
	if (kind_left(fd) || !read_addr(&peer, addr, len))
		return libc.connect(fd, addr, len);
	why = mark_connecting(fd, &peer);
	r = libc.connect(fd, addr, len);
	saved = errno;
	if (r && errno != EINPROGRESS && errno != EINTR)
		return r;
	if (why)
		claim_leave(fd, &peer, why);
	else
		claim_connecting(fd, &peer);
	errno = saved;
	return r;
}

/* The path has noted that reading is over.  If @s, reached by @fd, went back to
 * the kernel meanwhile (unclaim.h), the kernel has to know it. */
static void shut_rd(const struct sock *s, int fd)
{
	uint8_t stage = atomic_load(&s->stage);

	if (stage == SOCK_CLOSED || stage == SOCK_LOST)
		return;
	claim_stay(fd, TUX_REASON_CLOSED);
	libc.shutdown(fd, SHUT_RD);
}

HOOK int shutdown(int fd, int how)
{
	struct sock *s = sock_claimed(fd);
	int r;

	/* Another thread may claim it until claim_stay() has returned. */
	if (!s) {
		claim_stay(fd, TUX_REASON_CLOSED);
		s = sock_claimed(fd);
	}
	if (!s)
		return libc.shutdown(fd, how);
	r = path_shutdown(s, fd, how);
	if (atomic_load(&s->stage) != SOCK_CLAIMED && how != SHUT_WR)
		shut_rd(s, fd);
	sock_put(s);
	return (int)libc_ret(r);
}
