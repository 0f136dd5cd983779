/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams - many connections that come and go, each full of bytes that both
 * ends know
 *
 *   streams serve PORT [ADDRESS]
 *   streams call HOST PORT [CONNECTIONS [SEED]]
 *
 * A caller names a message: so many bytes up, so many down, and a seed for
 * them.  Both ends send at once, and each checks every byte that comes.  After
 * some messages the caller closes, or breaks off in the middle of one, as the
 * message has said, and dials again.  The first wrong byte, an end too early,
 * and a connection on which nothing moves, end the program with 1.  On SIGTERM
 * the caller finishes what it has begun; the last line says "messages N".
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "../../posix/client.h"
#include "known.h"

enum {
	CHUNK = 32768, BATCH = 64, TICK_MS = 100,
	HEAD = 20,		/* seed, up, down */
	STUCK_MS = 60000,	/* TCP alone may pause for long after a cut */
	MOST = 2 << 20,		/* bytes each way */
	PER_CONN = 60,		/* messages, at most */
};

struct stream {
	int fd;				/* -1: to be dialled */
	uint8_t head[HEAD];
	uint32_t head_at;		/* of it, sent or received */
	struct known in, out;
	uint32_t left;			/* messages until the caller closes */
	uint32_t break_at;		/* byte of `in` to break off at; 0: none */
	uint64_t moved_at;		/* client_now() */
	bool wants_out;			/* what epoll was told */
};

static bool serves;
static const char *host;
static uint16_t port;
static int ep;
static struct tux_rng rng;
static uint64_t messages, broken;
static volatile sig_atomic_t stopped;

/* ---- messages ----------------------------------------------------------- */

static bool all_done(const struct stream *s)
{
	return s->head_at == HEAD && s->in.at == s->in.len &&
	       s->out.at == s->out.len;
}

/* What the head says, as this end sees it.  The highest bit of the seed says
 * that the caller will break it off. */
static void take_head(struct stream *s)
{
	uint64_t seed = tux_get64(s->head);
	struct known up = { seed, 0, tux_get32(s->head + 8) };
	struct known down = { ~seed, 0, tux_get32(s->head + 12) };

	if (tux_get32(s->head + 16) != (uint32_t)known_word(seed, 0))
		client_fail("a head that nobody wrote");
	s->in = serves ? up : down;
	s->out = serves ? down : up;
}

/* Who breaks off may take the head that says so with it: a reset discards what
 * has not been read. */
static bool may_end(const struct stream *s, int err)
{
	if (s->head_at == HEAD)
		return s->head[0] & 0x80;
	return err == ECONNRESET || (!err && !s->head_at);
}

/* 0 to MOST, short ones as likely as long ones. */
static uint32_t some_length(void)
{
	uint64_t r = tux_rng_u64(&rng);

	return (uint32_t)((r >> 8) % (2u << r % 21)) % MOST;
}

static void next_message(struct stream *s)
{
	uint64_t seed = tux_rng_u64(&rng) >> 1;
	bool breaks = tux_rng_u64(&rng) % 64 == 0;

	tux_put64(s->head, seed | (uint64_t)breaks << 63);
	tux_put32(s->head + 8, some_length());
	tux_put32(s->head + 12, some_length());
	tux_put32(s->head + 16, (uint32_t)known_word(tux_get64(s->head), 0));
	take_head(s);
	s->head_at = 0;
	s->break_at = breaks && s->in.len ?
		      1 + (uint32_t)(tux_rng_u64(&rng) % s->in.len) : 0;
}

/* ---- connections -------------------------------------------------------- */

static void watch(struct stream *s, int op, bool out)
{
	struct epoll_event e = {
		.events = EPOLLIN | (out ? EPOLLOUT : 0), .data.ptr = s,
	};

	s->wants_out = out;
	if (epoll_ctl(ep, op, s->fd, &e))
		client_fail("epoll_ctl: %s", strerror(errno));
}

