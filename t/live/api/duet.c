/* SPDX-License-Identifier: BSD-2-Clause */
#include "duet.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "sys/clock.h"

enum { LIMIT_S = 30 };

struct tux_opts duet_opts(enum tux_backend backend)
{
	return (struct tux_opts){
		.size = sizeof(struct tux_opts), .ifname = "lo",
		.backend = backend, .path = TUX_USE_TUX,
	};
}

static void part_open(struct part *p, const struct tux_opts *o)
{
	assert_int_equal(tux_open(&p->t, o), 0);
	assert_int_equal(tux_service_new(p->t, &p->s), 0);
}

void duet_open_as(struct duet *d, const struct tux_opts *server,
		  const struct tux_opts *client)
{
	memset(d, 0, sizeof(*d));
	d->listen_at = d->connect_to = "127.0.0.1";
	part_open(&d->server, server);
	part_open(&d->client, client);
}

void duet_open(struct duet *d, enum tux_backend backend)
{
	struct tux_opts o = duet_opts(backend);

	duet_open_as(d, &o, &o);
}

static void *run(void *arg)
{
	struct part *p = arg;

	return (void *)(intptr_t)tux_run(p->t);
}

static void part_start(struct part *p)
{
	assert_int_equal(pthread_create(&p->thread, NULL, run, p), 0);
	p->runs = true;
}

void duet_start(struct duet *d)
{
	assert_int_equal(tux_listen(d->server.s, d->listen_at, 0), 0);
	d->port = (uint16_t)tux_port(d->server.s);
	assert_int_not_equal(d->port, 0);
	part_start(&d->server);
	part_start(&d->client);
}

void duet_meet(struct duet *d)
{
	assert_int_equal(tux_listen(d->server.s, d->listen_at, 0), 0);
	d->port = (uint16_t)tux_port(d->server.s);
	assert_int_equal(tux_connect(d->client.s, d->connect_to, d->port, NULL,
				     NULL), 0);
}

static void part_close(struct part *p)
{
	void *r;

	if (p->runs) {
		tux_stop(p->t);
		assert_int_equal(pthread_join(p->thread, &r), 0);
		assert_null(r);
	}
	tux_close(p->t);
}

void duet_close(struct duet *d)
{
	part_close(&d->client);
	part_close(&d->server);
}

/* ---- on a network thread ---- */

struct errand {
	void (*fn)(void *arg);
	void *arg;
	_Atomic unsigned done;
};

static void do_it(void *arg)
{
	struct errand *e = arg;

	e->fn(e->arg);
	atomic_store(&e->done, 1);
}

void part_do(struct part *p, void (*fn)(void *arg), void *arg)
{
	struct errand e = { .fn = fn, .arg = arg };

	assert_int_equal(tux_go(p->t, do_it, &e), 0);
	await(&e.done, 1);
}

struct wish {
	struct duet *d;
	void *user;
	struct tux_connection *c;
	int err;
};

static void connect_it(void *arg)
{
	struct wish *w = arg;

	w->err = tux_connect(w->d->client.s, w->d->connect_to, w->d->port,
			     w->user, &w->c);
}

struct tux_connection *duet_connect(struct duet *d, void *user)
{
	struct wish w = { .d = d, .user = user };

	part_do(&d->client, connect_it, &w);
	assert_int_equal(w.err, 0);
	return w.c;
}

void await(_Atomic unsigned *n, unsigned at_least)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);
	struct timespec ts = { .tv_nsec = 100000 };

	while (atomic_load(n) < at_least) {
		if (tux_clock_read() > until)
			fail_msg("%u of %u", atomic_load(n), at_least);
		nanosleep(&ts, NULL);
	}
}

int plain_connect(uint16_t port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}
