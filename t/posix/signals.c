/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signal handlers that use sockets, leave a call by siglongjmp(), or end the
 * process, at any moment of a call that the thread is in.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum {
	SPARE = 64,		/* descriptors that a handler closes */
	STORM_MS = 1500,	/* or longer, until there were enough calls, */
	STORM_MOST_MS = 60000,	/* but no longer */
	EVERY_US = 60,
	CHILDREN = 300,		/* ended by a handler, */
	AT_ONCE = 6,		/* some at a time, */
	DEADLINE_MS = 30000,	/* in this time */
	JUMPS = 300,
};

static struct pair *pair;
static int ep;
static volatile unsigned long called;

static void handle(int sig, void (*fn)(int), int flags)
{
	struct sigaction a = { .sa_handler = fn, .sa_flags = flags };

	sigaction(sig, &a, NULL);
}

static void every(int us)
{
	struct itimerval t = { .it_interval.tv_usec = us,
			       .it_value.tv_usec = us };

	setitimer(ITIMER_REAL, &t, NULL);
}

/* Has a storm been long enough, with more than @n calls of the handler? */
static bool storm_over(double began, unsigned long n)
{
	double ms = pair_ms() - began;

	return ms >= STORM_MOST_MS || (ms >= STORM_MS && called > n);
}

static void blocking(int fd, bool yes)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, yes ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* ---- a handler beside the same calls ------------------------------------ */

static volatile unsigned long wrote_here, wrote_there, read_here, read_there;
static int spare[SPARE];
static volatile int spares;

/* One byte each way, one poll, one look of epoll_wait(), and now and then a
 * descriptor that goes. */
static void busy(int sig)
{
	struct pollfd f[2] = { { pair->a, POLLIN | POLLOUT, 0 },
			       { pair->b, POLLIN | POLLOUT, 0 } };
	struct epoll_event e;
	int saved = errno;
	char c = 'h';

	(void)sig;
	if (write(pair->a, &c, 1) == 1)
		wrote_there++;
	poll(f, 2, 0);
	epoll_wait(ep, &e, 1, 0);
	if (read(pair->b, &c, 1) == 1)
		read_there++;
	if (called++ % 64 == 0 && spares > 0)
		close(spare[--spares]);
	errno = saved;
}

static void calls(void)
{
	struct pollfd f = { pair->b, POLLIN, 0 };
	struct epoll_event e;
	char buf[64];
	ssize_t n;

	if (write(pair->a, "m", 1) == 1)
		wrote_here++;
	poll(&f, 1, 0);
	pair_mod(ep, pair->b, EPOLLIN);
	epoll_wait(ep, &e, 1, 0);
	n = read(pair->b, buf, sizeof(buf));
	if (n > 0)
		read_here += (unsigned long)n;
}

/* All bytes that were written arrive, and no other. */
static void settle_up(struct pair *p)
{
	unsigned long wrote = wrote_here + wrote_there;
	unsigned long got = read_here + read_there;

	CHECK(got <= wrote && pair_expect(p->b, wrote - got));
	CHECK(pair_drain(p->b) == 0);
}

static void make_spares(struct pair *extra, int n)
{
	spares = 0;
	for (int i = 0; i < n; i++) {
		pair_open(&extra[i], true);
		pair_add(ep, extra[i].b, EPOLLIN);
		spare[spares++] = extra[i].b;
		for (int j = 1; j < SPARE / 4; j++)
			spare[spares++] = dup(extra[i].b);
	}
}

static void storm(struct pair *p)
{
	struct pair extra[3];
	double began;

	pair = p;
	ep = pair_epoll();
	CHECK(pair_add(ep, p->b, EPOLLIN) == 0);
	make_spares(extra, 3);
	called = wrote_here = wrote_there = read_here = read_there = 0;
	handle(SIGALRM, busy, 0);
	every(EVERY_US);
	for (began = pair_ms(); !storm_over(began, 1000);)
		calls();
	every(0);
	CHECK(called > 1000 && wrote_there > 0 && wrote_here > 0);
	settle_up(p);
	for (int i = 0; i < 3; i++)
		close(extra[i].a);
	while (spares > 0)
		close(spare[--spares]);
	close(ep);
}

/* ---- a handler that waits ----------------------------------------------- */

/* Of what the caller is in the middle of writing: a byte in front of it, behind
 * it, or between two of its calls. */
