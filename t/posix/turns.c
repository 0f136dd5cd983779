/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turns - asks Redis one question after another on one connection
 *
 *	turns [ADDRESS:]PORT [COUNT KEY]...
 *
 * The address is of IPv4, by default 127.0.0.1.
 * Each value must consist of x only.  Prints how many bytes of values came.
 * With the key "-", waits for COUNT milliseconds; with "+", asks for no value
 * but goes on with a new connection, COUNT times.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char buf[1 << 16];
static size_t have, at;

static struct sockaddr_in server(const char *word)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	const char *colon = strchr(word, ':');
	char address[INET_ADDRSTRLEN] = "";

	if (colon && (size_t)(colon - word) < sizeof(address)) {
		memcpy(address, word, (size_t)(colon - word));
		if (inet_pton(AF_INET, address, &sa.sin_addr) != 1)
			errx(2, "no address: %s", address);
	}
	sa.sin_port = htons((uint16_t)atoi(colon ? colon + 1 : word));
	return sa;
}

static int dial(const struct sockaddr_in *sa)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)sa, sizeof(*sa)))
		err(1, "connect");
	return fd;
}

static char next(int fd)
{
	if (at == have) {
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n <= 0)
			err(1, "read");
		have = (size_t)n;
		at = 0;
	}
	return buf[at++];
}

static size_t length(int fd)
{
	size_t n = 0;
	char c;

	if (next(fd) != '$')
		errx(1, "no value");
	while ((c = next(fd)) != '\r')
		n = n * 10 + (size_t)(c - '0');
	next(fd);
	return n;
}

static size_t ask(int fd, const char *key)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "GET %s\r\n", key);
	size_t i, n;

	if (write(fd, line, (size_t)len) != len)
		err(1, "write");
	n = length(fd);
	for (i = 0; i < n; i++)
		if (next(fd) != 'x')
			errx(1, "another value");
	next(fd);
	next(fd);
	return n;
}

int main(int argc, char **argv)
{
	struct sockaddr_in sa;
	size_t sum = 0;
	int fd, i, n;

	if (argc < 2)
		errx(2, "usage: turns [ADDRESS:]PORT [COUNT KEY]...");
	sa = server(argv[1]);
	fd = dial(&sa);
	for (i = 2; i + 1 < argc; i += 2) {
		n = atoi(argv[i]);
		if (!strcmp(argv[i + 1], "-")) {
			usleep((useconds_t)n * 1000);
			continue;
		}
		for (; n; n--) {
			if (strcmp(argv[i + 1], "+") != 0) {
				sum += ask(fd, argv[i + 1]);
				continue;
			}
			close(fd);
			fd = dial(&sa);
		}
	}
	printf("%zu\n", sum);
	return 0;
}
