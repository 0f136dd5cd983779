/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends each WORD as a message to a message_server, and prints the answers.
 * Disconnects when it has one answer for each word.  It waits for ever for a
 * server that has no Tux: a settled callback would be told of that, see
 * tux_send(3).
 *
 *   message_client ADDRESS PORT WORD...
 *
 * Packets go over AF_XDP, or over UDP sockets if tuxd(8) is there.  If the
 * environment variable TUX_UDP names an interface, they go over UDP sockets on
 * that interface, which need nothing: TUX_UDP=lo for a try on one host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tux.h>

static char **words;		/* the next word to send; NULL ends them */
static int answers;		/* that have not arrived yet */
static int result;		/* errno of the connection; 0: none */

/* Sends as many words as there is room for.  This is the open callback, and the
 * room callback, which sends the rest. */
static void send_words(struct tux_connection *c, void *arg)
{
	(void)arg;
	while (*words && !tux_send(c, *words, strlen(*words), TUX_ORDERED))
		words++;
}

static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		printf("%.*s\n", (int)m[i].len, (const char *)m[i].p);
	answers -= (int)n;
	if (!answers)
		tux_disconnect(c);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)arg;
	result = err;
	tux_stop(tux_of(c));
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

	if (argc < 4 || tux_open(&t, &o) || tux_service_new(t, &s)) {
		fputs("usage: message_client ADDRESS PORT WORD...\n", stderr);
		return 2;
	}
	words = argv + 3;
	answers = argc - 3;
	tux_on_open(s, send_words, NULL);
	tux_on_room(s, send_words, NULL);
	tux_on_message(s, on_message, NULL);
	tux_on_gone(s, on_gone, NULL);
	result = -tux_connect(s, argv[1], (uint16_t)atoi(argv[2]), NULL, NULL);
	if (!result)
		tux_run(t);
	tux_close(t);
	if (result)
		fprintf(stderr, "message_client: %s\n", strerror(result));
	return result != 0;
}
