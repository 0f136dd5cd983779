/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privilege - a Redis client that gives up its privilege and goes on
 *
 *   privilege HOST PORT user    at SIGUSR1, it becomes user 65534
 *   privilege HOST PORT bpf     ... it may not call bpf() any more: so it is
 *                               for such a user before Linux 5.19
 *
 * It pings over one connection, and behind SIGUSR1 over a second one, too.
 * "so-far PORT answers N" says how many answers there were.  SIGTERM ends it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../filter.h"
#include "../../posix/client.h"

enum { PAUSE_US = 20000, PATIENCE_S = 30, USER = 65534 };

static volatile sig_atomic_t asked, ended;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		asked = 1;
	else
		ended = 1;
}

/* In all threads. */
static void deny_bpf(void)
{
	if (!filter_refuse(SYS_bpf, 0, 0, EPERM, SECCOMP_FILTER_FLAG_TSYNC))
		client_fail("seccomp: %s", strerror(errno));
}

static void become_user(void)
{
	if (setresgid(USER, USER, USER) || setresuid(USER, USER, USER))
		client_fail("setresuid: %s", strerror(errno));
}

static void ping(int fd)
{
	static const char question[] = "PING\r\n", expected[] = "+PONG\r\n";
	char answer[sizeof(expected) - 1];
	ssize_t k;

	if (send(fd, question, sizeof(question) - 1, MSG_NOSIGNAL) !=
	    sizeof(question) - 1)
		client_fail("send: %s", strerror(errno));
	/* Where there is a patience, SA_RESTART does not help. */
	k = TEMP_FAILURE_RETRY(recv(fd, answer, sizeof(answer), MSG_WAITALL));
	if (k != sizeof(answer))
		client_fail("recv: %s", strerror(errno));
	if (memcmp(answer, expected, sizeof(answer)))
		client_fail("a wrong answer");
}

static int dial(const char *host, uint16_t port)
{
	int fd = client_dial(host, port, false);

	client_patience(fd, PATIENCE_S);
	return fd;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal,
				.sa_flags = SA_RESTART };
	unsigned long answers = 0;
	int first, second = -1;
	uint16_t port;

	if (argc != 4)
		client_fail("use: privilege HOST PORT user|bpf");
	port = (uint16_t)client_number("a port", argv[2], 1, UINT16_MAX);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	first = dial(argv[1], port);
	while (!ended) {
		if (asked && second < 0) {
			if (!strcmp(argv[3], "bpf"))
				deny_bpf();
			else
				become_user();
			second = dial(argv[1], port);
		}
		ping(first);
		if (second >= 0)
			ping(second);
		answers += second < 0 ? 1 : 2;
		printf("so-far %u answers %lu\n", port, answers);
		usleep(PAUSE_US);
	}
	return 0;
}
