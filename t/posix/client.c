/* SPDX-License-Identifier: BSD-2-Clause */
#include "client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

uint64_t client_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void client_fail(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

int client_dial(const char *host, uint16_t port, bool nonblock)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};
	int kind = SOCK_STREAM | SOCK_CLOEXEC, one = 1;
	int fd = socket(AF_INET, nonblock ? kind | SOCK_NONBLOCK : kind, 0);

	if (fd < 0)
		client_fail("socket: %s", strerror(errno));
	if (inet_pton(AF_INET, host, &a.sin_addr) != 1)
		client_fail("%s: not an IPv4 address", host);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, (void *)&a, sizeof(a)) && errno != EINPROGRESS)
		client_fail("connect to port %u: %s", port, strerror(errno));
	return fd;
}

void client_connected(int fd)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		err = errno;
	if (err)
		client_fail("connect: %s", strerror(err));
}

void client_patience(int fd, unsigned seconds)
{
	struct timeval t = { .tv_sec = seconds };

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)))
		client_fail("setting a timeout: %s", strerror(errno));
}

uint64_t client_number(const char *what, const char *s, uint64_t min,
		       uint64_t max)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(s, &end, 10);
	if (errno || end == s || *end || n < min || n > max)
		client_fail("%s: %s is not a number from %llu to %llu", what,
			    s, (unsigned long long)min,
			    (unsigned long long)max);
	return n;
}