static void begin(struct stream *s, int fd)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->moved_at = client_now();
	watch(s, EPOLL_CTL_ADD, !serves);
}

static void end(struct stream *s)
{
	close(s->fd);
	s->fd = -1;
}

static void dial(struct stream *s)
{
	struct sockaddr_storage a;
	socklen_t len = client_name(&a, host, port);
	int fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			0);

	if (fd < 0)
		client_fail("socket: %s", strerror(errno));
	if (connect(fd, (void *)&a, len) && errno != EINPROGRESS) {
		if (!client_no_way(errno))
			client_fail("connect: %s", strerror(errno));
		close(fd);
		return;
	}
	begin(s, fd);
	s->left = 1 + (uint32_t)(tux_rng_u64(&rng) % PER_CONN);
	next_message(s);
}

/* The connection has ended, by @err or at end of file (0). */
static void ended(struct stream *s, int err)
{
	if (!serves && client_no_way(err) && !s->head_at) {
		end(s);
		return;
	}
	if (!serves || !may_end(s, err))
		client_fail("an end too early: %s; message %" PRIu64 ", head "
			    "%u, in %u of %u, out %u of %u",
			    err ? strerror(err) : "end of file", messages,
			    s->head_at, s->in.at, s->in.len, s->out.at,
			    s->out.len);
	end(s);
}

static void break_off(struct stream *s)
{
	static const struct linger reset = { 1, 0 };

	if (tux_rng_u64(&rng) % 2)
		setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &reset,
			   sizeof(reset));
	broken++;
	end(s);
}

/* A message is complete.  True if there is another. */
static bool complete(struct stream *s)
{
	messages++;
	s->head_at = 0;
	if (serves)
		return true;
	if (stopped || !--s->left) {
		end(s);
		return false;
	}
	next_message(s);
	return true;
}

/* ---- bytes in and out --------------------------------------------------- */

static bool soft(int err)
{
	return err == EAGAIN || err == EINTR;
}

/* True if something moved; the stream may have ended. */
static bool send_some(struct stream *s)
{
	static uint8_t buf[CHUNK];
	bool head = !serves && s->head_at < HEAD;
	size_t n = head ? HEAD - s->head_at : known_fill(&s->out, buf, CHUNK);
	ssize_t r;

	if (!n || (serves && s->head_at < HEAD))
		return false;
	r = send(s->fd, head ? s->head + s->head_at : buf, n, MSG_NOSIGNAL);
	if (r < 0) {
		if (!soft(errno))
			ended(s, errno);
		return false;
	}
	*(head ? &s->head_at : &s->out.at) += (uint32_t)r;
	return true;
}

static bool recv_some(struct stream *s)
{
	static uint8_t buf[CHUNK];
	bool head = serves && s->head_at < HEAD;
	size_t want = head ? HEAD - s->head_at : s->in.len - s->in.at;
	ssize_t r;

	/* When all is there, whatever comes is the end, or wrong. */
	r = recv(s->fd, buf, !want ? 1 : want < CHUNK ? want : CHUNK, 0);
	if (r <= 0) {
		if (!r || !soft(errno))
			ended(s, r ? errno : 0);
		return false;
	}
	if (!want)
		client_fail("more than was asked for");
	if (head) {
		memcpy(s->head + s->head_at, buf, (size_t)r);
		s->head_at += (uint32_t)r;
		if (s->head_at == HEAD)
			take_head(s);
		return true;
	}
	if (!known_are(&s->in, buf, (size_t)r))
		client_fail("wrong bytes in %u to %zu of %u", s->in.at,
			    s->in.at + (size_t)r, s->in.len);
	s->in.at += (uint32_t)r;
	return true;
}

