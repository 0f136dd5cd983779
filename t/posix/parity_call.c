/* SPDX-License-Identifier: BSD-2-Clause */
#include "parity_call.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client.h"
#include "pair.h"
#include "parity_ways.h"

enum {
	BYTES = 65536,
	PARTS = 3,		/* of a vector */
	EVENTS = 8,
	NO_FD = 4000,		/* a number that is not open */
	NOT_OPEN = 60,		/* another: select() ignores what is beyond the
				 * table of the process */
};

static int fds[PARITY_SLOTS];
static unsigned char taken[PARITY_WORKERS][BYTES];
static uint16_t port_here;
static __thread unsigned pipes;	/* SIGPIPEs that came */

typedef void call_fn(const struct parity_step *s, struct parity_record *r);

static int fd_of(unsigned slot)
{
	return fds[slot] >= 0 ? fds[slot] : NO_FD;
}

/* ---- bytes ------------------------------------------------------------ */

static uint64_t hash(const void *p, size_t n)
{
	const unsigned char *b = p;
	uint64_t h = 0xcbf29ce484222325u;

	while (n--)
		h = (h ^ *b++) * 0x100000001b3u;
	return h;
}

static void took(struct parity_record *r, const void *buf, ssize_t n)
{
	r->ret = n;
	if (n > 0)
		r->hash = hash(buf, (size_t)n < BYTES ? (size_t)n : BYTES);
}

/* No byte is 0, so that a buffer of zeros shows how far it is filled. */
static void fill(const struct parity_step *s, unsigned char *buf)
{
	for (int32_t i = 0; i < s->n; i++)
		buf[i] = (unsigned char)(1 + (s->id * 131 + (uint32_t)i * 7 +
					      ((uint32_t)i >> 8)) % 255);
}

/* The buffer of the step's worker, empty: other threads look at it. */
static unsigned char *empty(const struct parity_step *s)
{
	return memset(taken[s->worker], 0, BYTES);
}

/* Parts of @n bytes that differ in length. */
static void cut(struct iovec v[PARTS], unsigned char *buf, size_t n)
{
	v[0] = (struct iovec){ buf, n / 5 };
	v[1] = (struct iovec){ buf + n / 5, n / 3 };
	v[2] = (struct iovec){ buf + n / 5 + n / 3, n - n / 5 - n / 3 };
}

static void call_read(const struct parity_step *s, struct parity_record *r)
{
	unsigned char buf[BYTES];

	took(r, buf, read(fd_of(s->slot), buf, (size_t)s->n));
}

static void call_readv(const struct parity_step *s, struct parity_record *r)
{
	unsigned char buf[BYTES];
	struct iovec v[PARTS];

	cut(v, buf, (size_t)s->n);
	took(r, buf, readv(fd_of(s->slot), v, PARTS));
}

/* With MSG_TRUNC the bytes are dropped, and the buffer stays as it was. */
static void call_recv(const struct parity_step *s, struct parity_record *r)
{
	unsigned char *buf = empty(s);

	took(r, buf, recv(fd_of(s->slot), buf, (size_t)s->n, s->flags));
}

static void call_recvfrom(const struct parity_step *s, struct parity_record *r)
{
	unsigned char *buf = empty(s);
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	took(r, buf, recvfrom(fd_of(s->slot), buf, (size_t)s->n, s->flags,
			      (void *)&a, &len));
	r->out[0] = len;
}

static void call_recvmsg(const struct parity_step *s, struct parity_record *r)
{
	unsigned char *buf = empty(s);
	struct sockaddr_in a;
	struct iovec v[PARTS];
	struct msghdr m = { .msg_iov = v, .msg_iovlen = PARTS,
			    .msg_name = &a, .msg_namelen = sizeof(a) };
	ssize_t n;

	cut(v, buf, (size_t)s->n);
	n = recvmsg(fd_of(s->slot), &m, s->flags);
	took(r, buf, n);
	if (n >= 0) {
		r->out[0] = m.msg_namelen;
		r->out[1] = (uint32_t)m.msg_flags;
		r->out[2] = (uint32_t)m.msg_controllen;
	}
}

