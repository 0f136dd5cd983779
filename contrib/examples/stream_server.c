/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes every byte back to the client that sent it.  Clients with and without
 * Tux are served alike.  Ends on SIGTERM.
 *
 *   stream_server ADDRESS PORT
 *
 * Prints the port, which the kernel chooses if PORT is 0, and a line for each
 * connection that is gone.
 *
 * Packets go over AF_XDP, or over UDP sockets if tuxd(8) is there.  If the
 * environment variable TUX_UDP names an interface, they go over UDP sockets on
 * that interface, which need nothing: TUX_UDP=lo for a try on one host.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tux.h>

static struct tux *stack;

/* Waits for room, in its routine: other connections go on meanwhile. */
static void echo(struct tux_connection *c, void *arg)
{
	char buf[16384];
	ssize_t n;

	(void)arg;
	while ((n = tux_read(c, buf, sizeof(buf))) > 0)
		if (tux_write_wait(c, buf, (size_t)n, TUX_FOREVER) != n)
			return;		/* gone tells why */
	if (n == 0)
		tux_disconnect(c);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	(void)arg;
	printf("gone: %s\n", err ? strerror(err) : "done");
}

/* tux_stop() is one of the calls that a signal handler may make. */
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
					       TUX_BACKEND_AUTO,
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
