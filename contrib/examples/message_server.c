/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Returns every message that it gets.
 *
 *   message_server ADDRESS PORT
 *
 * With TUX_UDP=INTERFACE, over UDP sockets there: that takes no privilege.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tux.h>

static struct tux *stack;

/* Where there is no room, the routine waits; other connections go on. */
static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		while (tux_send(c, m[i].p, m[i].len, m[i].flags) == -EAGAIN)
			tux_sleep(50000);
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
