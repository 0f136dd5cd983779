/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection that goes back to the kernel, because it was claimed in vain (the
 * other end does not move, and does not say so), while threads wait for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "pair.h"

enum {
	TURNS = 1024,		/* enough for a claim, even if the thread had to
				 * wait for a processor at first */
	SILENT_MS = 5000,	/* longer than a claim waits for the other end */
	ROUND_MS = 5,
	WHOLE = 8,		/* bytes that a reader takes at once */
	LONG = 1 << 20,		/* bytes that do not fit into TCP's buffers */
};

/* A connection, and a thread that waits for end a of it. */
struct waiter {
	struct pair p;
	pthread_t thread;
	void *(*run)(void *w);
	atomic_bool over, ended;
	_Atomic uint64_t got;	/* bytes, or what has been reported */
	int err;		/* of the call that failed; 0: none did */
	int ep;
};

static void blocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

/* ---- the threads ---- */

static void *reads(void *arg)
{
	struct waiter *w = arg;
	char b[64];
	ssize_t n;

	while ((n = recv(w->p.a, b, sizeof(b), 0)) > 0)
		atomic_fetch_add(&w->got, (uint64_t)n);
	w->err = n ? errno : 0;
	return NULL;
}

static void *reads_whole(void *arg)
{
	struct waiter *w = arg;
	char b[WHOLE];
	ssize_t n;

	while ((n = recv(w->p.a, b, WHOLE, MSG_WAITALL)) == WHOLE)
		atomic_fetch_add(&w->got, WHOLE);
	w->err = n ? errno + 1 : 0;
	return NULL;
}

static void *writes(void *arg)
{
	struct waiter *w = arg;
	static char b[LONG];
	ssize_t n = LONG;

	while (!atomic_load(&w->over) && n == LONG) {
		n = send(w->p.a, b, LONG, MSG_NOSIGNAL);
		if (n > 0)
			atomic_fetch_add(&w->got, (uint64_t)n);
	}
	w->err = n == LONG ? 0 : errno + 1;
	atomic_store(&w->ended, true);
	return NULL;
}

static void *polls(void *arg)
{
	struct waiter *w = arg;
	struct pollfd f = { w->p.a, POLLIN, 0 };
	ssize_t n = 1;
	char b;

	while (n == 1 && poll(&f, 1, -1) == 1) {
		n = recv(w->p.a, &b, 1, MSG_DONTWAIT);
		if (n == 1)
			atomic_fetch_add(&w->got, 1);
	}
	w->err = n ? errno : 0;
	return NULL;
}

/* Each byte is an edge, and nothing else is. */
static void *waits_for_edges(void *arg)
{
	struct waiter *w = arg;
	struct epoll_event e;
	char b;

	while (epoll_wait(w->ep, &e, 1, -1) == 1 && !(e.events & EPOLLRDHUP)) {
		if (recv(w->p.a, &b, 1, MSG_DONTWAIT) != 1) {
			w->err = errno;
			break;
		}
		atomic_fetch_add(&w->got, 1);
	}
	return NULL;
}

/* ---- the connections ---- */

static void turn_around(const struct pair *p)
{
	pair_poke(p->a);
	pair_expect(p->b, 1);
	pair_poke(p->b);
	pair_expect(p->a, 1);
}

static void claim_in_vain(struct pair *p)
{
	int on = 1;

	pair_fresh(p);
	if (setsockopt(p->b, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)))
		client_fail("SO_ZEROCOPY: %s", strerror(errno));
	for (int i = 0; i < TURNS; i++) {
		turn_around(p);
		poll(NULL, 0, 1);
	}
}

static void begin(struct waiter *w, void *(*run)(void *), bool blocks)
{
	*w = (struct waiter){ .run = run, .ep = pair_epoll() };
	claim_in_vain(&w->p);
	if (blocks)
		blocking(w->p.a);
	if (run == waits_for_edges)
		pair_add(w->ep, w->p.a, EPOLLIN | EPOLLRDHUP | EPOLLET);
	if (pthread_create(&w->thread, NULL, run, w))
		client_fail("pthread_create: %s", strerror(errno));
}

