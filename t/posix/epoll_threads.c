/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are asleep in epoll_wait() or poll() when something happens
 * elsewhere: data, the switch, a descriptor added, a descriptor closed.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

enum { THREADS = 4, ROUNDS = 2000 };

struct sleeper {
	pthread_t thread;
	_Atomic pid_t tid;	/* when it is about to sleep */
	int ep, fd, ms;
	uint32_t seen;
	double took;
};

static void *asleep(void *arg)
{
	struct sleeper *s = arg;
	double t = pair_ms();

	s->tid = gettid();
	s->seen = pair_seen(s->ep, s->fd, s->ms);
	s->took = pair_ms() - t;
	return NULL;
}

static void begin(struct sleeper *s, void *(*fn)(void *))
{
	s->tid = 0;
	pthread_create(&s->thread, NULL, fn, s);
	while (!s->tid)
		usleep(1000);
	pair_await_asleep(s->tid);
	usleep(10000);
}

static void sleep_in(struct sleeper *s, int ep, int fd, int ms)
{
	*s = (struct sleeper){ .ep = ep, .fd = fd, .ms = ms };
	begin(s, asleep);
}

static uint32_t woken(struct sleeper *s)
{
	pthread_join(s->thread, NULL);
	return s->seen;
}

static void data(struct pair *p)
{
	int ep = pair_epoll();
	struct sleeper s;

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	sleep_in(&s, ep, p->a, PAIR_PATIENCE_MS);
	pair_poke(p->b);
	CHECK(woken(&s) == EPOLLIN);
	CHECK(s.took < pair_bound(1000));
	close(ep);
}

/* Added by another thread: to an empty instance, and to one that has some. */
static void added(struct pair *p)
{
	int ep = pair_epoll();
	struct sleeper s;

	pair_poke(p->b);
	pair_poke(p->a);
	usleep(10000);
	sleep_in(&s, ep, p->a, PAIR_PATIENCE_MS);
	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(woken(&s) == EPOLLIN);
	CHECK(pair_expect(p->a, 1));
	sleep_in(&s, ep, p->b, PAIR_PATIENCE_MS);
	CHECK(pair_add(ep, p->b, EPOLLIN) == 0);
	CHECK(woken(&s) == EPOLLIN);
	CHECK(pair_expect(p->b, 1));
	sleep_in(&s, ep, p->b, PAIR_PATIENCE_MS);
	CHECK(pair_mod(ep, p->b, EPOLLOUT) == 0);
	CHECK(woken(&s) == EPOLLOUT);
	close(ep);
}

/* Asleep in an instance that holds nothing of Tux when the first socket comes,
 * and data later still. */
static void first(struct pair *p)
{
	int ep = pair_epoll(), fd = eventfd(0, EFD_NONBLOCK);
	struct sleeper s;

	CHECK(pair_add(ep, fd, EPOLLIN) == 0);
	sleep_in(&s, ep, p->a, PAIR_PATIENCE_MS);
	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	usleep(20000);
	pair_poke(p->b);
	CHECK(woken(&s) == EPOLLIN);
	CHECK(pair_expect(p->a, 1));
	sleep_in(&s, ep, fd, PAIR_PATIENCE_MS);
	CHECK(eventfd_write(fd, 1) == 0);
	CHECK(woken(&s) == EPOLLIN);
	close(fd);
	close(ep);
}

static void *echo(void *arg)
{
	struct epoll_event e;
	struct pair *p = arg;
	int ep = pair_epoll();
	char c;

	pair_add(ep, p->a, EPOLLIN);
	for (int i = 0; i < ROUNDS; )
		if (epoll_wait(ep, &e, 1, 5000) == 1 &&
		    read(p->a, &c, 1) == 1)
			i += write(p->a, &c, 1) == 1;
	close(ep);
	return NULL;
}

/* One byte there and back, often: the switch happens under who is asleep. */
static void switching(struct pair *p)
{
	pthread_t t;
	int i;

	pthread_create(&t, NULL, echo, p);
	for (i = 0; i < ROUNDS; i++) {
		pair_poke(p->b);
		if (!pair_expect(p->b, 1))
			break;
	}
	CHECK(i == ROUNDS);
	pthread_join(t, NULL);
}

/* ---- several in one instance ------------------------------------------ */

struct crew {
	int ep;
	struct pair *p;
	_Atomic int got, met;
	_Atomic int stop;
};

