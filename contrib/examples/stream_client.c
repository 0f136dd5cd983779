/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes each WORD as a line to a stream_server, and prints what comes back.
 * Ends its stream after the last line, and disconnects when the server has
 * ended the other one.
 *
 *   stream_client ADDRESS PORT WORD...
 *
 * Packets go over AF_XDP, or over UDP sockets if tuxd(8) is there.  If the
 * environment variable TUX_UDP names an interface, they go over UDP sockets on
 * that interface, which need nothing: TUX_UDP=lo for a try on one host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tux.h>

static char *text;		/* the lines that are not written yet */
static int result;		/* errno of the connection; 0: none */

/* Writes as much as there is room for.  This is the open callback, and the room
 * callback, which writes the rest. */
static void send_text(struct tux_connection *c, void *arg)
{
	ssize_t n;

	(void)arg;
	while (*text && (n = tux_write(c, text, strlen(text))) > 0)
		text += n;
	if (!*text)
		tux_shut(c);
}

static void on_stream(struct tux_connection *c, void *arg)
{
	char buf[4096];
	ssize_t n;

	(void)arg;
	while ((n = tux_read(c, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	if (n == 0)
		tux_disconnect(c);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)arg;
	result = err;
	tux_stop(tux_of(c));
}

/* One string of all words, a newline after each. */
static char *lines(char **words)
{
	char *p = NULL;
	size_t len;
	FILE *f = open_memstream(&p, &len);

	for (; *words; words++)
		fprintf(f, "%s\n", *words);
	fclose(f);
	return p;
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
		fputs("usage: stream_client ADDRESS PORT WORD...\n", stderr);
		return 2;
	}
	text = lines(argv + 3);
	tux_on_open(s, send_text, NULL);
	tux_on_room(s, send_text, NULL);
	tux_on_stream(s, on_stream, NULL);
	tux_on_gone(s, on_gone, NULL);
	result = -tux_connect(s, argv[1], (uint16_t)atoi(argv[2]), NULL, NULL);
	if (!result)
		tux_run(t);
	tux_close(t);
	if (result)
		fprintf(stderr, "stream_client: %s\n", strerror(result));
	return result != 0;
}
