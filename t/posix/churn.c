/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short connections by many threads: each carries its own bytes, however it
 * ends, and nothing of it is left behind.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum { THREADS = 4, ROUNDS = 150, MOST = 3000 };

static uint16_t port;
static _Atomic int done, wrong;

static bool transfer(int fd, char *buf, size_t len, bool out)
{
	for (size_t at = 0; at < len; ) {
		ssize_t n = out ? write(fd, buf + at, len - at) :
			    read(fd, buf + at, len - at);

		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

/* Echoes until the end, through a duplicate now and then. */
static void serve(int fd)
{
	char buf[512];
	ssize_t n;

	for (int i = 0; (n = read(fd, buf, sizeof(buf))) > 0; i++) {
		if (i % 8 == 3) {
			int copy = dup(fd);

			close(fd);
			fd = copy;
		}
		if (!transfer(fd, buf, (size_t)n, true))
			break;
	}
	close(fd);
}

static void *server(void *arg)
{
	int l = *(int *)arg, one = 1;

	while (!done) {
		int fd = accept(l, NULL, NULL);

		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		serve(fd);
	}
	return NULL;
}

static int dial(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons(port);
	if (connect(fd, (void *)&a, sizeof(a))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void converse(int fd, unsigned *seed)
{
	static const struct linger reset = { 1, 0 };
	char out[MOST], in[MOST];
	int n = rand_r(seed) % 60;

	for (int i = 0; i < n; i++) {
		size_t len = (size_t)(1 + rand_r(seed) % MOST);

		for (size_t k = 0; k < len; k++)
			out[k] = (char)rand_r(seed);
		if (!transfer(fd, out, len, true) ||
		    !transfer(fd, in, len, false) || memcmp(in, out, len))
			wrong++;
	}
	if (n % 5 == 0)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	if (n % 3 == 0)
		shutdown(fd, SHUT_WR);
}

static void *client(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		int fd = dial();

		if (fd < 0) {
			wrong++;
			continue;
		}
		converse(fd, &seed);
		close(fd);
	}
	return NULL;
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Lingering connections keep a descriptor each for a while. */
static int descriptors_after(int before)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	int n;

	while ((n = descriptors()) > before && pair_ms() < end)
		poll(NULL, 0, 50);
	return n;
}

static void run(int l)
{
	pthread_t s[THREADS], c[THREADS];

	done = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&s[i], NULL, server, &l);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&c[i], NULL, client, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(c[i], NULL);
	done = 1;
	/* Each server thread waits for one more connection. */
	for (int i = 0; i < THREADS; i++)
		close(dial());
	for (int i = 0; i < THREADS; i++)
		pthread_join(s[i], NULL);
}

static void churn(void)
{
	int l, before;

	signal(SIGPIPE, SIG_IGN);
	l = pair_listen(&port);
	fcntl(l, F_SETFL, 0);
	close(dial());
	close(accept(l, NULL, NULL));
	run(l);
	before = descriptors();
	run(l);
	CHECK(wrong == 0);
	CHECK(descriptors_after(before) <= before + 2 * THREADS);
	close(l);
}

/* Children come and go meanwhile, as when Redis saves. */
static void *forker(void *arg)
{
	(void)arg;
	while (!done) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
		poll(NULL, 0, 5);
	}
	return NULL;
}

static void churn_and_fork(void)
{
	pthread_t t;

	done = 0;
	pthread_create(&t, NULL, forker, NULL);
	churn();
	done = 1;
	pthread_join(t, NULL);
}

int main(void)
{
	pair_once("short connections, many threads", churn);
	pair_once("the same, with children", churn_and_fork);
	return pair_done();
}
