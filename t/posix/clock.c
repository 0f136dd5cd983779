/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's clock_gettime() stands still, or runs faster than the kernel's
 * clock, as a preloaded library can make it.  Calls that wait go by the kernel's
 * clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

enum { WAIT_MS = 300, FASTER = 50, TURNS = 60 };

static enum { AS_IT_IS, STILL, FAST } clock_runs;

static double real_ms(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (clock_runs == STILL) {
		*ts = (struct timespec){ .tv_sec = 1 };
		return 0;
	}
	if (clock_runs == FAST) {
		double s = real_ms() / 1e3 * FASTER;

		*ts = (struct timespec){ .tv_sec = (time_t)s };
		ts->tv_nsec = (long)((s - (double)ts->tv_sec) * 1e9);
		return 0;
	}
	return (int)syscall(SYS_clock_gettime, id, ts);
}

static bool took(double began)
{
	double ms = real_ms() - began;

	return ms >= WAIT_MS - 1 && ms < PAIR_PATIENCE_MS;
}

static void waits(struct pair *p)
{
	struct pollfd f = { .fd = p->a, .events = POLLIN };
	const struct timeval tv = { .tv_usec = WAIT_MS * 1000 };
	struct epoll_event e = { .events = EPOLLIN };
	int ep = epoll_create1(0), flags = fcntl(p->a, F_GETFL);
	double began = real_ms();
	char c;

	CHECK(poll(&f, 1, WAIT_MS) == 0 && took(began));
	CHECK(!epoll_ctl(ep, EPOLL_CTL_ADD, p->a, &e));
	began = real_ms();
	CHECK(epoll_wait(ep, &e, 1, WAIT_MS) == 0 && took(began));
	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) &&
	      !fcntl(p->a, F_SETFL, flags & ~O_NONBLOCK));
	began = real_ms();
	CHECK(read(p->a, &c, 1) < 0 && errno == EAGAIN && took(began));
	CHECK(!fcntl(p->a, F_SETFL, flags));
	close(ep);
}

static void with_clock(struct pair *p, int runs)
{
	bool moved = pair_moved(p);

	clock_runs = runs;
	waits(p);
	pair_talk(p, TURNS);
	clock_runs = AS_IT_IS;
	/* A machine that stands still may stall the path for a moment. */
	if (moved)
		pair_move(p);
	pair_talk(p, TURNS);
}

static void still(struct pair *p)
{
	with_clock(p, STILL);
}

static void fast(struct pair *p)
{
	with_clock(p, FAST);
}

int main(void)
{
	pair_case("a clock that stands still", still);
	pair_case("a clock that runs fast", fast);
	return pair_done();
}
