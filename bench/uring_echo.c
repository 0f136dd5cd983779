/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uring_echo - sends back what it receives, over sockets by io_uring: one system call
 * for all that is to be sent and received
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "option.h"

enum { ENTRIES = 1024, CHUNK = 65536, BACKLOG = 1024 };

struct peer {
	int fd;
	bool sends;			/* else it receives */
	size_t at, end;			/* of what came, and is to go back */
	char buf[CHUNK];
};

static struct io_uring ring;

/* If the queue is full, what is in it goes first. */
static struct io_uring_sqe *next_sqe(void)
{
	struct io_uring_sqe *sqe;

	while (!(sqe = io_uring_get_sqe(&ring)))
		io_uring_submit(&ring);
	return sqe;
}

static void receive(struct peer *p)
{
	struct io_uring_sqe *sqe = next_sqe();

	p->sends = false;
	io_uring_prep_recv(sqe, p->fd, p->buf, sizeof(p->buf), 0);
	io_uring_sqe_set_data(sqe, p);
}

static void send_back(struct peer *p)
{
	struct io_uring_sqe *sqe = next_sqe();

	p->sends = true;
	io_uring_prep_send(sqe, p->fd, p->buf + p->at, p->end - p->at,
			   MSG_NOSIGNAL);
	io_uring_sqe_set_data(sqe, p);
}

static void accept_next(int listener)
{
	struct io_uring_sqe *sqe = next_sqe();

	io_uring_prep_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
	io_uring_sqe_set_data(sqe, NULL);
}

static void welcome(int fd)
{
	struct peer *p = fd < 0 ? NULL : malloc(sizeof(*p));
	int one = 1;

	if (!p)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	p->fd = fd;
	receive(p);
}

static void done(struct peer *p, int n)
{
	if (n <= 0) {
		close(p->fd);
		free(p);
	} else if (!p->sends) {
		p->at = 0;
		p->end = (size_t)n;
		send_back(p);
	} else {
		p->at += (size_t)n;
		if (p->at < p->end)
			send_back(p);
		else
			receive(p);
	}
}

static void serve(int listener)
{
	struct io_uring_cqe *cqe;
	unsigned head, n;

	accept_next(listener);
	for (;;) {
		int err = io_uring_submit_and_wait(&ring, 1);

		if (err < 0 && err != -EINTR)
			option_fail(1, "io_uring: %s", strerror(-err));
		n = 0;
		io_uring_for_each_cqe(&ring, head, cqe) {
			struct peer *p = io_uring_cqe_get_data(cqe);

			n++;
			if (p) {
				done(p, cqe->res);
				continue;
			}
			welcome(cqe->res);
			accept_next(listener);
		}
		io_uring_cq_advance(&ring, n);
	}
}

static int listen_on(const char *host, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(port) };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (inet_pton(AF_INET, host, &a.sin_addr) != 1)
		option_fail(2, "--host %s: not an IPv4 address", host);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(fd, BACKLOG))
		option_fail(1, "%s port %u: %s", host, port, strerror(errno));
	return fd;
}

static void usage(FILE *to, int code)
{
	fputs("usage: bench/uring_echo --port P [--host A]\n"
	      "Sends back what it receives, over TCP sockets by io_uring, until it "
	      "is ended.\n", to);
	exit(code);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "host", 1, 0, 'h' }, { "port", 1, 0, 'p' },
		{ "help", 0, 0, 'H' }, { 0 },
	};
	const char *host = "0.0.0.0";
	uint16_t port = 0;
	int k, err;

	while ((k = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (k) {
		case 'h': host = optarg; break;
		case 'p':
			port = (uint16_t)option_number("port", optarg, 1, 65535);
			break;
		case 'H': usage(stdout, 0); break;
		default: usage(stderr, 2);
		}
	if (optind != argc || !port)
		usage(stderr, 2);
	err = io_uring_queue_init(ENTRIES, &ring, 0);
	if (err)
		option_fail(1, "io_uring: %s", strerror(-err));
	serve(listen_on(host, port));
	return 1;
}
