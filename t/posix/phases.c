/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * phases - connections that talk, then carry bulk one way or both, in turns
 *
 *	phases [SECONDS [SEED]]
 *
 * Each direction so has reason to move to Tux, to leave it and to come back.
 * Both ends are in this process, and know from the seed what comes next.  They
 * wait in different ways, and compare each byte.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

enum {
	CONNS = 16,
	PHASES = 24,		/* of a connection; then comes a new one */
	TURNS = 150,
	ASK_MAX = 2000,
	BULK_MAX = 1500000,
	CHUNK_MAX = 70000,
	STUCK_MS = 30000,
};

enum how { BLOCK, POLL, LEVEL, EDGE, HOWS };

struct end {
	int fd, ep;
	enum how how;
	unsigned id;
	uint64_t seed, sizes;	/* of what is agreed; of the pieces */
	uint64_t out, in;	/* bytes so far */
};

static double until;
static uint64_t first_seed = 1;
static _Atomic uint64_t bytes;
static _Atomic unsigned rounds;

static uint32_t draw(uint64_t *x, uint32_t n)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*x >> 33) % n;
}

static unsigned char byte_at(const struct end *e, uint64_t at)
{
	return (unsigned char)((at * 2654435761u >> 13) + e->id * 31);
}

static _Noreturn void wrong(const struct end *e, const char *what)
{
	fprintf(stderr, "connection %u, waits by %d: %s, errno %d, after %llu "
		"bytes out and %llu in\n", e->id, e->how, what, errno,
		(unsigned long long)e->out, (unsigned long long)e->in);
	printf("not ok 1 - %s\n", what);
	fflush(stdout);
	_Exit(1);
}

/* ---- waiting ---------------------------------------------------------- */

static void await(struct end *e, bool out)
{
	struct pollfd p = { .fd = e->fd, .events = out ? POLLOUT : POLLIN };
	struct epoll_event ev = { .events = out ? EPOLLOUT : EPOLLIN };
	int n;

	if (e->how == LEVEL &&
	    epoll_ctl(e->ep, EPOLL_CTL_MOD, e->fd, &ev))
		wrong(e, "epoll_ctl");
	n = e->how == POLL ? poll(&p, 1, STUCK_MS) :
	    epoll_wait(e->ep, &ev, 1, STUCK_MS);
	if (n == 0)
		wrong(e, out ? "waits for room for ever" :
		      "waits for bytes for ever");
	if (n < 0 && errno != EINTR)
		wrong(e, "wait");
}

/* ---- bytes ------------------------------------------------------------ */

static void put(struct end *e, size_t n)
{
	unsigned char *buf = malloc(CHUNK_MAX);
	uint64_t end = e->out + n;

	while (e->out < end) {
		size_t len = 1 + draw(&e->sizes, n < ASK_MAX ? 4096 : CHUNK_MAX);
		ssize_t k;

		if (len > end - e->out || n < ASK_MAX)
			len = (size_t)(end - e->out);
		if (len > CHUNK_MAX)
			len = CHUNK_MAX;
		for (size_t i = 0; i < len; i++)
			buf[i] = byte_at(e, e->out + i);
		k = write(e->fd, buf, len);
		if (k < 0 && errno == EAGAIN && e->how != BLOCK)
			await(e, true);
		else if (k <= 0)
			wrong(e, "write");
		else
			e->out += (uint64_t)k;
	}
	free(buf);
}

static void get(struct end *e, size_t n)
{
	unsigned char *buf = malloc(CHUNK_MAX);
	uint64_t end = e->in + n;

	while (e->in < end) {
		size_t len = 1 + draw(&e->sizes, CHUNK_MAX);
		ssize_t k;

		if (len > end - e->in)
			len = (size_t)(end - e->in);
		k = read(e->fd, buf, len);
		if (k < 0 && errno == EAGAIN && e->how != BLOCK) {
			await(e, false);
			continue;
		}
		if (k <= 0)
			wrong(e, k ? "read" : "end of file");
		for (ssize_t i = 0; i < k; i++)
			if (buf[i] != byte_at(e, e->in + (uint64_t)i))
				wrong(e, "wrong byte");
		e->in += (uint64_t)k;
		atomic_fetch_add(&bytes, (uint64_t)k);
	}
	free(buf);
}

