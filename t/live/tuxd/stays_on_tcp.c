/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stays_on_tcp - connections that their program keeps on TCP after the handshake
 *
 *   stays_on_tcp serve ADDR PORT [WORD]   echoes bytes of one connection at a time
 *   stays_on_tcp ask ADDR PORT [WORD]     sends a byte every 20 ms, and reads it
 *
 * Each ends with its connection, or when it is ended.  Words:
 *   pin     sets an option that needs the kernel's own stream
 *   files   leaves a number for one more descriptor, which the library has use
 *           for, and none for the next
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVERY_US = 20000 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void stay(int fd, const char *word)
{
	struct rlimit files = { (rlim_t)fd + 2, (rlim_t)fd + 2 };
	int on = 1;

	if (!strcmp(word, "pin") &&
	    setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)))
		die("SO_ZEROCOPY");
	if (!strcmp(word, "files") && setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit");
}

static struct sockaddr_in address(char **argv)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(argv[1])),
	};

	if (inet_pton(AF_INET, argv[0], &sin.sin_addr) != 1)
		die("address");
	return sin;
}

static void serve(int fd, char **argv, const char *word)
{
	struct sockaddr_in sin = address(argv);
	int on = 1, conn;
	ssize_t n;
	char c;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (void *)&sin, sizeof(sin)) || listen(fd, 5))
		die("listen");
	while ((conn = accept(fd, NULL, NULL)) >= 0) {
		stay(conn, word);
		while ((n = read(conn, &c, 1)) == 1 && write(conn, &c, 1) == 1)
			;
		close(conn);
	}
	die("accept");
}

static void ask(int fd, char **argv, const char *word)
{
	struct sockaddr_in sin = address(argv);
	char c = 'x';

	if (connect(fd, (void *)&sin, sizeof(sin)))
		die("connect");
	stay(fd, word);
	while (write(fd, &c, 1) == 1 && read(fd, &c, 1) == 1) {
		putchar(c);
		fflush(stdout);
		usleep(EVERY_US);
	}
}

int main(int argc, char **argv)
{
	const char *word = argc > 4 ? argv[4] : "";
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (argc < 4 || fd < 0)
		return 2;
	if (!strcmp(argv[1], "serve"))
		serve(fd, argv + 2, word);
	else
		ask(fd, argv + 2, word);
	return 0;
}
