/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Has a poll() loop and a listener of its own, as many servers do, and hands
 * each connection over to the stack.  Writes every byte back to the client that
 * sent it, and ends at the end of standard input.
 *
 *   attach_server ADDRESS PORT
 *
 * Prints the port, which the kernel chooses if PORT is 0, and a line for each
 * connection that is gone.
 *
 * Packets go over AF_XDP, or over UDP sockets if tuxd(8) is there.  If the
 * environment variable TUX_UDP names an interface, they go over UDP sockets on
 * that interface, which need nothing: TUX_UDP=lo for a try on one host.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tux.h>

/* Takes a piece, and leaves the rest for the next call.  While there is no room,
 * it waits for that, instead of for more bytes. */
static void on_stream(struct tux_connection *c, void *arg)
{
	char buf[512];
	ssize_t k, n = tux_peek(c, buf, sizeof(buf));

	(void)arg;
	if (n == 0)
		tux_disconnect(c);
	if (n <= 0)
		return;
	k = tux_write(c, buf, (size_t)n);
	if (k > 0)
		tux_read(c, buf, (size_t)k);
	if (k < n)
		tux_watch(c, TUX_OUT);
}

static void on_room(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_watch(c, TUX_IN);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	(void)arg;
	printf("gone: %s\n", err ? strerror(err) : "done");
}

/* Announced before listen(), so that each peer is told that it may use Tux. */
static int listen_at(struct tux *t, const char *address, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (inet_pton(AF_INET, address, &a.sin_addr) != 1 ||
	    bind(fd, (struct sockaddr *)&a, len) || tux_announce(t, fd) ||
	    listen(fd, 128) || getsockname(fd, (struct sockaddr *)&a, &len)) {
		perror("attach_server");
		exit(1);
	}
	printf("port %d\n", ntohs(a.sin_port));
	return fd;
}

static void accept_one(struct tux_service *s, int listener)
{
	struct tux_connection *c;
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return;
	if (tux_attach(s, fd, NULL, &c))
		close(fd);
	else
		tux_watch(c, TUX_IN);
}

static void loop(struct tux *t, struct tux_service *s, int listener)
{
	struct pollfd p[3] = {
		{ 0, POLLIN, 0 },
		{ listener, POLLIN, 0 },
		{ tux_fd(t), POLLIN, 0 },
	};
	char buf[256];

	while (poll(p, 3, -1) >= 0) {
		if (p[0].revents && read(0, buf, sizeof(buf)) <= 0)
			return;
		if (p[1].revents)
			accept_one(s, listener);
		if (p[2].revents)
			tux_turn(t);
	}
}

int main(int argc, char **argv)
{
	struct tux_opts o = {
		.size = sizeof(o),
		.ifname = getenv("TUX_UDP"),
		.backend = getenv("TUX_UDP") ? TUX_BACKEND_UDP :
					       TUX_BACKEND_AUTO,
	};
	struct tux_service *s;
	struct tux *t;
	int listener;

	if (argc != 3 || tux_open(&t, &o) || tux_service_new(t, &s)) {
		fputs("usage: attach_server ADDRESS PORT\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	tux_on_stream(s, on_stream, NULL);
	tux_on_room(s, on_room, NULL);
	tux_on_gone(s, on_gone, NULL);
	listener = listen_at(t, argv[1], (uint16_t)atoi(argv[2]));
	loop(t, s, listener);
	tux_close(t);
	close(listener);
	return 0;
}
