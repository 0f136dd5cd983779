/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stack within libevent's loop: returns messages, and ends at the end of
 * standard input.
 *
 *   libevent_server ADDRESS PORT
 *
 * With TUX_UDP=INTERFACE, over UDP sockets there: that takes no privilege.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include <tux.h>

static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		while (tux_send(c, m[i].p, m[i].len, m[i].flags) == -EAGAIN)
			tux_sleep(50000);
}

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
					       TUX_BACKEND_XDP,
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