/* EPOLLONESHOT is how threads share an instance. */
static void *work(void *arg)
{
	struct crew *c = arg;
	struct epoll_event e;

	while (!c->stop) {
		if (epoll_wait(c->ep, &e, 1, 100) != 1)
			continue;
		c->got += (int)pair_drain(e.data.fd);
		pair_mod(c->ep, e.data.fd, EPOLLIN | EPOLLONESHOT);
	}
	return NULL;
}

static void shared(struct pair *p)
{
	struct crew c = { .ep = pair_epoll(), .p = p };
	double end = pair_ms() + PAIR_PATIENCE_MS;
	pthread_t t[THREADS];

	CHECK(pair_add(c.ep, p->a, EPOLLIN | EPOLLONESHOT) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, &c);
	for (int i = 0; i < ROUNDS; i++) {
		pair_poke(p->b);
		while (i % 8 == 0 && c.got <= i && pair_ms() < end)
			usleep(20);
	}
	while (c.got < ROUNDS && pair_ms() < end)
		usleep(1000);
	CHECK(c.got == ROUNDS);
	c.stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	close(c.ep);
}

/* Two sockets, two threads: neither waits for the other's slow work, which here
 * ends when both have begun. */
static void *slow(void *arg)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	struct crew *c = arg;
	struct epoll_event e;

	if (epoll_wait(c->ep, &e, 1, PAIR_PATIENCE_MS) == 1) {
		c->got++;
		while (c->got < 2 && pair_ms() < end)
			usleep(1000);
		c->met += c->got == 2;
	}
	return NULL;
}

static void in_line(struct pair *p)
{
	struct crew c = { .ep = pair_epoll(), .p = p };
	pthread_t t[2];

	CHECK(pair_add(c.ep, p->a, EPOLLIN | EPOLLET) == 0);
	CHECK(pair_add(c.ep, p->b, EPOLLIN | EPOLLET) == 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, slow, &c);
	usleep(30000);
	pair_poke(p->a);
	pair_poke(p->b);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	CHECK(c.met == 2);
	close(c.ep);
}

/* All of them wake up in time. */
static void timeouts(struct pair *p)
{
	struct sleeper s[THREADS];
	int ep = pair_epoll();

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	for (int i = 0; i < THREADS; i++)
		sleep_in(&s[i], ep, p->a, 200 + 50 * i);
	for (int i = 0; i < THREADS; i++) {
		CHECK(woken(&s[i]) == 0);
		CHECK(s[i].took >= 199.9 + 50 * i);
		CHECK(s[i].took < pair_bound(1000));
	}
	close(ep);
}

/* ---- poll ------------------------------------------------------------- */

static void *in_poll(void *arg)
{
	struct sleeper *s = arg;
	struct pollfd f = { .fd = s->fd, .events = POLLIN };
	double t = pair_ms();

	s->tid = gettid();
	s->seen = poll(&f, 1, PAIR_PATIENCE_MS) == 1 ? (uint32_t)f.revents : 0;
	s->took = pair_ms() - t;
	return NULL;
}

static void poll_data(struct pair *p)
{
	struct sleeper s = { .fd = p->a };

	for (int i = 0; i < 5; i++) {
		begin(&s, in_poll);
		pair_poke(p->b);
		CHECK(woken(&s) == POLLIN);
		CHECK(s.took < pair_bound(1000));
		CHECK(pair_expect(p->a, 1));
	}
}

/* In poll() on a socket that another thread makes move. */
static void poll_switch(void)
{
	struct sleeper s;
	uint16_t port;
	int l = pair_listen(&port);
	struct pollfd f = { .fd = l, .events = POLLIN };
	struct pair p = { .b = pair_dial(port) };

	s = (struct sleeper){ .fd = p.b };
	begin(&s, in_poll);
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1);
	p.a = accept(l, NULL, NULL);
	for (int i = 0; i < 50; i++) {
		pair_poke(p.b);
		CHECK(pair_expect(p.a, 1));
		usleep(1000);
	}
	pair_poke(p.a);
	CHECK(woken(&s) == POLLIN);
	CHECK(s.took < pair_bound(1500));
	pair_close(&p);
	close(l);
}

int main(void)
{
	pair_case("data wakes who is asleep", data);
	pair_case("ADD and MOD wake who is asleep", added);
	pair_case("the first socket of an instance", first);
	pair_case("the switch while asleep", switching);
	pair_case("several threads, EPOLLONESHOT", shared);
	pair_case("several threads, one is slow", in_line);
	pair_case("several threads, timeouts", timeouts);
	pair_case("poll: data wakes who is asleep", poll_data);
	pair_once("poll: the switch while asleep", poll_switch);
	return pair_done();
}