static void writes_and_waits(int sig)
{
	struct pollfd f = { pair->b, POLLIN, 0 };
	int saved = errno;
	char c = 'h';

	(void)sig;
	called++;
	if (write(pair->a, &c, 1) == 1)
		wrote_there++;
	if (poll(&f, 1, PAIR_PATIENCE_MS) != 1)
		return;
	if (read(pair->b, &c, 1) == 1)
		read_there++;
	errno = saved;
}

static void waiting(struct pair *p)
{
	char buf[64];
	double began;

	pair = p;
	called = wrote_here = wrote_there = read_here = read_there = 0;
	blocking(p->a, true);
	handle(SIGALRM, writes_and_waits, SA_RESTART);
	every(EVERY_US * 4);
	for (began = pair_ms(); !storm_over(began, 100);) {
		ssize_t n = write(p->a, "mmmm", 4);

		if (n > 0)
			wrote_here += (unsigned long)n;
		n = read(p->b, buf, sizeof(buf));
		if (n > 0)
			read_here += (unsigned long)n;
	}
	every(0);
	CHECK(called > 100 && wrote_there == called);
	settle_up(p);
}

/* ---- a handler that does not return ------------------------------------- */

static sigjmp_buf out;

static void jumps(int sig)
{
	(void)sig;
	called++;
	siglongjmp(out, 1);
}

/* A read with a time limit, as programs did before there was poll(). */
static void jumped(struct pair *p)
{
	volatile int i;
	char c;

	blocking(p->a, true);
	handle(SIGALRM, jumps, 0);
	called = 0;
	for (i = 0; i < JUMPS; i++) {
		struct itimerval t = { .it_value.tv_usec = 20 + i * 7 % 500 };

		if (!sigsetjmp(out, 1)) {
			setitimer(ITIMER_REAL, &t, NULL);
			while (read(p->a, &c, 1) < 0)
				;
			CHECK(false);	/* a byte that was not sent */
		}
	}
	CHECK(called == JUMPS);
	handle(SIGALRM, SIG_DFL, 0);
	pair_poke(p->b);
	CHECK(read(p->a, &c, 1) == 1);
	pair_poke(p->a);
	CHECK(pair_expect(p->b, 1));
}

/* ---- a handler that ends the process ------------------------------------ */

static void ends(int sig)
{
	(void)sig;
	_exit(7);
}

static void child(void)
{
	struct pair p;

	/* One that hangs goes with us. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pair = &p;
	pair_open(&p, true);
	ep = pair_epoll();
	pair_add(ep, p.b, EPOLLIN);
	handle(SIGTERM, ends, 0);
	if (write(STDOUT_FILENO, "r", 1) != 1)
		_exit(1);
	for (;;)
		calls();
}

/* A process in the middle of calls; *@from tells when it is. */
static pid_t begin(int *from)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		child();
	}
	close(fds[1]);
	*from = fds[0];
	return pid;
}

/* Did it end by its handler, in time? */
static bool ended_well(pid_t pid)
{
	double end = pair_ms() + DEADLINE_MS;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (pair_ms() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return false;
		}
		poll(NULL, 0, 1);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static void exited(void)
{
	int bad = 0;

	for (int i = 0; i < CHILDREN; i += AT_ONCE) {
		pid_t pid[AT_ONCE];
		int from[AT_ONCE];
		char c;

		for (int j = 0; j < AT_ONCE; j++)
			pid[j] = begin(&from[j]);
		for (int j = 0; j < AT_ONCE; j++) {
			CHECK(read(from[j], &c, 1) == 1);
			usleep((useconds_t)(i * 7 + j * 131) % 997);
			kill(pid[j], SIGTERM);
		}
		for (int j = 0; j < AT_ONCE; j++) {
			bad += !ended_well(pid[j]);
			close(from[j]);
		}
	}
	CHECK(bad == 0);
}

/* ---- libc signals every thread -------------------------------------------- */

static void *idle(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* libc opens its signal when the process makes its first thread; those of Tux
 * come later here. */
static void change_user(void)
{
	struct pair p;
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&t, NULL, idle, NULL))
		_exit(1);
	pair_open(&p, true);
	pair_poke(p.b);
	if (!pair_expect(p.a, 1))
		_exit(1);
	_exit(setuid(getuid()) ? 1 : 7);
}

static void user_changed(void)
{
	pid_t pid = fork();

	if (pid == 0)
		change_user();
	CHECK(pid > 0 && ended_well(pid));
}

int main(void)
{
	pair_case("a handler makes the same calls", storm);
	pair_case("a handler waits", waiting);
	pair_case("a handler jumps out of read", jumped);
	pair_once("a handler calls _exit", exited);
	pair_once("the user is changed", user_changed);
	return pair_done();
}
