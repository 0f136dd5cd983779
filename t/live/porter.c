/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * porter - servers that send back what they read, on connections that come to
 * their process in unusual ways
 *
 *	porter inherited
 *
 * It accepts from descriptor 3, which listens.
 */
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INHERITED = 3, CONNS_MAX = 256, LEN = 2048 };

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

struct server {
	struct pollfd f[1 + CONNS_MAX];		/* first, where they come from */
	int n;
	int (*next)(int from);
};

static void add(struct server *s, int fd)
{
	if (s->n > CONNS_MAX)
		errx(1, "too many connections");
	s->f[s->n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

/* False: there is no connection @i any more. */
static bool turn(struct server *s, int i)
{
	char bytes[LEN];
	ssize_t n = read(s->f[i].fd, bytes, sizeof(bytes));

	if (n < 0)
		err(1, "read");
	if (n > 0) {
		put(s->f[i].fd, bytes, (size_t)n);
		return true;
	}
	close(s->f[i].fd);
	s->f[i] = s->f[--s->n];
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

static int accepted(int from)
{
	int one = 1, fd = accept(from, NULL, NULL);

	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		err(1, "accept");
	return fd;
}

int main(int argc, char **argv)
{
	static struct server s = { .next = accepted };

	if (argc == 2 && !strcmp(argv[1], "inherited"))
		serve(&s, INHERITED);
	errx(2, "usage: see the source");
}
