/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends every message back to the client that sent it.  Ends on SIGTERM.
 *
 *   message_server ADDRESS PORT
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

/* While there is no room, the callback waits.  It runs in a routine, so other
 * connections go on meanwhile. */
static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		if (tux_send_wait(c, m[i].p, m[i].len, m[i].flags, TUX_FOREVER))
			return;		/* gone tells why */
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
		fputs("usage: message_server ADDRESS PORT\n", stderr);
		return 2;
	}
	signal(SIGTERM, on_term);
	setvbuf(stdout, NULL, _IOLBF, 0);
	tux_on_message(s, on_message, NULL);
	tux_on_gone(s, on_gone, NULL);
	err = tux_listen(s, argv[1], (uint16_t)atoi(argv[2]));
	if (!err) {
		printf("port %d\n", tux_port(s));
		err = tux_run(stack);
	}
	tux_close(stack);
	if (err)
		fprintf(stderr, "message_server: %s\n", strerror(-err));
	return err != 0;
}
