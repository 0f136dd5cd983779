/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll, ppoll, select and pselect over sockets and other descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

enum { MANY = 100 };

/* ---- poll ------------------------------------------------------------- */

static int until(struct pollfd *f, nfds_t n, int want)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	int r;

	do
		r = poll(f, n, 50);
	while (r >= 0 && r < want && pair_ms() < end);
	return r;
}

static void readable(struct pair *p)
{
	struct pollfd f = { .fd = p->a, .events = POLLIN, .revents = -1 };

	CHECK(poll(&f, 1, 0) == 0);
	CHECK(f.revents == 0);
	CHECK(poll(&f, 1, 20) == 0);
	pair_poke(p->b);
	CHECK(poll(&f, 1, -1) == 1);
	CHECK(f.revents == POLLIN);
	CHECK(poll(&f, 1, 0) == 1);
	CHECK(pair_expect(p->a, 1));
	CHECK(poll(&f, 1, 20) == 0);
}

static void writable(struct pair *p)
{
	struct pollfd f = { .fd = p->a, .events = POLLIN | POLLOUT };
	size_t n, got = 0;

	CHECK(poll(&f, 1, -1) == 1);
	CHECK(f.revents == POLLOUT);
	for (n = pair_fill(p->a); poll(&f, 1, 100); )
		n += pair_fill(p->a);
	/* There may be more room when a full connection moves. */
	pair_poke(p->b);
	f.events = POLLIN;
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1);
	CHECK(f.revents == POLLIN);
	while (got < n && pair_expect(p->b, 1))
		got += 1 + pair_drain(p->b);
	CHECK(got == n);
	f.events = POLLOUT;
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1);
	f.events |= POLLIN;
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1);
	CHECK(f.revents == (POLLIN | POLLOUT));
}

/* A program that never waits. */
static void polling(struct pair *p)
{
	struct pollfd f = { .fd = p->a, .events = POLLIN };
	double end = pair_ms() + PAIR_PATIENCE_MS;

	pair_poke(p->b);
	while (!poll(&f, 1, 0) && pair_ms() < end)
		;
	CHECK(f.revents == POLLIN);
}

static void mixed(struct pair *p)
{
	int fd = eventfd(0, EFD_NONBLOCK), closed = dup(fd);
	struct pollfd f[6] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = p->a, .events = POLLIN },
		{ .fd = -1, .events = POLLIN, .revents = -1 },
		{ .fd = p->b, .events = POLLOUT },
		{ .fd = closed, .events = POLLIN },
		{ .fd = p->a, .events = POLLOUT },
	};

	close(closed);
	CHECK(poll(f, 6, -1) == 3);
	CHECK(!f[0].revents && !f[1].revents && !f[2].revents);
	CHECK(f[3].revents == POLLOUT);
	CHECK(f[4].revents == POLLNVAL);
	CHECK(f[5].revents == POLLOUT);
	f[3].events = f[5].events = POLLIN;
	f[4].fd = -1;
	CHECK(poll(f, 6, 20) == 0);
	CHECK(eventfd_write(fd, 1) == 0);
	CHECK(poll(f, 6, PAIR_PATIENCE_MS) == 1);
	CHECK(f[0].revents == POLLIN);
	pair_poke(p->b);
	CHECK(until(f, 6, 3) == 3);
	CHECK(f[1].revents == POLLIN && f[5].revents == POLLIN);
	close(fd);
}

static void many(struct pair *p)
{
	struct pollfd *f = calloc(MANY, sizeof(*f));

	for (int i = 0; i < MANY; i++)
		f[i] = (struct pollfd){ .fd = i % 2 ? p->a : p->b,
					.events = POLLIN };
	CHECK(poll(f, MANY, 10) == 0);
	pair_poke(p->a);
	/* What comes in the middle of a look is seen by a part of it. */
	CHECK(pair_arrive(p->b, 1));
	CHECK(poll(f, MANY, PAIR_PATIENCE_MS) == MANY / 2);
	CHECK(f[0].revents == POLLIN && f[1].revents == 0);
	free(f);
}

