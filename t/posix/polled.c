/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that never wait: they ask their sockets again and again.  Over TCP each
 * such call sees what has come.  So it does on Tux: the call runs the loop, and no
 * other thread has to be woken for each datagram.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum {
	FIRST = 500,		/* turns, after which the connection may be on Tux */
	TURNS = 4000,
};

static int silent;		/* an end of another connection, on which nothing comes */

/* ---- other threads ------------------------------------------------------ */

/* How often thread @tid of this process has gone to sleep. */
static unsigned long naps_of(const char *tid)
{
	char name[320], line[128];
	unsigned long n = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%s/status", tid);
	f = fopen(name, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "voluntary_ctxt_switches: %lu", &n);
	if (f)
		fclose(f);
	return n;
}

/* ... all but the first. */
static unsigned long naps(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned long sum = 0;
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && atoi(e->d_name) != getpid())
			sum += naps_of(e->d_name);
	if (d)
		closedir(d);
	return sum;
}

/* Does a thread of the library run the loop?  It has to be woken, or spins. */
static bool loop_has_a_thread(void)
{
	const char *mode = getenv("TUX_MODE");

	return mode && strncmp(mode, "threads", 7) == 0;
}

/* ---- asking ------------------------------------------------------------- */

static ssize_t by_recv(int fd, char *c)
{
	return recv(fd, c, 1, MSG_DONTWAIT);
}

static ssize_t by_read(int fd, char *c)
{
	return read(fd, c, 1);
}

/* As a server does that asks all its connections in turn. */
static ssize_t in_turn(int fd, char *c)
{
	return recv(silent, c, 1, MSG_DONTWAIT) == 1 ? -1 : by_recv(fd, c);
}

static ssize_t waiting(int fd, char *c)
{
	struct pollfd p = { fd, POLLIN, 0 };

	poll(&p, 1, PAIR_PATIENCE_MS);
	return read(fd, c, 1);
}

typedef ssize_t receive_fn(int fd, char *c);

static bool receives(int fd, receive_fn *fn)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	ssize_t k;
	char c;

	do {
		k = fn(fd, &c);
	} while (k < 0 && errno == EAGAIN && pair_ms() < end);
	return k == 1;
}

static bool asks(int fd, int turns, receive_fn *fn)
{
	bool ok = true;
	int i;

	for (i = 0; ok && i < turns; i++) {
		pair_poke(fd);
		ok = receives(fd, fn);
	}
	return ok;
}

/* ---- cases -------------------------------------------------------------- */

/* Another process, which sends back what it gets until there is no more. */
static pid_t echo(uint16_t port)
{
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = pair_dial(port);
	while (receives(fd, waiting))
		pair_poke(fd);
	_exit(0);
}

static void asks_again_and_again(receive_fn *fn)
{
	unsigned long before, slept;
	uint16_t port;
	int fd, l = pair_listen(&port);
	pid_t pid = echo(port);
	struct pollfd p = { l, POLLIN, 0 };

	CHECK(poll(&p, 1, PAIR_PATIENCE_MS) == 1);
	fd = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	CHECK(asks(fd, FIRST, waiting));
	before = naps();
	CHECK(asks(fd, TURNS, fn));
	slept = naps() - before;
	printf("# %lu naps of other threads in %d turns\n", slept, TURNS);
	CHECK(loop_has_a_thread() || slept < TURNS / 4);
	close(fd);
	waitpid(pid, NULL, 0);
	close(l);
}

static void recv_alone(void)
{
	asks_again_and_again(by_recv);
}

static void read_alone(void)
{
	asks_again_and_again(by_read);
}

static void beside(void)
{
	struct pair p;

	pair_open(&p, true);
	silent = p.a;
	asks_again_and_again(in_turn);
	pair_close(&p);
}

int main(void)
{
	pair_once("recv() alone", recv_alone);
	pair_once("read() alone", read_alone);
	pair_once("beside a connection that is silent", beside);
	return pair_done();
}