/* One of these calls finds that the connection was given up, while the thread
 * sleeps on it. */
static void call(const struct waiter *w)
{
	pair_poke(w->p.a);
	pair_expect(w->p.b, 1);
}

/* Until the thread has what was sent to it. */
static bool has(struct waiter *w, uint64_t n)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;

	while (atomic_load(&w->got) != n && pair_ms() < end)
		poll(NULL, 0, 1);
	return atomic_load(&w->got) == n;
}

static void round_of(struct waiter *w, unsigned k)
{
	uint64_t n = k + 1;

	if (w->run == reads_whole) {
		char half[WHOLE / 2] = { 0 };

		CHECK(send(w->p.b, half, sizeof(half), 0) == sizeof(half));
		call(w);
		CHECK(send(w->p.b, half, sizeof(half), 0) == sizeof(half));
		CHECK(has(w, n * WHOLE));
		return;
	}
	call(w);
	pair_poke(w->p.b);
	CHECK(has(w, n));
}

static void end(struct waiter *w)
{
	shutdown(w->p.b, SHUT_WR);
	pthread_join(w->thread, NULL);
	CHECK(w->err == 0);
	close(w->ep);
	pair_close(&w->p);
}

static void sleeps(void *(*run)(void *), bool blocks)
{
	double over;
	struct waiter w;

	begin(&w, run, blocks);
	over = pair_ms() + SILENT_MS;
	for (unsigned k = 0; pair_ms() < over; k++) {
		round_of(&w, k);
		poll(NULL, 0, ROUND_MS);
	}
	end(&w);
}

static void a_reader(void)
{
	sleeps(reads, true);
}

static void a_reader_of_all(void)
{
	sleeps(reads_whole, true);
}

static void a_poller(void)
{
	sleeps(polls, false);
}

static void a_thread_in_epoll_wait(void)
{
	sleeps(waits_for_edges, false);
}

/* What the other end reads. */
static uint64_t sip(const struct waiter *w)
{
	static char b[1 << 16];
	ssize_t n = recv(w->p.b, b, sizeof(b), 0);

	return n > 0 ? (uint64_t)n : 0;
}

/* Its other end reads little by little, so that it mostly sleeps. */
static void a_writer(void)
{
	uint64_t n = 0;
	double over;
	struct waiter w;
	char none;

	begin(&w, writes, true);
	over = pair_ms() + SILENT_MS;
	while (pair_ms() < over) {
		n += sip(&w);
		CHECK(recv(w.p.a, &none, 1, MSG_DONTWAIT) == -1);
		poll(NULL, 0, ROUND_MS);
	}
	atomic_store(&w.over, true);
	while (!atomic_load(&w.ended))
		n += sip(&w);
	CHECK(pair_expect(w.p.b, atomic_load(&w.got) - n));
	CHECK(sip(&w) == 0);
	end(&w);
}

/* The program makes no call on the connection until it needs plain TCP. */
static void a_stream_of_stdio(void)
{
	struct pair p;
	FILE *f;

	claim_in_vain(&p);
	poll(NULL, 0, SILENT_MS);
	f = fdopen(p.a, "r+");
	CHECK(f);
	if (!f)
		return;
	CHECK(fputs("xx", f) >= 0 && fflush(f) == 0);
	CHECK(pair_expect(p.b, 2));
	fclose(f);
	close(p.b);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "a reader", a_reader },
		{ "a reader of all", a_reader_of_all },
		{ "a writer", a_writer },
		{ "a poller", a_poller },
		{ "a thread in epoll_wait", a_thread_in_epoll_wait },
		{ "a stream of stdio", a_stream_of_stdio },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc < 2 || !strcmp(argv[1], cases[i].name))
			pair_once(cases[i].name, cases[i].run);
	return pair_done();
}