static void timeouts(struct pair *p)
{
	struct pollfd f = { .fd = p->a, .events = POLLIN };
	struct timespec t = { 0, 15000000 }, bad = { 0, 1000000000 };

	for (int ms = 1; ms < 60; ms *= 3) {
		double began = pair_ms();

		CHECK(poll(&f, 1, ms) == 0);
		CHECK(pair_ms() - began >= ms - 0.05);
		CHECK(pair_ms() - began < pair_bound(ms + 500));
	}
	CHECK(ppoll(&f, 1, &t, NULL) == 0);
	CHECK(t.tv_nsec == 15000000);
	CHECK(ppoll(&f, 1, &bad, NULL) == -1 && errno == EINVAL);
}

/* ---- signals ---------------------------------------------------------- */

static volatile sig_atomic_t rang;

static void on_alarm(int sig)
{
	(void)sig;
	rang++;
}

static void alarm_in(int ms, int again)
{
	struct itimerval t = { .it_value.tv_usec = ms * 1000,
			       .it_interval.tv_usec = again * 1000 };
	struct sigaction a = { .sa_handler = on_alarm,
			       .sa_flags = SA_RESTART };

	rang = 0;
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

/* A signal that comes before the wait ends none, so there are more. */
static void interrupted(struct pair *p)
{
	struct pollfd f = { .fd = p->a, .events = POLLIN };
	fd_set in;

	alarm_in(20, 200);
	CHECK(poll(&f, 1, -1) == -1 && errno == EINTR);
	CHECK(rang >= 1);
	FD_ZERO(&in);
	FD_SET(p->a, &in);
	alarm_in(20, 200);
	CHECK(select(p->a + 1, &in, NULL, NULL, NULL) == -1 &&
	      errno == EINTR);
	CHECK(rang >= 1);
	alarm_in(0, 0);
}

static void masked(struct pair *p)
{
	struct pollfd f = { .fd = p->a, .events = POLLIN };
	struct timespec t = { 0, 60000000 };
	sigset_t block, none;
	fd_set in;

	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGALRM);
	alarm_in(10, 0);
	CHECK(ppoll(&f, 1, &t, &block) == 0);
	CHECK(rang == 1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	alarm_in(10, 0);
	CHECK(poll(&f, 1, 60) == 0);
	CHECK(rang == 0);
	CHECK(ppoll(&f, 1, &t, &none) == -1 && errno == EINTR);
	CHECK(rang == 1);
	alarm_in(10, 0);
	FD_ZERO(&in);
	FD_SET(p->a, &in);
	CHECK(pselect(p->a + 1, &in, NULL, NULL, &t, &none) == -1 &&
	      errno == EINTR);
	CHECK(rang == 1);
	sigprocmask(SIG_UNBLOCK, &block, NULL);
}

/* ---- select ----------------------------------------------------------- */

struct sets {
	fd_set in, out, pri;
};

static struct sets sets(int in, int out, int pri)
{
	struct sets s;

	memset(&s, 0, sizeof(s));
	if (in >= 0)
		FD_SET(in, &s.in);
	if (out >= 0)
		FD_SET(out, &s.out);
	if (pri >= 0)
		FD_SET(pri, &s.pri);
	return s;
}

static int selected(struct sets *s, int ms)
{
	struct timeval t = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	return select(FD_SETSIZE, &s->in, &s->out, &s->pri, &t);
}

static void select_bits(struct pair *p)
{
	struct sets s = sets(p->a, p->a, p->a);

	CHECK(selected(&s, PAIR_PATIENCE_MS) == 1);
	CHECK(!FD_ISSET(p->a, &s.in) && FD_ISSET(p->a, &s.out) &&
	      !FD_ISSET(p->a, &s.pri));
	s = sets(p->a, -1, p->b);
	CHECK(selected(&s, 20) == 0);
	CHECK(!FD_ISSET(p->a, &s.in) && !FD_ISSET(p->b, &s.pri));
	pair_poke(p->b);
	s = sets(p->a, -1, -1);
	CHECK(selected(&s, PAIR_PATIENCE_MS) == 1);
	CHECK(FD_ISSET(p->a, &s.in));
	s = sets(p->a, p->a, -1);
	CHECK(selected(&s, PAIR_PATIENCE_MS) == 2);
}

static void select_mixed(struct pair *p)
{
	int fd = eventfd(0, EFD_NONBLOCK), bad = dup(fd);
	struct sets s = sets(p->a, -1, -1);

	FD_SET(fd, &s.in);
	CHECK(selected(&s, 20) == 0);
	CHECK(eventfd_write(fd, 1) == 0);
	s = sets(p->a, p->b, -1);
	FD_SET(fd, &s.in);
	CHECK(selected(&s, PAIR_PATIENCE_MS) == 2);
	CHECK(FD_ISSET(fd, &s.in) && !FD_ISSET(p->a, &s.in) &&
	      FD_ISSET(p->b, &s.out));
	close(bad);
	s = sets(p->a, -1, -1);
	FD_SET(bad, &s.in);
	CHECK(selected(&s, 20) == -1 && errno == EBADF);
	CHECK(FD_ISSET(p->a, &s.in));
	close(fd);
}

static void select_time(struct pair *p)
{
	struct timeval t = { 0, 50000 }, none = { 0, 0 };
	struct timespec ts = { 0, 20000000 };
	struct sets s = sets(p->a, -1, -1);
	double began = pair_ms();

	CHECK(select(FD_SETSIZE, &s.in, NULL, NULL, &t) == 0);
	CHECK(pair_ms() - began >= 49.9);
	CHECK(t.tv_sec == 0 && t.tv_usec == 0);
	s = sets(p->a, -1, -1);
	CHECK(select(FD_SETSIZE, &s.in, NULL, NULL, &none) == 0);
	s = sets(p->a, -1, -1);
	CHECK(pselect(FD_SETSIZE, &s.in, NULL, NULL, &ts, NULL) == 0);
	CHECK(ts.tv_nsec == 20000000);
	pair_poke(p->b);
	s = sets(p->a, -1, -1);
	t.tv_sec = 30;
	CHECK(select(FD_SETSIZE, &s.in, NULL, NULL, &t) == 1);
	CHECK(t.tv_sec < 30 && t.tv_sec + t.tv_usec > 0);
}

/* A hang-up wakes who wants to read, and not who waits for urgent data. */
static void select_end(struct pair *p)
{
	struct sets s;

	shutdown(p->b, SHUT_WR);
	s = sets(p->a, -1, -1);
	CHECK(selected(&s, PAIR_PATIENCE_MS) == 1);
	shutdown(p->a, SHUT_WR);
	usleep(50000);
	s = sets(-1, -1, p->a);
	CHECK(selected(&s, 50) == 0);
	s = sets(p->a, -1, p->a);
	CHECK(selected(&s, PAIR_PATIENCE_MS) == 1);
}

static void *poke_late(void *arg)
{
	usleep(50000);
	pair_poke(*(int *)arg);
	return NULL;
}

/* One whose hang-up nobody has asked for is passed over. */
static void select_behind_an_end(struct pair *p)
{
	const struct linger reset = { 1, 0 };
	struct pair other;
	struct sets s;
	pthread_t late;
	int fd;

	pair_open(&other, false);
	fd = fcntl(p->a, F_DUPFD, other.b + 1);
	setsockopt(other.a, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(other.a);
	s = sets(fd, -1, fd);
	FD_SET(other.b, &s.pri);
	CHECK(!pthread_create(&late, NULL, poke_late, &p->b));
	CHECK(selected(&s, PAIR_PATIENCE_MS) == 1);
	CHECK(FD_ISSET(fd, &s.in));
	pthread_join(late, NULL);
	close(other.b);
	close(fd);
}

int main(void)
{
	pair_case("poll: readable", readable);
	pair_case("poll: writable", writable);
	pair_case("poll: a timeout of 0 makes progress", polling);
	pair_case("poll: with others", mixed);
	pair_case("poll: a large set", many);
	pair_case("poll: timeouts", timeouts);
	pair_case("EINTR", interrupted);
	pair_case("signal masks", masked);
	pair_case("select: what is set", select_bits);
	pair_case("select: with others", select_mixed);
	pair_case("select: timeouts", select_time);
	pair_case("select: the end", select_end);
	pair_case("select: behind an end", select_behind_an_end);
	return pair_done();
}
