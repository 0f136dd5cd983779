/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Returns every byte that it gets, to clients with Tux and to any others.
 *
 *   stream_server ADDRESS PORT
 *
 * With TUX_UDP=INTERFACE, over UDP sockets there: that takes no privilege.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tux.h>

static struct tux *stack;

/* What cannot be written is not read: it is peeked at first.  The room callback
 * is this one, too. */
static void echo(struct tux_connection *c, void *arg)
{
	char buf[16384];
	ssize_t n, k;

	(void)arg;
	while ((n = tux_peek(c, buf, sizeof(buf))) > 0) {
		k = tux_write(c, buf, (size_t)n);
		if (k <= 0)
			return;
		tux_read(c, buf, (size_t)k);
	}
	if (n == 0)
		tux_disconnect(c);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	(void)arg;
	printf("gone: %s\n", err ? strerror(err) : "done");
}

static void on_term(int sig)
{
	(void)sig;
	tux_stop(stack);
}

int main(int argc, char **argv)
{
	struct tux_opts o = {
		.size = sizeof(o),
		.ifname = getenv("TUX_UDP"),
		.backend = getenv("TUX_UDP") ? TUX_BACKEND_UDP :
					       TUX_BACKEND_XDP,
	};
	struct tux_service *s;
	int err;

	if (argc != 3 || tux_open(&stack, &o) || tux_service_new(stack, &s)) {
		fputs("usage: stream_server ADDRESS PORT\n", stderr);
		return 2;
	}
	signal(SIGTERM, on_term);
	setvbuf(stdout, NULL, _IOLBF, 0);
	tux_on_stream(s, echo, NULL);
	tux_on_room(s, echo, NULL);
	tux_on_gone(s, on_gone, NULL);
	err = tux_listen(s, argv[1], (uint16_t)atoi(argv[2]));
	if (!err) {
		printf("port %d\n", tux_port(s));
		err = tux_run(stack);
	}
	tux_close(stack);
	if (err)
		fprintf(stderr, "stream_server: %s\n", strerror(-err));
	return err != 0;
}
