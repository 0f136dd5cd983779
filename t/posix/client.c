/* SPDX-License-Identifier: BSD-2-Clause */
#include "client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { NO_WAY_MS = 10000 };	/* links of the tests are down for less */

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

bool client_no_way(int err)
{
	return err == ENETUNREACH || err == EHOSTUNREACH || err == ENETDOWN;
}

socklen_t client_name(struct sockaddr_storage *a, const char *host,
		      uint16_t port)
{
	struct sockaddr_in6 *v6 = (void *)a;
	struct sockaddr_in *v4 = (void *)a;

	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
		client_fail("%s: not an address", host);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	return sizeof(*v6);
}

/* A descriptor, or -errno. */
static int dial(const struct sockaddr_storage *a, socklen_t len, int kind)
{
	int fd = socket(a->ss_family, kind, 0), one = 1, err;

	if (fd < 0)
		client_fail("socket: %s", strerror(errno));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!connect(fd, (const void *)a, len) || errno == EINPROGRESS)
		return fd;
	err = errno;
	close(fd);
	return -err;
}

int client_dial(const char *host, uint16_t port, bool nonblock)
{
	int kind = SOCK_STREAM | SOCK_CLOEXEC | (nonblock ? SOCK_NONBLOCK : 0);
	struct sockaddr_storage a;
	socklen_t len = client_name(&a, host, port);
	uint64_t until = client_now() + NO_WAY_MS;
	int fd;

	while ((fd = dial(&a, len, kind)) < 0) {
		if (!client_no_way(-fd) || client_now() > until)
			client_fail("connect to port %u: %s", port,
				    strerror(-fd));
		poll(NULL, 0, 100);
	}
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
