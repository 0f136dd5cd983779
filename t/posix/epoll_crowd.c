/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A crowd: threads that share one instance serve an echo, clients come and go,
 * each waiting for edges.  Nothing is lost, nobody is forgotten.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

enum {
	SERVERS = 4, CLIENTS = 8,
	RUN_MS = 3000, PATIENCE_MS = 30000,
	ROUNDS = 200, SMALL = 200, LARGE = 19000,
};

struct crowd {
	int ep, listener;
	uint16_t port;
	uint32_t how;		/* what servers add to their events */
	_Atomic int stop, left;	/* for servers; clients still there */
	_Atomic int wrong;
	double end;
};

struct client {
	struct crowd *c;
	unsigned seed;
	int ep, fd;
	char out[LARGE], in[LARGE];
};

static bool wrong(struct crowd *c, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	c->wrong++;
	return false;
}

/* ---- servers ---------------------------------------------------------- */

static void welcome(struct crowd *c)
{
	int fd;

	while ((fd = accept4(c->listener, NULL, NULL, SOCK_NONBLOCK)) >= 0)
		if (pair_add(c->ep, fd, EPOLLIN | EPOLLRDHUP | c->how))
			wrong(c, "server: ADD");
	if (pair_mod(c->ep, c->listener, EPOLLIN | EPOLLONESHOT))
		wrong(c, "server: MOD of the listener");
}

static bool send_all(int fd, const char *p, size_t len)
{
	struct pollfd f = { .fd = fd, .events = POLLOUT };

	while (len) {
		ssize_t k = send(fd, p, len, MSG_NOSIGNAL);

		if (k > 0) {
			p += k;
			len -= (size_t)k;
		} else if (errno != EAGAIN || poll(&f, 1, PATIENCE_MS) != 1) {
			return false;
		}
	}
	return true;
}

/* False: the client has gone. */
static bool echo(int fd)
{
	char buf[20000];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		if (!send_all(fd, buf, (size_t)n))
			return false;
	return n < 0 && errno == EAGAIN;
}

static void *serve(void *arg)
{
	struct epoll_event e[8];
	struct crowd *c = arg;

	while (!c->stop) {
		int n = epoll_wait(c->ep, e, 8, 200);

		for (int i = 0; i < n; i++) {
			int fd = e[i].data.fd;

			if (fd == c->listener)
				welcome(c);
			else if (!echo(fd))
				close(fd);
			else if (pair_mod(c->ep, fd,
					  EPOLLIN | EPOLLRDHUP | c->how))
				wrong(c, "server: MOD");
		}
	}
	return NULL;
}

/* ---- clients ---------------------------------------------------------- */

/* An edge must come.  Data without one was forgotten. */
static bool wait_edge(struct client *t)
{
	struct epoll_event e;
	char b;

	if (epoll_wait(t->ep, &e, 1, PATIENCE_MS) > 0)
		return true;
	return wrong(t->c, recv(t->fd, &b, 1, MSG_PEEK) > 0 ?
			   "client: no edge" : "client: no answer");
}

/* One message there and back. */
static bool talk(struct client *t, size_t len)
{
	size_t sent = 0, got = 0;

	for (size_t i = 0; i < len; i++)
		t->out[i] = (char)rand_r(&t->seed);
	while (got < len) {
		ssize_t k = sent == len ? 0 :
			    send(t->fd, t->out + sent, len - sent,
				 MSG_NOSIGNAL);

		sent += k > 0 ? (size_t)k : 0;
		k = recv(t->fd, t->in + got, len - got, 0);
		if (k > 0)
			got += (size_t)k;
		else if (k == 0 || errno != EAGAIN)
			return wrong(t->c, "client: read");
		else if (!wait_edge(t))
			return false;
	}
	return memcmp(t->in, t->out, len) == 0 ||
	       wrong(t->c, "client: wrong bytes");
}

static void visit(struct client *t)
{
	int rounds = rand_r(&t->seed) % ROUNDS;

	t->fd = pair_dial(t->c->port);
	if (pair_add(t->ep, t->fd, EPOLLIN | EPOLLOUT | EPOLLET))
		wrong(t->c, "client: ADD");
	for (int i = 0; i < rounds; i++) {
		int max = i % 10 ? SMALL : LARGE;

		if (!talk(t, 1 + (size_t)(rand_r(&t->seed) % max)))
			break;
	}
	close(t->fd);
}

static void *come_and_go(void *arg)
{
	struct client *t = arg;

	t->ep = pair_epoll();
	while (pair_ms() < t->c->end && !t->c->wrong)
		visit(t);
	close(t->ep);
	t->c->left--;
	free(t);
	return NULL;
}

/* ---- cases ------------------------------------------------------------ */

static void start(struct crowd *c, pthread_t *client, pthread_t *server)
{
	for (int i = 0; i < SERVERS; i++)
		pthread_create(&server[i], NULL, serve, c);
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *t = calloc(1, sizeof(*t));

		t->c = c;
		t->seed = i + 1;
		pthread_create(&client[i], NULL, come_and_go, t);
	}
}

static void run(uint32_t how)
{
	struct crowd c = { .ep = pair_epoll(), .left = CLIENTS, .how = how };
	pthread_t client[CLIENTS], server[SERVERS];

	c.listener = pair_listen(&c.port);
	c.end = pair_ms() + RUN_MS;
	CHECK(pair_add(c.ep, c.listener, EPOLLIN | EPOLLONESHOT) == 0);
	start(&c, client, server);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(client[i], NULL);
	c.stop = 1;
	for (int i = 0; i < SERVERS; i++)
		pthread_join(server[i], NULL);
	CHECK(c.left == 0);
	CHECK(c.wrong == 0);
	close(c.listener);
	close(c.ep);
}

static void by_level(void)
{
	run(EPOLLONESHOT);
}

static void by_edge(void)
{
	run(EPOLLONESHOT | EPOLLET);
}

int main(void)
{
	pair_once("a crowd, by level", by_level);
	pair_once("a crowd, by edge", by_edge);
	return pair_done();
}
