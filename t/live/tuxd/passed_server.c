/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * passed_server - servers that send back what they read, on connections that come to
 * their process in unusual ways
 *
 *	passed_server inherited
 *	passed_server serve ADDRESS PORT WORKERS [AFTER [keep]]
 *	passed_server send ADDRESS PORT PATH
 *	passed_server work PATH
 *
 * The first accepts from descriptor 3, which listens.  The second accepts, and
 * sends each connection to a child, by SCM_RIGHTS: at once, or when it has
 * answered AFTER reads.  With "keep", it keeps its descriptors, too.  The third
 * sends them to a process of another family, the fourth, by a Unix socket at
 * PATH.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { INHERITED = 3, CONNS_MAX = 256, WORKERS_MAX = 16, LEN = 2048 };

static void put(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k <= 0)
			err(1, "write");
		p += k;
		n -= (size_t)k;
	}
}

/* ---- descriptors in messages ------------------------------------------ */

union space {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* With @n bytes that were read from @fd, and not answered yet. */
static void pass(int to, int fd, char *bytes, size_t n)
{
	union space space = { 0 };
	char word = 'c';
	struct iovec iov[] = { { &word, 1 }, { bytes, n } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2,
		.msg_control = &space, .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(to, &m, 0) != (ssize_t)n + 1)
		err(1, "sendmsg");
}

static int passed(int from)
{
	char bytes[LEN];
	union space space;
	struct iovec iov = { bytes, sizeof(bytes) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &space, .msg_controllen = sizeof(space) };
	ssize_t n = recvmsg(from, &m, 0);
	int fd;

	if (n == 0)
		exit(0);
	if (n < 0 || !CMSG_FIRSTHDR(&m))
		err(1, "recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	put(fd, bytes + 1, (size_t)n - 1);
	return fd;
}

/* ---- serving ---------------------------------------------------------- */

struct server {
	struct pollfd f[1 + CONNS_MAX];		/* first, where they come from */
	int reads[1 + CONNS_MAX];		/* of each */
	int n;
	int (*next)(int from);
	bool (*take)(struct server *s, int i, char *bytes, size_t n);
	int after;
	bool keep;
	int worker[WORKERS_MAX], worker_n, turn;
};

static void add(struct server *s, int fd)
{
	if (s->n > CONNS_MAX)
		errx(1, "too many connections");
	s->f[s->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	s->reads[s->n++] = 0;
}

static void drop(struct server *s, int i)
{
	s->n--;
	s->f[i] = s->f[s->n];
	s->reads[i] = s->reads[s->n];
}

static bool answer(struct server *s, int i, char *bytes, size_t n)
{
	put(s->f[i].fd, bytes, n);
	return true;
}

/* False: there is no connection @i any more. */
static bool turn(struct server *s, int i)
{
	char bytes[LEN];
	ssize_t n = read(s->f[i].fd, bytes, sizeof(bytes) - 1);

	if (n < 0)
		err(1, "read");
	if (n > 0)
		return s->take(s, i, bytes, (size_t)n);
	close(s->f[i].fd);
	drop(s, i);
	return false;
}

static void serve(struct server *s, int from)
{
	add(s, from);
	for (;;) {
		if (poll(s->f, (nfds_t)s->n, -1) < 0)
			err(1, "poll");
		for (int i = 1; i < s->n; i++)
			if (s->f[i].revents && !turn(s, i))
				i--;
		if (s->f[0].revents)
			add(s, s->next(s->f[0].fd));
	}
}

/* ---- accepting, and sending ------------------------------------------- */

static int accepted(int from)
{
	int one = 1, fd = accept(from, NULL, NULL);

	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		err(1, "accept");
	return fd;
}

static void hand_on(struct server *s, int fd, char *bytes, size_t n)
{
	pass(s->worker[s->turn++ % s->worker_n], fd, bytes, n);
	if (!s->keep)
		close(fd);
}

/* Until it has answered enough reads. */
static bool answer_first(struct server *s, int i, char *bytes, size_t n)
{
	if (s->reads[i]++ < s->after)
		return answer(s, i, bytes, n);
	hand_on(s, s->f[i].fd, bytes, n);
	drop(s, i);
	return false;
}

static int listener(char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_port = htons((uint16_t)atoi(argv[1]));
	if (inet_pton(AF_INET, argv[0], &a.sin_addr) != 1)
		errx(1, "no address: %s", argv[0]);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 64))
		err(1, "listen");
	return fd;
}

static void work(int from)
{
	static struct server s = { .next = passed, .take = answer };

	serve(&s, from);
}

static void lead(struct server *s, int l)
{
	if (s->after) {
		s->next = accepted;
		s->take = answer_first;
		serve(s, l);
	}
	for (;;)
		hand_on(s, accepted(l), NULL, 0);
}

static void lead_children(struct server *s, int l, int workers)
{
	int pair[2];

	while (s->worker_n < workers) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
			err(1, "socketpair");
		if (!fork()) {
			close(l);
			close(pair[0]);
			work(pair[1]);
		}
		close(pair[1]);
		s->worker[s->worker_n++] = pair[0];
	}
	lead(s, l);
}

/* ---- strangers -------------------------------------------------------- */

static int at_path(const char *path, struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strncpy(a->sun_path, path, sizeof(a->sun_path) - 1);
	if (fd < 0)
		err(1, "socket");
	return fd;
}

static void work_for(const char *path)
{
	struct sockaddr_un a;
	int l = at_path(path, &a), fd;

	if (bind(l, (struct sockaddr *)&a, sizeof(a)) || listen(l, 1))
		err(1, "listen");
	fd = accept(l, NULL, NULL);
	if (fd < 0)
		err(1, "accept");
	work(fd);
}

static void lead_stranger(struct server *s, int l, const char *path)
{
	struct sockaddr_un a;
	int fd = at_path(path, &a);

	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		err(1, "connect");
	s->worker[s->worker_n++] = fd;
	lead(s, l);
}

int main(int argc, char **argv)
{
	static struct server s = { .next = accepted, .take = answer };
	const char *how = argc > 1 ? argv[1] : "";

	signal(SIGCHLD, SIG_IGN);
	if (!strcmp(how, "inherited")) {
		serve(&s, INHERITED);
	} else if (!strcmp(how, "work") && argc == 3) {
		work_for(argv[2]);
	} else if (!strcmp(how, "send") && argc == 5) {
		lead_stranger(&s, listener(argv + 2), argv[4]);
	} else if (!strcmp(how, "serve") && argc >= 5 &&
		   atoi(argv[4]) <= WORKERS_MAX) {
		s.after = argc > 5 ? atoi(argv[5]) : 0;
		s.keep = argc > 6;
		lead_children(&s, listener(argv + 2), atoi(argv[4]));
	}
	errx(2, "usage: see the source");
}