static void call_write(const struct parity_step *s, struct parity_record *r)
{
	unsigned char buf[BYTES];

	fill(s, buf);
	r->ret = write(fd_of(s->slot), buf, (size_t)s->n);
}

static void call_writev(const struct parity_step *s, struct parity_record *r)
{
	unsigned char buf[BYTES];
	struct iovec v[PARTS];

	fill(s, buf);
	cut(v, buf, (size_t)s->n);
	r->ret = writev(fd_of(s->slot), v, PARTS);
}

static void call_send(const struct parity_step *s, struct parity_record *r)
{
	unsigned char buf[BYTES];

	fill(s, buf);
	r->ret = send(fd_of(s->slot), buf, (size_t)s->n, s->flags);
}

static void call_sendto(const struct parity_step *s, struct parity_record *r)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	unsigned char buf[BYTES];

	fill(s, buf);
	r->ret = sendto(fd_of(s->slot), buf, (size_t)s->n, s->flags,
			s->value & 1 ? (void *)&a : NULL,
			s->value & 1 ? sizeof(a) : 0);
}

static void call_sendmsg(const struct parity_step *s, struct parity_record *r)
{
	unsigned char buf[BYTES];
	struct iovec v[PARTS];
	struct msghdr m = { .msg_iov = v, .msg_iovlen = PARTS };

	fill(s, buf);
	cut(v, buf, (size_t)s->n);
	r->ret = sendmsg(fd_of(s->slot), &m, s->flags);
}

/* ---- connections ------------------------------------------------------ */

static struct sockaddr_in loopback(uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(port) };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

/* So that a write goes out at once, and reaches its peer before the next step. */
static void no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void call_listen(const struct parity_step *s, struct parity_record *r)
{
	if (s->slot == PARITY_LISTEN_SLOT && fds[s->slot] < 0)
		fds[s->slot] = pair_listen(&port_here);
	else
		r->ret = listen(fd_of(s->slot), 8);
}

static void call_connect(const struct parity_step *s, uint16_t port,
			 struct parity_record *r)
{
	struct sockaddr_in a = loopback(port);

	if (s->slot < PARITY_CONNS && fds[s->slot] < 0) {
		fds[s->slot] = socket(AF_INET, SOCK_STREAM |
				      (s->flags & SOCK_NONBLOCK), 0);
		no_delay(fds[s->slot]);
	}
	r->ret = connect(fd_of(s->slot), (void *)&a, sizeof(a));
}

static void accepted(const struct parity_step *s, int fd,
		     struct parity_record *r)
{
	r->ret = fd < 0 ? -1 : 0;
	if (fd < 0)
		return;
	no_delay(fd);
	fds[s->slot] = fd;
}

static void call_accept(const struct parity_step *s, struct parity_record *r)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int fd = accept(fd_of(s->other), (void *)&a, &len);

	accepted(s, fd, r);
	r->out[0] = fd < 0 ? 0 : len;
}

static void call_accept4(const struct parity_step *s, struct parity_record *r)
{
	accepted(s, accept4(fd_of(s->other), NULL, NULL, s->flags), r);
}

static void call_shutdown(const struct parity_step *s, struct parity_record *r)
{
	r->ret = shutdown(fd_of(s->slot), s->value % 4);
}

static void call_close(const struct parity_step *s, struct parity_record *r)
{
	int fd = fd_of(s->slot);

	fds[s->slot] = -1;
	r->ret = close(fd);
}

static void call_dup(const struct parity_step *s, struct parity_record *r)
{
	int fd = s->value & 1 ? dup(fd_of(s->slot)) :
		 fcntl(fd_of(s->slot), F_DUPFD_CLOEXEC, 0);

	r->ret = fd < 0 ? -1 : 0;
	if (fd >= 0)
		fds[s->other] = fd;
}

static void call_dup2(const struct parity_step *s, struct parity_record *r)
{
	int to = fds[s->other];
	int fd = s->value & 1 || s->slot == s->other ?
		 dup2(fd_of(s->slot), to) : dup3(fd_of(s->slot), to, O_CLOEXEC);

	r->ret = fd < 0 ? -1 : 0;
}

