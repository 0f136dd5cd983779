/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the stack in an epoll loop of the program.  Sends every message back to
 * the client that sent it, and ends at the end of standard input.
 *
 *   epoll_server ADDRESS PORT
 *
 * Prints the port, which the kernel chooses if PORT is 0.
 *
 * Packets go over AF_XDP, or over UDP sockets if tuxd(8) is there.  If the
 * environment variable TUX_UDP names an interface, they go over UDP sockets on
 * that interface, which need nothing: TUX_UDP=lo for a try on one host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <tux.h>

/* While there is no room, the callback waits.  It runs in a routine, so other
 * connections, and loop(), go on meanwhile. */
static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		if (tux_send_wait(c, m[i].p, m[i].len, m[i].flags, TUX_FOREVER))
			return;		/* the connection has ended */
}

static void watch(int epfd, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &e)) {
		perror("epoll_ctl");
		exit(1);
	}
}

/* A timer of the stack makes tux_fd() readable, too, so epoll_wait() needs no
 * timeout. */
static void loop(struct tux *t, int epfd)
{
	struct epoll_event e;
	char buf[256];

	for (;;) {
		int n = epoll_wait(epfd, &e, 1, -1);

		if (n == 1 && e.data.fd == tux_fd(t))
			tux_turn(t);
		else if (n == 1 && read(0, buf, sizeof(buf)) <= 0)
			return;
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
	int epfd = epoll_create1(EPOLL_CLOEXEC);
	struct tux_service *s;
	struct tux *t;

	if (argc != 3 || tux_open(&t, &o) || tux_service_new(t, &s)) {
		fputs("usage: epoll_server ADDRESS PORT\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	tux_on_message(s, on_message, NULL);
	if (tux_listen(s, argv[1], (uint16_t)atoi(argv[2]))) {
		fputs("epoll_server: cannot listen there\n", stderr);
		return 1;
	}
	printf("port %d\n", tux_port(s));
	watch(epfd, 0);
	watch(epfd, tux_fd(t));
	loop(t, epfd);
	tux_close(t);
	close(epfd);
	return 0;
}