/* One of each, so that no connection holds up the others. */
static void step(struct stream *s)
{
	bool moved, out;

	moved = recv_some(s);
	if (s->fd >= 0)
		moved |= send_some(s);
	if (s->fd < 0)
		return;
	if (moved)
		s->moved_at = client_now();
	if (s->break_at && s->in.at >= s->break_at) {
		break_off(s);
		return;
	}
	if (all_done(s) && !complete(s))
		return;
	out = s->out.at < s->out.len || (!serves && s->head_at < HEAD);
	if (out != s->wants_out)
		watch(s, EPOLL_CTL_MOD, out);
}

/* ---- the two programs --------------------------------------------------- */

static void on_term(int sig)
{
	stopped = sig;
}

static void take_all(int l)
{
	struct stream *s;
	int fd;

	while ((fd = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		s = malloc(sizeof(*s));
		if (!s)
			client_fail("no memory");
		begin(s, fd);
	}
}

static int listen_at(void)
{
	struct sockaddr_storage a;
	socklen_t len = client_name(&a, host, port);
	int fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			0);
	struct epoll_event e = { .events = EPOLLIN };

	if (fd < 0 || bind(fd, (void *)&a, len) || listen(fd, 512) ||
	    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e))
		client_fail("listen: %s", strerror(errno));
	return fd;
}

static void serve(void)
{
	struct epoll_event e[BATCH];
	int l = listen_at(), i, n;

	while (!stopped) {
		n = epoll_wait(ep, e, BATCH, -1);
		for (i = 0; i < n; i++) {
			struct stream *s = e[i].data.ptr;

			if (!s) {
				take_all(l);
				continue;
			}
			step(s);
			if (s->fd < 0)
				free(s);
		}
	}
}

/* Dials what has ended, and ends if something stands still.  False: all have
 * ended, and none is to come. */
static bool look_after(struct stream *s, uint32_t n)
{
	uint64_t now = client_now();
	bool any = false;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (s[i].fd < 0 && !stopped)
			dial(&s[i]);
		if (s[i].fd < 0)
			continue;
		any = true;
		if (now > s[i].moved_at + STUCK_MS)
			client_fail("stuck: head %u, in %u of %u, out %u of "
				    "%u", s[i].head_at, s[i].in.at,
				    s[i].in.len, s[i].out.at, s[i].out.len);
	}
	return any || !stopped;
}

static void call(uint32_t n)
{
	struct stream *s = calloc(n, sizeof(*s));
	uint64_t looked = 0;
	struct epoll_event e[BATCH];
	uint32_t i;
	int k;

	if (!s)
		client_fail("no memory");
	for (i = 0; i < n; i++)
		s[i].fd = -1;
	for (;;) {
		if (client_now() >= looked + TICK_MS) {
			if (!look_after(s, n))
				break;
			looked = client_now();
		}
		k = epoll_wait(ep, e, BATCH, TICK_MS);
		while (k-- > 0)
			step(e[k].data.ptr);
	}
	free(s);
}

static void usage(void)
{
	fputs("usage: streams serve PORT [ADDRESS]\n"
	      "       streams call HOST PORT [CONNECTIONS [SEED]]\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_term };
	struct tux_key key = { 0, 0x73747265616d73 };
	bool calls = argc > 3 && !strcmp(argv[1], "call");
	uint32_t conns = 20;

	serves = (argc == 3 || argc == 4) && !strcmp(argv[1], "serve");
	if (!serves && !calls)
		usage();
	host = calls ? argv[2] : argc == 4 ? argv[3] : "0.0.0.0";
	port = (uint16_t)client_number("port", argv[serves ? 2 : 3], 1, 65535);
	if (argc > 4)
		conns = (uint32_t)client_number("connections", argv[4], 1, 1000);
	if (argc > 5)
		key.k0 = client_number("seed", argv[5], 0, UINT64_MAX);
	tux_rng_init(&rng, &key);
	sigaction(SIGTERM, &sa, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	ep = epoll_create1(EPOLL_CLOEXEC);
	if (serves)
		serve();
	else
		call(conns);
	printf("messages %" PRIu64 " broken %" PRIu64 "\n", messages, broken);
	return 0;
}
