/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP socket of a connection, with a core that is played here.
 */
#include "loop/lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"

enum { DATA = 5, MUCH = 8 << 20 };

struct tux_conn {			/* what the core would say, and heard */
	size_t want, out_len;
	const uint8_t *out;
	uint8_t in[256];
	size_t in_len;
	int ends, err;
	unsigned outs, sents;	/* calls: one each */
	bool cut;		/* ... as long as bytes are left for TCP */
	bool tx, rx;		/* are on Tux */
};

bool tux_conn_tx_on_tux(const struct tux_conn *c)
{
	return c->tx;
}

bool tux_conn_rx_on_tux(const struct tux_conn *c)
{
	return c->rx;
}

size_t tux_conn_tcp_want(const struct tux_conn *c)
{
	return c->want;
}

void tux_conn_tcp_in(struct tux_conn *c, const uint8_t *p, size_t len,
		     tux_time now)
{
	(void)now;
	assert_true(len <= c->want);
	memcpy(c->in + c->in_len, p, len);
	c->in_len += len;
	c->want -= len;
}

void tux_conn_tcp_end(struct tux_conn *c, int err, tux_time now)
{
	(void)now;
	c->ends++;
	c->err = err;
}

size_t tux_conn_tcp_out(struct tux_conn *c, uint8_t *buf, size_t cap,
			tux_time now)
{
	size_t len = c->out_len < cap ? c->out_len : cap;

	(void)now;
	if (c->out)
		memcpy(buf, c->out, len);
	c->outs += len != 0;
	return len;
}

void tux_conn_tcp_sent(struct tux_conn *c, size_t n, tux_time now)
{
	(void)now;
	c->out += n;
	c->out_len -= n;
	c->sents++;
}

bool tux_conn_tcp_cut(const struct tux_conn *c)
{
	return c->cut && c->out_len;
}

struct rig {
	struct tux_lifeline t;
	struct tux_conn c;
	int peer, app, epfd;
	uint8_t buf[TUX_LIFELINE_BUF];
};

static void up(struct rig *r)
{
	int fd[2];

	memset(r, 0, sizeof(*r));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	r->peer = fd[0];
	r->app = fd[1];
	r->epfd = epoll_create1(0);
	tux_lifeline_init(&r->t);
	assert_int_equal(tux_lifeline_open(&r->t, r->app, false), 0);
	assert_int_not_equal(r->t.fd, r->app);
	close(r->app);
}

static void down(struct rig *r)
{
	tux_lifeline_close(&r->t, r->epfd, false);
	assert_int_equal(r->t.fd, -1);
	close(r->peer);
	close(r->epfd);
}

/* What epoll reports now; 0: nothing. */
static uint32_t look(struct rig *r)
{
	struct epoll_event e;

	tux_lifeline_watch(&r->t, &r->c, r->epfd, DATA);
	if (epoll_wait(r->epfd, &e, 1, 0) != 1)
		return 0;
	assert_int_equal(e.data.u64, DATA);
	return e.events;
}

static void step(struct rig *r)
{
	tux_lifeline_event(&r->t, &r->c, look(r), r->buf, 1);
}

static void event__reads_no_more_than_wanted(void **state)
{
	static struct rig r;
	char rest[8];

	(void)state;
	up(&r);
	assert_int_equal(write(r.peer, "0123456789", 10), 10);
	assert_int_equal(look(&r), 0);		/* nobody wants it */
	r.c.want = 4;
	step(&r);
	assert_int_equal(r.c.in_len, 4);
	assert_memory_equal(r.c.in, "0123", 4);
	assert_int_equal(look(&r), 0);
	assert_int_equal(recv(r.t.fd, rest, 8, MSG_DONTWAIT), 6);
	down(&r);
}

static void event__tells_the_end_when_all_is_read(void **state)
{
	static struct rig r;

	(void)state;
	up(&r);
	r.c.want = 4;
	assert_int_equal(write(r.peer, "012345", 6), 6);
	shutdown(r.peer, SHUT_WR);
	step(&r);
	assert_int_equal(r.c.ends, 0);
	/* At the end of what is wanted, the end of file is none of ours. */
	assert_int_equal(look(&r), 0);
	r.c.want = 16;
	step(&r);
	assert_int_equal(r.c.in_len, 6);
	assert_int_equal(r.c.ends, 1);
	assert_int_equal(r.c.err, 0);
	assert_int_equal(look(&r), 0);		/* and never again */
	down(&r);
}

