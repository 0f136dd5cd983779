/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll, level-triggered: what is ready is reported as long as it is, together
 * with what else is in the set, and in time.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

static void readable(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(pair_seen(ep, p->a, 30) == 0);
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_seen(ep, p->a, 0) == EPOLLIN);
	pair_poke(p->b);
	CHECK(pair_expect(p->a, 1));
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_expect(p->a, 1));
	CHECK(pair_seen(ep, p->a, 30) == 0);
	close(ep);
}

static void writable(struct pair *p)
{
	int ep = pair_epoll();
	size_t n, got = 0;

	CHECK(pair_add(ep, p->a, EPOLLOUT) == 0);
	CHECK(pair_seen(ep, p->a, 0) == EPOLLOUT);
	CHECK(pair_seen(ep, p->a, 0) == EPOLLOUT);
	/* Once the peer's buffers are full, too, it stays so. */
	for (n = pair_fill(p->a); pair_seen(ep, p->a, 100); )
		n += pair_fill(p->a);
	CHECK(n > 4096);
	while (got < n && pair_expect(p->b, 1))
		got += 1 + pair_drain(p->b);
	CHECK(got == n);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	close(ep);
}

static void both(struct pair *p)
{
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLOUT) == 0);
	CHECK(pair_seen(ep, p->a, 0) == EPOLLOUT);
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == (EPOLLIN | EPOLLOUT));
	CHECK(pair_mod(ep, p->a, EPOLLIN) == 0);
	CHECK(pair_seen(ep, p->a, 0) == EPOLLIN);
	CHECK(pair_mod(ep, p->a, 0) == 0);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	CHECK(pair_mod(ep, p->a, EPOLLIN | EPOLLRDHUP) == 0);
	CHECK(pair_seen(ep, p->a, 0) == EPOLLIN);
	close(ep);
}

/* Data arrives before it is added. */
static void late(struct pair *p)
{
	int ep = pair_epoll();

	pair_poke(p->b);
	usleep(20000);
	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_del(ep, p->a) == 0);
	CHECK(pair_seen(ep, p->a, 20) == 0);
	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(pair_seen(ep, p->a, 0) == EPOLLIN);
	close(ep);
}

/* The application's data comes back, all 64 bits of it. */
static void data(struct pair *p)
{
	struct epoll_event e = { .events = EPOLLIN }, got;
	int ep = pair_epoll();

	e.data.u64 = 0xfedcba9876543210u;
	CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, p->a, &e) == 0);
	pair_poke(p->b);
	CHECK(epoll_wait(ep, &got, 1, PAIR_PATIENCE_MS) == 1);
	CHECK(got.data.u64 == e.data.u64);
	e.data.u64 = UINT64_MAX;
	CHECK(epoll_ctl(ep, EPOLL_CTL_MOD, p->a, &e) == 0);
	CHECK(epoll_wait(ep, &got, 1, PAIR_PATIENCE_MS) == 1);
	CHECK(got.data.u64 == UINT64_MAX);
	close(ep);
}

/* A program that never waits sees its data all the same. */
static void polling(struct pair *p)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	int ep = pair_epoll();
	uint32_t seen = 0;

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	pair_poke(p->b);
	while (!seen && pair_ms() < end)
		seen = pair_seen(ep, p->a, 0);
	CHECK(seen == EPOLLIN);
	close(ep);
}

/* ---- others in the set ------------------------------------------------ */

struct others {
	int event, in, out, timer, listener;
	uint16_t port;
};

static void open_others(struct others *o, int ep)
{
	struct itimerspec t = { .it_value.tv_nsec = 10000000 };
	int v[2];

	CHECK(pipe(v) == 0);
	o->in = v[0];
	o->out = v[1];
	o->event = eventfd(0, EFD_NONBLOCK);
	o->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	o->listener = pair_listen(&o->port);
	CHECK(pair_add(ep, o->event, EPOLLIN) == 0);
	CHECK(pair_add(ep, o->in, EPOLLIN) == 0);
	CHECK(pair_add(ep, o->timer, EPOLLIN) == 0);
	CHECK(pair_add(ep, o->listener, EPOLLIN) == 0);
	CHECK(pair_seen(ep, o->event, 5) == 0);
	CHECK(timerfd_settime(o->timer, 0, &t, NULL) == 0);
}

static void close_others(struct others *o)
{
	close(o->event);
	close(o->in);
	close(o->out);
	close(o->timer);
	close(o->listener);
}

