/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll() and select() over connections that were on TCP at many calls in a row.
 * The kernel does the waiting then: nothing is missed, also when a connection
 * moves to Tux meanwhile.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

enum {
	LOOKS = 80,		/* enough for the preload */
	OTHERS = 60,		/* descriptors that are no sockets */
	LATE_MS = 30000,		/* what comes later was missed */
	SOON_US = 20000,	/* the other thread sleeps by then */
};

static void let_be_plain(struct pollfd *f, nfds_t n)
{
	for (int i = 0; i < LOOKS; i++)
		CHECK(poll(f, n, 1) == 0);
}

static struct pollfd asks(int fd)
{
	return (struct pollfd){ .fd = fd, .events = POLLIN, .revents = -1 };
}

/* ---- another thread does something meanwhile ---------------------------- */

struct deed {
	pthread_t thread;
	struct pair *p;
	void (*what)(struct pair *p);
	_Atomic bool done;
};

static void *act(void *arg)
{
	struct deed *d = arg;

	usleep(SOON_US);
	d->what(d->p);
	atomic_store(&d->done, true);
	return NULL;
}

/* Polls a connection on TCP for @events until another thread has done @what, and
 * then once more.  What came last. */
static short poll_while(struct pair *p, short events,
			void (*what)(struct pair *p))
{
	struct deed d = { .p = p, .what = what };
	struct pollfd f = { .events = events };
	bool done;

	pair_fresh(p);
	f.fd = p->a;
	let_be_plain(&f, 1);
	CHECK(pthread_create(&d.thread, NULL, act, &d) == 0);
	do {
		done = atomic_load(&d.done);
		CHECK(poll(&f, 1, LATE_MS) == 1);
	} while (!done);
	pthread_join(d.thread, NULL);
	return f.revents;
}

/* ---- cases -------------------------------------------------------------- */

static void move_and_shut(struct pair *p)
{
	pair_move(p);
	usleep(SOON_US);
	CHECK(shutdown(p->b, SHUT_WR) == 0);
}

/* It asks for the end alone, so that no bytes wake it before that. */
static void moves(void)
{
	struct pair p;

	CHECK(poll_while(&p, POLLRDHUP, move_and_shut) == POLLRDHUP);
	pair_close(&p);
}

static void poke(struct pair *p)
{
	pair_poke(p->b);
}

static void data(void)
{
	struct pair p;
	struct pollfd f;

	CHECK(poll_while(&p, POLLIN, poke) == POLLIN);
	CHECK(pair_expect(p.a, 1));
	f = asks(p.a);
	CHECK(poll(&f, 1, 20) == 0);
	CHECK(f.revents == 0);
	pair_close(&p);
}

static void end_reading(struct pair *p)
{
	CHECK(shutdown(p->a, SHUT_RD) == 0);
}

static void shut(void)
{
	struct pair p;

	CHECK(poll_while(&p, POLLIN, end_reading) == POLLIN);
	pair_close(&p);
}

/* The last of @f is the connection's. */
static void many(void)
{
	struct pollfd f[OTHERS + 1];
	struct pair p;

	pair_fresh(&p);
	for (int i = 0; i < OTHERS; i++)
		f[i] = asks(eventfd(0, EFD_NONBLOCK));
	f[OTHERS] = asks(p.a);
	let_be_plain(f, OTHERS + 1);
	CHECK(eventfd_write(f[7].fd, 1) == 0);
	CHECK(poll(f, OTHERS + 1, LATE_MS) == 1);
	CHECK(f[7].revents == POLLIN && f[OTHERS].revents == 0);
	pair_poke(p.b);
	while (poll(f, OTHERS + 1, LATE_MS) == 1)
		;
	CHECK(f[7].revents == POLLIN && f[OTHERS].revents == POLLIN);
	for (int i = 0; i < OTHERS; i++)
		close(f[i].fd);
	pair_close(&p);
}

static int ask_select(struct pair *p, fd_set *in, fd_set *out, int ms)
{
	struct timeval t = { ms / 1000, ms % 1000 * 1000 };

	FD_ZERO(in);
	FD_ZERO(out);
	FD_SET(p->a, in);
	return select(p->a + 1, in, out, NULL, &t);
}

static void selected(void)
{
	fd_set in, out;
	struct pair p;

	pair_fresh(&p);
	for (int i = 0; i < LOOKS; i++)
		CHECK(ask_select(&p, &in, &out, 1) == 0);
	CHECK(!FD_ISSET(p.a, &in));
	pair_poke(p.b);
	CHECK(ask_select(&p, &in, &out, LATE_MS) == 1);
	CHECK(FD_ISSET(p.a, &in) && !FD_ISSET(p.a, &out));
	CHECK(pair_expect(p.a, 1));
	CHECK(ask_select(&p, &in, &out, 1) == 0);
	pair_close(&p);
}

int main(void)
{
	pair_once("a connection moves while poll() sleeps", moves);
	pair_once("bytes arrive while poll() sleeps", data);
	pair_once("reading ends while poll() sleeps", shut);
	pair_once("among many descriptors", many);
	pair_once("select()", selected);
	return pair_done();
}
