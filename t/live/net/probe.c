/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe - numbered UDP datagrams, and what became of them
 *
 *   probe listen ADDR PORT SECONDS [N] counts until N have come, or none for so
 *                                      long
 *   probe send ADDR PORT N PAUSE_US [FROM_PORT]
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { NUMBERS = 1 << 20, SIZE = 400 };

static uint8_t seen[NUMBERS];

static void fill(uint8_t *p, uint32_t n)
{
	uint32_t i;

	memcpy(p, &n, 4);
	for (i = 4; i < SIZE; i++)
		p[i] = (uint8_t)((n * 2654435761u >> 24) + i);
}

/* A process that has been stopped and continued is interrupted. */
static ssize_t take(int fd, uint8_t *p, size_t room)
{
	return TEMP_FAILURE_RETRY(recv(fd, p, room, 0));
}

static void count(int fd, uint32_t most)
{
	uint32_t got = 0, doubled = 0, late = 0, wrong = 0, distinct = 0;
	uint32_t top = 0, n;
	uint8_t p[2048], want[SIZE];
	ssize_t len;

	puts("ready");
	fflush(stdout);
	while (got < most && (len = take(fd, p, sizeof(p))) >= 0) {
		got++;
		memcpy(&n, p, 4);
		fill(want, n);
		if (len != SIZE || n >= NUMBERS || memcmp(p, want, SIZE)) {
			wrong++;
			continue;
		}
		doubled += seen[n];
		distinct += !seen[n];
		late += n < top && !seen[n];
		seen[n] = 1;
		top = n > top ? n : top;
	}
	printf("got %u distinct %u doubled %u late %u wrong %u\n", got,
	       distinct, doubled, late, wrong);
}

static void send_all(int fd, uint32_t n, long pause)
{
	struct timespec t = { .tv_nsec = pause * 1000 };
	uint8_t p[SIZE];
	uint32_t i;

	for (i = 0; i < n; i++) {
		fill(p, i);
		if (send(fd, p, SIZE, 0) < 0 && errno != ECONNREFUSED)
			perror("probe: send");
		if (pause)
			nanosleep(&t, NULL);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET }, from = a;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int room = 8 << 20, listens = argc > 4 && !strcmp(argv[1], "listen");
	struct timeval t = { 0 };

	if (argc < (listens ? 5 : 6) || argc > (listens ? 6 : 7) ||
	    inet_pton(AF_INET, argv[2], &a.sin_addr) != 1) {
		fputs("usage: probe listen ADDR PORT SECONDS [N]\n"
		      "       probe send ADDR PORT N PAUSE_US [FROM_PORT]\n",
		      stderr);
		return 2;
	}
	a.sin_port = htons((uint16_t)atoi(argv[3]));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (listens) {
		t.tv_sec = atoi(argv[4]);
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
		if (bind(fd, (void *)&a, sizeof(a))) {
			perror("probe: bind");
			return 1;
		}
		count(fd, argc == 6 ? (uint32_t)atoi(argv[5]) : UINT32_MAX);
		return 0;
	}
	from.sin_port = htons((uint16_t)(argc == 7 ? atoi(argv[6]) : 0));
	if (bind(fd, (void *)&from, sizeof(from)) ||
	    connect(fd, (void *)&a, sizeof(a))) {
		perror("probe: connect");
		return 1;
	}
	send_all(fd, (uint32_t)atoi(argv[4]), atol(argv[5]));
	return 0;
}
