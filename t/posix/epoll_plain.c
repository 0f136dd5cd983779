/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that asks for what it waits for anew with every request does not
 * enter the kernel for it, once the connection is on Tux: here the kernel lets
 * nobody change an instance, and nobody is the worse for it.
 */
#include <errno.h>
#include <pthread.h>

#include "../filter.h"
#include "pair.h"

enum { ROUNDS = 20 };

/* What redis-benchmark does with each request. */
static void request(int ep, struct pair *p)
{
	CHECK(pair_add(ep, p->a, EPOLLOUT) == 0);
	CHECK(pair_add(ep, p->a, EPOLLOUT) == EEXIST);
	CHECK(pair_until(ep, p->a, EPOLLOUT) == EPOLLOUT);
	CHECK(pair_del(ep, p->a) == 0);
	CHECK(pair_seen(ep, p->a, 0) == 0);
	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	CHECK(pair_seen(ep, p->a, 0) == 0);
	pair_poke(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) == EPOLLIN);
	CHECK(pair_mod(ep, p->a, EPOLLIN | EPOLLOUT) == 0);
	CHECK(pair_until(ep, p->a, EPOLLIN) == (EPOLLIN | EPOLLOUT));
	CHECK(pair_expect(p->a, 1));
	CHECK(pair_del(ep, p->a) == 0);
}

static void *requests(void *arg)
{
	int ep = pair_epoll();

	if (pair_preloaded())
		CHECK(filter_refuse(SYS_epoll_ctl, 0, 0, EPERM, 0));
	for (int i = 0; i < ROUNDS; i++)
		request(ep, arg);
	close(ep);
	return NULL;
}

static void toggled(void)
{
	struct pair p;
	pthread_t t;

	pair_open(&p, true);
	CHECK(pthread_create(&t, NULL, requests, &p) == 0);
	pthread_join(t, NULL);
	pair_close(&p);
}

/* What was added on Tux alone is told of what comes over TCP later: here the
 * end of a peer. */
static void ended(void)
{
	int ep = pair_epoll();
	struct pair p;

	pair_open(&p, true);
	CHECK(pair_add(ep, p.a, EPOLLIN | EPOLLRDHUP) == 0);
	CHECK(pair_seen(ep, p.a, 20) == 0);
	close(p.b);
	CHECK(pair_until(ep, p.a, EPOLLRDHUP) == (EPOLLIN | EPOLLRDHUP));
	close(p.a);
	close(ep);
}

int main(void)
{
	pair_once("added and removed with every request", toggled);
	pair_once("added without the kernel, and ended", ended);
	return pair_done();
}