struct load { struct end *e; size_t n; };

static void *put_thread(void *arg)
{
	struct load *l = arg;
	struct end e = *l->e;

	/* Its own instance: two threads do not share one that is modified. */
	e.ep = pair_epoll();
	if (e.how >= LEVEL)
		pair_add(e.ep, e.fd, EPOLLOUT | (e.how == EDGE ? EPOLLET : 0));
	put(&e, l->n);
	l->e->out = e.out;
	close(e.ep);
	return NULL;
}

static void both(struct end *e, size_t n)
{
	struct load l = { e, n };
	pthread_t t;
	uint64_t in;
	struct end r = *e;

	if (pthread_create(&t, NULL, put_thread, &l))
		wrong(e, "pthread_create");
	get(&r, n);
	in = r.in;
	pthread_join(t, NULL);
	e->in = in;
}

/* ---- a connection ----------------------------------------------------- */

static void talk(struct end *e, bool first, unsigned turns)
{
	for (unsigned i = 0; i < turns; i++) {
		size_t ask = 1 + draw(&e->seed, ASK_MAX - 1);
		size_t answer = 1 + draw(&e->seed, ASK_MAX - 1);

		if (first)
			put(e, ask);
		get(e, first ? answer : ask);
		if (!first)
			put(e, answer);
	}
}

static void phase(struct end *e, bool first)
{
	uint32_t what = draw(&e->seed, 6);
	uint32_t n = 1 + draw(&e->seed, BULK_MAX);

	if (what < 3)
		talk(e, first, 1 + n % TURNS);
	else if (what == 5)
		both(e, n / 4 + 1);
	else if ((what == 3) == first)
		put(e, n);
	else
		get(e, n);
}

static void life(struct end *e, bool first)
{
	int one = 1;

	setsockopt(e->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (e->how != BLOCK)
		fcntl(e->fd, F_SETFL, O_NONBLOCK);
	e->ep = pair_epoll();
	if (e->how >= LEVEL)
		pair_add(e->ep, e->fd, e->how == EDGE ?
			 EPOLLIN | EPOLLOUT | EPOLLET : EPOLLIN);
	for (int i = 0; i < PHASES && pair_ms() < until + STUCK_MS; i++)
		phase(e, first);
	close(e->ep);
	close(e->fd);
}

static void *server(void *arg)
{
	struct end *e = arg;

	life(e, false);
	free(e);
	return NULL;
}

static void connection(unsigned id, unsigned round)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	uint64_t seed = first_seed * 1000003 + id * 7919 + round;
	struct end c = { .id = id, .how = (id + round) % HOWS, .seed = seed,
			 .sizes = seed + 1 };
	struct end *s = malloc(sizeof(*s));
	uint16_t port;
	pthread_t t;
	int l = pair_listen(&port);

	a.sin_port = htons(port);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*s = c;
	s->how = (id / HOWS + round / HOWS) % HOWS;
	c.fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(c.fd, (void *)&a, sizeof(a)))
		wrong(&c, "connect");
	s->fd = accept(l, NULL, NULL);
	if (s->fd < 0 || pthread_create(&t, NULL, server, s))
		wrong(&c, "accept");
	life(&c, true);
	pthread_join(t, NULL);
	close(l);
	atomic_fetch_add(&rounds, 1);
}

static void *client(void *arg)
{
	unsigned id = (unsigned)(uintptr_t)arg;

	for (unsigned round = 0; pair_ms() < until; round++)
		connection(id, round);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[CONNS];

	signal(SIGPIPE, SIG_IGN);
	until = pair_ms() + 1000 * (argc > 1 ? atof(argv[1]) : 2);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	for (uintptr_t i = 0; i < CONNS; i++)
		pthread_create(&t[i], NULL, client, (void *)i);
	for (int i = 0; i < CONNS; i++)
		pthread_join(t[i], NULL);
	fprintf(stderr, "%u connections, %llu MB\n", rounds,
		(unsigned long long)bytes >> 20);
	printf("ok 1 - bulk and talk in turns\n");
	return 0;
}