static void call_bind(const struct parity_step *s, struct parity_record *r)
{
	struct sockaddr_in a = loopback(0);

	r->ret = bind(fd_of(s->slot), (void *)&a, sizeof(a));
}

static void call_getsockname(const struct parity_step *s,
			     struct parity_record *r)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	r->ret = getsockname(fd_of(s->slot), (void *)&a, &len);
	r->out[0] = len;
}

static void call_getpeername(const struct parity_step *s,
			     struct parity_record *r)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	r->ret = getpeername(fd_of(s->slot), (void *)&a, &len);
	r->out[0] = len;
}

static void call_lseek(const struct parity_step *s, struct parity_record *r)
{
	char c;

	r->ret = s->value & 1 ? lseek(fd_of(s->slot), 0, SEEK_CUR) :
		 pread(fd_of(s->slot), &c, 1, 0);
}

static void call_fork(const struct parity_step *s, struct parity_record *r)
{
	int status = 0;

	(void)s;
	r->ret = parity_ways_fork(&status);
	r->out[0] = (uint32_t)status;
}

static void call_spawn(const struct parity_step *s, struct parity_record *r)
{
	int status = 0;

	(void)s;
	r->ret = parity_ways_spawn(&status);
	r->out[0] = (uint32_t)status;
}

/* ---- waiting ---------------------------------------------------------- */

static int patience(const struct parity_step *s)
{
	return s->value < 14 ? 0 : 3;
}

static void call_poll(const struct parity_step *s, struct parity_record *r)
{
	struct pollfd p[2] = {
		{ .fd = fds[s->slot], .events = (short)s->flags },
		{ .fd = fd_of(s->other), .events = (short)s->flags },
	};

	r->ret = poll(p, 1 + (s->value & 1), patience(s));
	r->out[0] = (uint16_t)p[0].revents;
	r->out[1] = (uint16_t)p[1].revents;
}

static void call_select(const struct parity_step *s, struct parity_record *r)
{
	const unsigned slot[2] = { s->slot, s->other };
	struct timeval t = { .tv_usec = 1000 * patience(s) };
	fd_set set[3];
	int top = 0;

	for (int k = 0; k < 3; k++)
		FD_ZERO(&set[k]);
	for (int i = 0; i < 2; i++) {
		int fd = fds[slot[i]] >= 0 ? fds[slot[i]] :
			 NOT_OPEN;

		for (int k = 0; k < 3; k++)
			if (!(s->value & 1 << k))
				FD_SET(fd, &set[k]);
		top = fd >= top ? fd + 1 : top;
	}
	r->ret = select(top, &set[0], &set[1], &set[2], &t);
	for (int i = 0; r->ret >= 0 && i < 2; i++)
		for (int k = 0; k < 3; k++)
			if (fds[slot[i]] >= 0 && FD_ISSET(fds[slot[i]], &set[k]))
				r->out[i] |= 1u << k;
}

static void call_epoll_ctl(const struct parity_step *s, struct parity_record *r)
{
	static const int op[16] = {
		EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_ADD,
		EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_ADD,
		EPOLL_CTL_MOD, EPOLL_CTL_MOD, EPOLL_CTL_MOD, EPOLL_CTL_MOD,
		EPOLL_CTL_DEL, EPOLL_CTL_DEL, EPOLL_CTL_DEL, 77,
	};
	struct epoll_event e = { .events = (uint32_t)s->flags,
				 .data.u64 = s->other | (uint64_t)s->id << 8 };

	r->ret = epoll_ctl(fd_of(s->slot), op[s->value], fd_of(s->other), &e);
}

/* In whichever order they come. */
static void call_epoll_wait(const struct parity_step *s,
			    struct parity_record *r)
{
	struct epoll_event e[EVENTS];
	int max = s->value == 13 ? 0 : EVENTS;
	int n = s->value & 1 ?
		epoll_wait(fd_of(s->slot), e, max, patience(s)) :
		epoll_pwait(fd_of(s->slot), e, max, patience(s), NULL);

	r->ret = n;
	for (int i = 0; i < n; i++) {
		uint64_t word[2] = { e[i].data.u64, e[i].events };

		r->hash += hash(word, sizeof(word));
		r->out[0] |= e[i].events;
	}
}

/* ---- asking and setting ----------------------------------------------- */

