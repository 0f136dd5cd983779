/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the stack in the loop of libevent.  Sends every message back to the
 * client that sent it, and ends at the end of standard input.
 *
 *   libevent_server ADDRESS PORT
 *
 * Prints the port, which the kernel chooses if PORT is 0.
 *
 * Packets go over AF_XDP, or over UDP sockets if tuxd(8) is there.  If the
 * environment variable TUX_UDP names an interface, they go over UDP sockets on
 * that interface, which need nothing: TUX_UDP=lo for a try on one host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include <tux.h>

/* While there is no room, the callback waits.  It runs in a routine, so other
 * connections, and the loop, go on meanwhile. */
static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		if (tux_send_wait(c, m[i].p, m[i].len, m[i].flags, TUX_FOREVER))
			return;		/* the connection has ended */
}

/* tux_fd() is readable: the stack has something to do. */
static void on_ready(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	tux_turn(arg);
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
	char buf[256];

	(void)what;
	if (read(fd, buf, sizeof(buf)) <= 0)
		event_base_loopbreak(arg);
}

int main(int argc, char **argv)
{
	struct tux_opts o = {
		.size = sizeof(o),
		.ifname = getenv("TUX_UDP"),
		.backend = getenv("TUX_UDP") ? TUX_BACKEND_UDP :
					       TUX_BACKEND_AUTO,
	};
	struct event_base *base = event_base_new();
	struct event *input, *ready;
	struct tux_service *s;
	struct tux *t;

	if (argc != 3 || tux_open(&t, &o) || tux_service_new(t, &s)) {
		fputs("usage: libevent_server ADDRESS PORT\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	tux_on_message(s, on_message, NULL);
	if (tux_listen(s, argv[1], (uint16_t)atoi(argv[2]))) {
		fputs("libevent_server: cannot listen there\n", stderr);
		return 1;
	}
	printf("port %d\n", tux_port(s));
	input = event_new(base, 0, EV_READ | EV_PERSIST, on_input, base);
	ready = event_new(base, tux_fd(t), EV_READ | EV_PERSIST, on_ready, t);
	event_add(input, NULL);
	event_add(ready, NULL);
	event_base_dispatch(base);
	event_free(ready);
	event_free(input);
	tux_close(t);
	event_base_free(base);
	return 0;
}
