/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork_server - a server that forks a process for each connection, and its client
 *
 *	fork_server serve ADDRESS PORT [keep]
 *	fork_server ask ADDRESS PORT CONNECTIONS ROUNDS [FILE]
 *
 * The server's children send back what they read.  With "keep", the parent keeps
 * its descriptor, too.  The client compares each byte, and says how many came.  It
 * goes on until there is FILE.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNS_MAX = 256, LEN = 200, PATIENCE = 60 };

static int tcp(void)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		err(1, "socket");
	return fd;
}

static struct sockaddr_in place(char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_port = htons((uint16_t)atoi(argv[1]));
	if (inet_pton(AF_INET, argv[0], &a.sin_addr) != 1)
		errx(1, "no address: %s", argv[0]);
	return a;
}

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

static void get(int fd, char *p, size_t n)
{
	while (n) {
		ssize_t k = read(fd, p, n);

		if (k <= 0)
			err(1, "read: %zd", k);
		p += k;
		n -= (size_t)k;
	}
}

/* ---- the server ------------------------------------------------------- */

static void echo(int fd)
{
	char buf[4 * LEN];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		put(fd, buf, (size_t)n);
	exit(n < 0);
}

static void serve(const struct sockaddr_in *a, int keep)
{
	int l = tcp();

	signal(SIGCHLD, SIG_IGN);
	if (bind(l, (const struct sockaddr *)a, sizeof(*a)) || listen(l, 64))
		err(1, "listen");
	for (;;) {
		int fd = accept(l, NULL, NULL);

		if (fd < 0)
			err(1, "accept");
		if (!fork()) {
			close(l);
			echo(fd);
		}
		if (!keep)
			close(fd);
	}
}

/* ---- the client ------------------------------------------------------- */

/* So many rounds, and then until there is a file @until, if not NULL. */
static void ask(const struct sockaddr_in *a, int conns, int rounds,
		const char *until)
{
	int fd[CONNS_MAX];
	size_t all = 0;

	alarm(PATIENCE);
	for (int i = 0; i < conns; i++) {
		fd[i] = tcp();
		if (connect(fd[i], (const struct sockaddr *)a, sizeof(*a)))
			err(1, "connect");
	}
	for (int r = 0; r < rounds || (until && access(until, F_OK)); r++) {
		for (int i = 0; i < conns; i++) {
			char out[LEN], in[LEN];
			size_t n = 1 + (size_t)(r * 7 + i) % LEN;

			memset(out, r + i, n);
			put(fd[i], out, n);
			get(fd[i], in, n);
			if (memcmp(out, in, n) != 0)
				errx(1, "connection %d, round %d: other bytes",
				     i, r);
			all += n;
		}
	}
	printf("%zu\n", all);
}

int main(int argc, char **argv)
{
	struct sockaddr_in a;

	if (argc < 4)
		errx(2, "usage: see the source");
	a = place(argv + 2);
	if (!strcmp(argv[1], "serve"))
		serve(&a, argc > 4);
	if (argc < 6 || atoi(argv[4]) > CONNS_MAX)
		errx(2, "usage: see the source");
	ask(&a, atoi(argv[4]), atoi(argv[5]), argc > 6 ? argv[6] : NULL);
	return 0;
}