static void call_fcntl(const struct parity_step *s, struct parity_record *r)
{
	int fd = fd_of(s->slot);

	if (s->value < 6)
		r->ret = fcntl(fd, F_SETFL, s->value & 1 ? O_NONBLOCK : 0);
	else if (s->value < 12)
		r->ret = fcntl(fd, F_GETFL);
	else
		r->ret = fcntl(fd, s->value & 1 ? F_GETFD : 7777);
}

static void call_ioctl(const struct parity_step *s, struct parity_record *r)
{
	int n = 0;

	switch (s->value % 4) {
	case 0: case 1:
		r->ret = ioctl(fd_of(s->slot), FIONREAD, &n);
		break;
	case 2:
		n = s->value & 4;
		r->ret = ioctl(fd_of(s->slot), FIONBIO, &n);
		return;
	default:
		r->ret = ioctl(fd_of(s->slot), TCGETS, &n);
		return;
	}
	r->out[0] = (uint32_t)n;
}

static void call_getsockopt(const struct parity_step *s,
			    struct parity_record *r)
{
	static const int name[] = {
		SO_ERROR, SO_ERROR, SO_TYPE, SO_ACCEPTCONN, SO_DOMAIN,
		SO_PROTOCOL, SO_RCVLOWAT, SO_KEEPALIVE,
	};
	int level = s->value == 15 ? 999 : SOL_SOCKET;
	int v = 0;
	socklen_t len = sizeof(v);

	r->ret = getsockopt(fd_of(s->slot), level, name[s->value & 7], &v,
			    &len);
	r->out[0] = (uint32_t)v;
	r->out[1] = len;
}

static void call_setsockopt(const struct parity_step *s,
			    struct parity_record *r)
{
	struct timeval wait = { .tv_usec = s->value & 4 ? 4000 : 0 };
	struct linger l = { .l_onoff = 1 };
	int fd = fd_of(s->slot), one = 1;

	switch (s->value & 3) {
	case 0:
		r->ret = setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait,
				    sizeof(wait));
		break;
	case 1:
		l.l_onoff = s->value & 8;
		r->ret = setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
		break;
	case 2:
		r->ret = setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
				    s->value & 8 ? sizeof(one) : 1);
		break;
	default:
		r->ret = setsockopt(fd, SOL_SOCKET, 12345, &one, sizeof(one));
	}
}

/* How far peeks have come, or come to be. */
static void call_peek_off(const struct parity_step *s, struct parity_record *r)
{
	int v = s->value & 8 ? -1 : s->n % 64, fd = fd_of(s->slot);
	socklen_t len = sizeof(v);

	if (s->value & 1)
		r->ret = getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &v, &len);
	else
		r->ret = setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &v, len);
	r->out[0] = (uint32_t)v;
}

/* A vector of which a part has a length that no signed number has. */
static void call_overflow(const struct parity_step *s, struct parity_record *r)
{
	unsigned char *buf = empty(s);
	struct iovec v[2] = { { buf, (size_t)s->n },
			      { buf, SIZE_MAX - (size_t)s->value } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
	int fd = fd_of(s->slot);

	switch (s->value & 3) {
	case 0:
		r->ret = readv(fd, v, 2);
		break;
	case 1:
		r->ret = writev(fd, v, 2);
		break;
	case 2:
		r->ret = recvmsg(fd, &m, 0);
		break;
	default:
		r->ret = sendmsg(fd, &m, MSG_NOSIGNAL);
	}
}

static void call_unspec(const struct parity_step *s, struct parity_record *r)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	r->ret = connect(fd_of(s->slot), &none, sizeof(none));
}

static void call_way_back(const struct parity_step *s, struct parity_record *r)
{
	int fd = parity_ways_pass(fd_of(s->slot));

	r->ret = fd < 0 ? -1 : close(fd);
}

/* ---- the steps -------------------------------------------------------- */