/* HUP is always reported for what epoll holds: so it must not hold it. */
static void watch__is_quiet_about_a_hang_up_nobody_reads(void **state)
{
	static struct rig r;

	(void)state;
	up(&r);
	r.c.want = 1;
	assert_int_equal(look(&r), 0);
	r.c.want = 0;
	close(r.peer);
	assert_int_equal(look(&r), 0);
	r.c.want = 1;
	assert_true(look(&r) & EPOLLHUP);
	step(&r);
	assert_int_equal(r.c.ends, 1);
	down(&r);
}

/* Where TCP must not just end, the kernel resets it, if this process dies; else what
 * the program has set counts. */
static void write__guards_what_is_cut(void **state)
{
	const struct linger own = { .l_onoff = 1, .l_linger = 7 };
	static uint8_t much[MUCH];
	socklen_t len = sizeof(own);
	struct linger is;
	struct rig r;

	(void)state;
	up(&r);
	assert_int_equal(setsockopt(r.t.fd, SOL_SOCKET, SO_LINGER, &own, len),
			 0);
	r.c.cut = true;
	r.c.out = much;
	r.c.out_len = MUCH;
	tux_lifeline_write(&r.t, &r.c, r.buf, 0);
	assert_true(r.c.out_len > 0);
	getsockopt(r.t.fd, SOL_SOCKET, SO_LINGER, &is, &len);
	assert_true(is.l_onoff && !is.l_linger);
	while (r.c.out_len) {
		assert_true(read(r.peer, much, MUCH) > 0);
		r.t.full = false;
		tux_lifeline_write(&r.t, &r.c, r.buf, 0);
	}
	getsockopt(r.t.fd, SOL_SOCKET, SO_LINGER, &is, &len);
	assert_true(is.l_onoff && is.l_linger == 7);
	down(&r);
}

static void write__waits_for_room(void **state)
{
	static struct rig r;
	uint8_t *much = calloc(1, MUCH), got[4096];
	size_t n = 0;
	ssize_t k;

	(void)state;
	up(&r);
	r.c.out = much;
	r.c.out_len = MUCH;
	assert_int_equal(look(&r), 0);
	tux_lifeline_write(&r.t, &r.c, r.buf, 1);
	assert_true(r.t.full);
	assert_true(r.c.out_len > 0);
	assert_int_equal(look(&r), 0);
	while (n < MUCH) {
		k = recv(r.peer, got, sizeof(got), MSG_DONTWAIT);
		assert_true(k > 0);
		n += (size_t)k;
		step(&r);
	}
	assert_int_equal(r.c.out_len, 0);
	assert_false(r.t.full);
	assert_int_equal(look(&r), 0);
	down(&r);
	free(much);
}

static void write__that_fails_waits_for_what_is_to_be_read(void **state)
{
	static struct rig r;

	(void)state;
	up(&r);
	assert_int_equal(write(r.peer, "last words", 10), 10);
	close(r.peer);
	r.c.want = 100;
	r.c.out = (const uint8_t *)"x";
	r.c.out_len = 1;
	tux_lifeline_write(&r.t, &r.c, r.buf, 1);
	assert_int_equal(r.c.ends, 0);
	step(&r);
	assert_int_equal(r.c.in_len, 10);
	assert_int_equal(r.c.ends, 1);
	assert_int_equal(r.c.err, EPIPE);
	down(&r);
}

static void write__that_fails_with_nothing_to_read_is_the_end(void **state)
{
	static struct rig r;

	(void)state;
	up(&r);
	close(r.peer);
	r.c.out = (const uint8_t *)"x";
	r.c.out_len = 1;
	tux_lifeline_write(&r.t, &r.c, r.buf, 1);
	assert_int_equal(r.c.ends, 1);
	assert_int_equal(r.c.err, EPIPE);
	down(&r);
}