static void mixed(struct pair *p)
{
	int fd, ep = pair_epoll();
	struct others o;

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	open_others(&o, ep);
	CHECK(pair_until(ep, o.timer, EPOLLIN) == EPOLLIN);
	CHECK(eventfd_write(o.event, 1) == 0);
	CHECK(pair_until(ep, o.event, EPOLLIN) == EPOLLIN);
	CHECK(write(o.out, "x", 1) == 1);
	CHECK(pair_until(ep, o.in, EPOLLIN) == EPOLLIN);
	fd = pair_dial(o.port);
	CHECK(pair_until(ep, o.listener, EPOLLIN) == EPOLLIN);
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	close(fd);
	close_others(&o);
	close(ep);
}

/* With one place for events, nobody starves. */
static void fair(struct pair *p)
{
	int a = 0, e = 0, ep = pair_epoll(), fd = eventfd(1, EFD_NONBLOCK);
	double now = pair_ms(), least = now + 200, end = now + PAIR_PATIENCE_MS;

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(pair_add(ep, fd, EPOLLIN) == 0);
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	for (; now < least || ((a <= 10 || e <= 10) && now < end);
	     now = pair_ms()) {
		struct epoll_event got;

		CHECK(epoll_wait(ep, &got, 1, PAIR_PATIENCE_MS) == 1);
		a += got.data.fd == p->a;
		e += got.data.fd == fd;
	}
	CHECK(a > 10);
	CHECK(e > 10);
	close(fd);
	close(ep);
}

/* The kernel's events are seen while ours come without an end. */
static void busy(struct pair *p)
{
	int ep = pair_epoll(), fd = eventfd(0, EFD_NONBLOCK);
	double end = pair_ms() + PAIR_PATIENCE_MS;
	uint32_t seen = 0;

	CHECK(pair_add(ep, p->a, EPOLLIN | EPOLLOUT) == 0);
	CHECK(pair_add(ep, fd, EPOLLIN) == 0);
	CHECK(pair_seen(ep, p->a, 100) == EPOLLOUT);
	CHECK(eventfd_write(fd, 1) == 0);
	while (!seen && pair_ms() < end)
		seen = pair_seen(ep, fd, PAIR_PATIENCE_MS);
	CHECK(seen == EPOLLIN);
	close(fd);
	close(ep);
}

/* ---- time ------------------------------------------------------------- */

static void timeouts(struct pair *p)
{
	static const int ms[] = { 0, 1, 7, 50 };
	struct epoll_event e[4];
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	for (int i = 0; i < 4; i++) {
		double t = pair_ms();

		CHECK(epoll_wait(ep, e, 4, ms[i]) == 0);
		t = pair_ms() - t;
		CHECK(t >= ms[i] - 0.05);
		CHECK(t < pair_bound(ms[i] + 500));
	}
	CHECK(epoll_wait(ep, e, 0, 0) == -1 && errno == EINVAL);
	CHECK(epoll_wait(-1, e, 1, 0) == -1 && errno == EBADF);
	close(ep);
}

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
	struct epoll_event e[4];
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	alarm_in(20, 200);
	CHECK(epoll_wait(ep, e, 4, -1) == -1 && errno == EINTR);
	CHECK(rang >= 1);
	alarm_in(20, 200);
	CHECK(epoll_wait(ep, e, 4, PAIR_PATIENCE_MS) == -1 && errno == EINTR);
	CHECK(rang >= 1);
	alarm_in(0, 0);
	close(ep);
}

static void masked(struct pair *p)
{
	struct timespec t = { 0, 60000000 };
	struct epoll_event e[4];
	int ep = pair_epoll();
	sigset_t block, none;

	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGALRM);
	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	alarm_in(10, 0);
	CHECK(epoll_pwait(ep, e, 4, 60, &block) == 0);
	CHECK(rang == 1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	alarm_in(10, 0);
	CHECK(epoll_wait(ep, e, 4, 60) == 0);
	CHECK(rang == 0);
	CHECK(epoll_pwait2(ep, e, 4, &t, &none) == -1 && errno == EINTR);
	CHECK(rang == 1);
	sigprocmask(SIG_UNBLOCK, &block, NULL);
	CHECK(epoll_pwait2(ep, e, 4, &t, NULL) == 0);
	close(ep);
}

int main(void)
{
	pair_case("readable as long as there is data", readable);
	pair_case("writable as long as there is room", writable);
	pair_case("both, and what MOD asks for", both);
	pair_case("added when there is data already", late);
	pair_case("the application's data", data);
	pair_case("a timeout of 0 makes progress", polling);
	pair_case("with eventfd, pipe, timerfd, listener", mixed);
	pair_case("one place for events is shared", fair);
	pair_case("a busy socket hides nothing", busy);
	pair_case("timeouts", timeouts);
	pair_case("EINTR", interrupted);
	pair_case("signal masks", masked);
	return pair_done();
}