static call_fn *const call[PARITY_KIND_N] = {
#define C(name) [PARITY_##name] = call_##name
	C(listen), C(accept), C(accept4), C(read), C(readv), C(recv),
	C(recvfrom), C(recvmsg), C(write), C(writev), C(send), C(sendto),
	C(sendmsg), C(shutdown), C(close), C(dup), C(dup2), C(fcntl), C(poll),
	C(select), C(epoll_ctl), C(epoll_wait), C(ioctl), C(getsockopt),
	C(setsockopt), C(getsockname), C(getpeername), C(bind), C(lseek),
	C(fork), C(way_back), C(peek_off), C(overflow), C(unspec), C(spawn),
#undef C
};

void parity_call(const struct parity_step *s, uint16_t port,
		 struct parity_record *r)
{
	unsigned before = pipes;

	memset(r, 0, sizeof(*r));
	errno = 0;
	if (s->kind == PARITY_connect)
		call_connect(s, port, r);
	else
		call[s->kind](s, r);
	r->err = r->ret == -1 ? errno : 0;
	r->out[3] = pipes - before;
}

static uint64_t tcp_bytes(int fd)
{
	struct tcp_info t;
	socklen_t len = sizeof(t);

	memset(&t, 0, sizeof(t));
	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &len);
	return t.tcpi_bytes_received;
}

void parity_call_observe(unsigned slot, uint32_t bytes, uint32_t events,
			 uint32_t ms, struct parity_record *r)
{
	struct pollfd p = { .fd = fds[slot],
			    .events = POLLIN | POLLOUT | POLLPRI | POLLRDHUP };
	double end = pair_ms() + ms;

	memset(r, 0, sizeof(*r));
	for (;;) {
		int n = 0;

		errno = 0;
		r->ret = ioctl(p.fd, FIONREAD, &n);
		r->err = errno;
		poll(&p, 1, 0);
		r->out[0] = (uint32_t)n;
		r->out[1] = (uint16_t)p.revents;
		if ((r->out[0] >= bytes && (r->out[1] & events) == events) ||
		    pair_ms() > end)
			break;
		usleep(50);
	}
	r->tcp_bytes = tcp_bytes(p.fd);
}

void parity_call_swallow(const struct parity_step *s, uint32_t bytes,
			 uint32_t ms, struct parity_record *r)
{
	const unsigned char *last = &taken[s->worker][bytes - 1];
	double end = pair_ms() + ms;

	memset(r, 0, sizeof(*r));
	for (;;) {
		int left = -1;

		if (__atomic_load_n(last, __ATOMIC_ACQUIRE))
			ioctl(fds[s->slot], FIONREAD, &left);
		r->ret = left == 0;
		if (r->ret || pair_ms() > end)
			return;
		usleep(50);
	}
}

void parity_call_poke(unsigned slot, struct parity_record *r)
{
	memset(r, 0, sizeof(*r));
	r->ret = send(fds[slot], "poke", PARITY_POKED,
		      MSG_DONTWAIT | MSG_NOSIGNAL);
}

void parity_call_gulp(unsigned slot, struct parity_record *r)
{
	char c[2 * PARITY_POKED];

	memset(r, 0, sizeof(*r));
	r->ret = recv(fds[slot], c, sizeof(c), MSG_DONTWAIT);
}

uint16_t parity_call_port(void)
{
	return fds[PARITY_LISTEN_SLOT] < 0 ? 0 : port_here;
}

void parity_call_begin(void)
{
	for (unsigned i = 0; i < PARITY_SLOTS; i++)
		fds[i] = i < PARITY_EPOLL_SLOT ? -1 : pair_epoll();
}

void parity_call_end(void)
{
	const struct linger reset = { .l_onoff = 1 };

	for (unsigned i = 0; i < PARITY_SLOTS; i++) {
		if (fds[i] < 0)
			continue;
		setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &reset,
			   sizeof(reset));
		close(fds[i]);
		fds[i] = -1;
	}
}

static void on_pipe(int sig)
{
	(void)sig;
	pipes++;
}

static void on_user(int sig)
{
	(void)sig;
}

void parity_call_signals(void)
{
	struct sigaction a = { .sa_handler = on_pipe, .sa_flags = SA_RESTART };

	sigaction(SIGPIPE, &a, NULL);
	a.sa_handler = on_user;
	sigaction(SIGUSR2, &a, NULL);
	a.sa_flags = 0;
	sigaction(SIGUSR1, &a, NULL);
}
