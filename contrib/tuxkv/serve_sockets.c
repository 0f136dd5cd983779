/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "workers.h"

enum {
	EVENTS = 64,
	BACKLOG = 1024,
	FULL_MS = 10,			/* without a descriptor for a client */
	PATIENCE_MS = 1000,		/* for a client that takes no answers */
};

struct socket_peer {
	struct peer peer;
	int fd;
	pthread_mutex_t lock;	/* answers come one after the other */
};

/* ---- answers ------------------------------------------------------------- */

static struct socket_peer *socket_peer_of(struct peer *p)
{
	return (struct socket_peer *)p;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* True if there is room before @until. */
static bool wait_for_room(int fd, int64_t until)
{
	struct pollfd p = { fd, POLLOUT, 0 };
	int64_t left = until - now_ms();

	return left > 0 && poll(&p, 1, (int)left) == 1;
}

static bool send_all(int fd, const char *p, size_t left, int64_t until)
{
	while (left) {
		ssize_t n = send(fd, p, left, MSG_NOSIGNAL);

		if (n >= 0) {
			p += n;
			left -= (size_t)n;
		} else if (errno == EAGAIN && wait_for_room(fd, until)) {
			continue;
		} else if (errno != EINTR) {
			return false;
		}
	}
	return true;
}

/* One send() for all answers: one for each would make this server slower than it need
 * be. */
static bool send_answers(int fd, struct job *const *job, unsigned n)
{
	char all[GROUP_MAX * KV_ANSWER_MAX];
	size_t len = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		memcpy(all + len, &job[i]->answer, job[i]->answer.hdr.len);
		len += job[i]->answer.hdr.len;
	}
	return send_all(fd, all, len, now_ms() + PATIENCE_MS);
}

static void socket_answer(struct peer *p, struct job *const *job, unsigned n)
{
	struct socket_peer *o = socket_peer_of(p);
	unsigned i;

	pthread_mutex_lock(&o->lock);
	if (!send_answers(o->fd, job, n))
		shutdown(o->fd, SHUT_RDWR);
	pthread_mutex_unlock(&o->lock);
	for (i = 0; i < n; i++)
		job_free(job[i]);
}

/* The last reference closes it. */
static void socket_done(struct peer *p)
{
	(void)p;
}

static void socket_free(struct peer *p)
{
	close(socket_peer_of(p)->fd);
	free(p);
}

static const struct peer_ops sockets = { socket_answer, socket_done, socket_free };

/* ---- the thread that reads ----------------------------------------------- */

static void welcome(int epoll, int fd)
{
	struct socket_peer *o = malloc(sizeof(*o));
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = o };
	int one = 1;

	if (!o || peer_init(&o->peer, &sockets, true)) {
		free(o);
		close(fd);
		return;
	}
	o->fd = fd;
	pthread_mutex_init(&o->lock, NULL);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev))
		peer_put(&o->peer);
}

static void accept_all(int epoll, int listener)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		welcome(epoll, fd);
	if (errno == EMFILE || errno == ENFILE)
		poll(NULL, 0, FULL_MS);	/* the connection waits, and is told again */
}

/* Returns 1; 0 at the end of the stream; -1: the connection should end. */
static int read_requests(struct workers *w, struct socket_peer *o)
{
	struct peer *p = &o->peer;
	ssize_t n = recv(o->fd, p->in + p->in_n, PEER_IN - p->in_n, 0);
	struct job *j;
	uint32_t at = 0;
	bool bad;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 1 : -1;
	if (n == 0)
		return 0;
	p->in_n += (uint32_t)n;
	while ((j = job_of_stream(p, &at, &bad)))
		workers_give_wait(w, j);
	return bad ? -1 : 1;
}

/* Jobs that are under way keep the descriptor, and are answered if the client has only
 * ended its stream. */
static void part(int epoll, struct socket_peer *o, bool at_once)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, o->fd, NULL);
	if (at_once)
		shutdown(o->fd, SHUT_RDWR);
	peer_put(&o->peer);
}

static void hear(int epoll, struct workers *w, struct socket_peer *o)
{
	int more = read_requests(w, o);

	if (more <= 0)
		part(epoll, o, more < 0);
}

static char stop_event;		/* its address stands for the signals */

/* Until a signal can be read. */
static int serve_events(struct workers *w, int epoll, int listener)
{
	struct epoll_event ev[EVENTS];

	for (;;) {
		int i, n = epoll_wait(epoll, ev, EVENTS, -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		for (i = 0; i < n; i++) {
			if (ev[i].data.ptr == &stop_event)
				return 0;
			if (!ev[i].data.ptr)
				accept_all(epoll, listener);
			else
				hear(epoll, w, ev[i].data.ptr);
		}
	}
}

/* ---- the server ---------------------------------------------------------- */

static int listen_on(const struct serve_opts *o)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(o->port) };
	socklen_t len = sizeof(a);
	int one = 1, fd;

	if (inet_pton(AF_INET, o->host, &a.sin_addr) != 1)
		return -EINVAL;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(fd, BACKLOG) ||
	    getsockname(fd, (struct sockaddr *)&a, &len)) {
		int err = errno;

		close(fd);
		return -err;
	}
	printf("port %d\n", ntohs(a.sin_port));
	return fd;
}

static int watch_fd(int epoll, int fd, void *ptr)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = ptr };

	return fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int serve_listener(struct engine *e, const struct serve_opts *o,
			  int listener, int signals)
{
	struct workers w;
	int epoll = epoll_create1(EPOLL_CLOEXEC), err;

	if (epoll < 0)
		return -errno;
	err = watch_fd(epoll, listener, NULL);
	if (!err)
		err = watch_fd(epoll, signals, &stop_event);
	if (!err) {
		err = workers_start(&w, e, o->workers ? o->workers : 1);
		if (!err)
			err = serve_events(&w, epoll, listener);
		workers_stop(&w);
	}
	close(epoll);
	return err;
}

int serve_sockets(struct engine *e, const struct serve_opts *o)
{
	int listener, signals, err;
	sigset_t stop;

	writers_init(&e->writers, &e->store, NULL, e->group);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	pthread_sigmask(SIG_BLOCK, &stop, NULL);
	signals = signalfd(-1, &stop, SFD_CLOEXEC);
	listener = listen_on(o);
	err = listener < 0 ? listener :
	      serve_listener(e, o, listener, signals);
	if (listener >= 0)
		close(listener);
	if (signals >= 0)
		close(signals);
	return err;
}