/* ---- acknowledgments of TCP ---- */

enum { ROUNDS = 20 };

static void accepted(int listener, int fd[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(listener, (void *)&at, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (void *)&at, &len), 0);
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd[0], (void *)&at, len), 0);
	fd[1] = accept(listener, NULL, NULL);
	assert_true(fd[1] >= 0);
	close(listener);
}

/* Questions and answers: from now on, each end's acknowledgments wait for its
 * own data. */
static void talk(const int fd[2])
{
	char c = 'x';
	int i;

	for (i = 0; i < ROUNDS; i++) {
		assert_int_equal(write(fd[0], &c, 1), 1);
		assert_int_equal(read(fd[1], &c, 1), 1);
		assert_int_equal(write(fd[1], &c, 1), 1);
		assert_int_equal(read(fd[0], &c, 1), 1);
	}
}

static int acknowledges_at_once(int fd)
{
	socklen_t len = sizeof(int);
	int yes = -1;

	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &yes, &len),
			 0);
	return yes;
}

/* What does the application's next write say when the peer has reset TCP, and the
 * loop has tried to write? */
static int left_to_say(bool tx, bool rx)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct tux_lifeline t;
	static uint8_t buf[TUX_LIFELINE_BUF];
	struct tux_conn c = { .out = (const uint8_t *)"x", .out_len = 1,
			      .tx = tx, .rx = rx };
	int fd[2], err;

	accepted(socket(AF_INET, SOCK_STREAM, 0), fd);
	tux_lifeline_init(&t);
	assert_int_equal(tux_lifeline_open(&t, fd[0], false), 0);
	assert_int_equal(connect(fd[1], &none, sizeof(none)), 0);
	tux_lifeline_write(&t, &c, buf, 1);
	assert_int_equal(c.ends, 1);
	assert_int_equal(c.err, ECONNRESET);
	assert_int_equal(c.outs, c.sents);	/* it may hold a latch between */
	assert_int_equal(send(fd[0], "x", 1, MSG_NOSIGNAL), -1);
	err = errno;
	tux_lifeline_close(&t, -1, false);
	close(fd[0]);
	close(fd[1]);
	return err;
}

/* Where TCP carries both directions, the application sees its error there. */
static void write__leaves_the_error_where_it_is_read(void **state)
{
	(void)state;
	assert_int_equal(left_to_say(false, false), ECONNRESET);
	assert_int_equal(left_to_say(true, false), EPIPE);
	assert_int_equal(left_to_say(false, true), EPIPE);
}

static void acknowledge__is_at_once_while_alone(void **state)
{
	struct tux_lifeline t;
	unsigned tries = 100;
	int fd[2];

	(void)state;
	accepted(socket(AF_INET, SOCK_STREAM, 0), fd);
	tux_lifeline_init(&t);
	tux_lifeline_acknowledge(&t, true);	/* there is none yet */
	tux_lifeline_acknowledge(&t, false);
	assert_int_equal(tux_lifeline_open(&t, fd[0], false), 0);
	/* The kernel delays them only while answers come soon. */
	do {
		talk(fd);
		tux_lifeline_acknowledge(&t, false);
	} while (acknowledges_at_once(fd[0]) && --tries);
	assert_int_not_equal(tries, 0);
	tux_lifeline_acknowledge(&t, true);
	assert_int_equal(acknowledges_at_once(fd[0]), 1);
	tux_lifeline_close(&t, -1, false);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event__reads_no_more_than_wanted),
		cmocka_unit_test(event__tells_the_end_when_all_is_read),
		cmocka_unit_test(watch__is_quiet_about_a_hang_up_nobody_reads),
		cmocka_unit_test(write__waits_for_room),
		cmocka_unit_test(write__guards_what_is_cut),
		cmocka_unit_test(write__that_fails_waits_for_what_is_to_be_read),
		cmocka_unit_test(
			write__that_fails_with_nothing_to_read_is_the_end),
		cmocka_unit_test(write__leaves_the_error_where_it_is_read),
		cmocka_unit_test(acknowledge__is_at_once_while_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
