/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets that the program has accepted or connected by itself, as connections
 * of tux.h, and callbacks that are level-triggered.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "sys/clock.h"

enum { ROUNDS = 500, LIMIT_S = 30, BIG = 1 << 20, LOOKS = 20, QUIET = 20 };

static _Atomic unsigned opened, gone, rounds, wrong, streams, rooms, bytes;
static _Atomic int gone_err, gone_reason;
static _Atomic unsigned gone_on_tux;
static bool to_move;

static void on_open(struct tux_connection *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&opened, 1);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	struct tux_connection_stats st;

	(void)arg;
	if (tux_connection_stats(c, &st, sizeof(st)))
		atomic_fetch_add(&wrong, 1);
	if (st.tux_tx && st.tux_rx)
		atomic_fetch_add(&gone_on_tux, 1);
	if (tux_socket(c) != -ENOTCONN)
		atomic_fetch_add(&wrong, 1);
	atomic_store(&gone_err, err);
	atomic_store(&gone_reason, (int)tux_reason(c));
	atomic_fetch_add(&gone, 1);
}

static void reset_counts(void)
{
	opened = gone = rounds = wrong = streams = rooms = bytes = 0;
	gone_err = gone_reason = 0;
	gone_on_tux = 0;
	to_move = false;
}

static void hear(struct part *p)
{
	tux_on_open(p->s, on_open, NULL);
	tux_on_gone(p->s, on_gone, NULL);
}

/* ---- requests and answers ---- */

static void on_request(struct tux_connection *c, void *arg)
{
	char p[64];
	ssize_t k;

	(void)arg;
	while ((k = tux_read(c, p, sizeof(p))) > 0)
		if (tux_write(c, p, (size_t)k) != k)
			atomic_fetch_add(&wrong, 1);
	if (k == 0)
		tux_disconnect(c);
}

static void ask(struct tux_connection *c)
{
	if (tux_write(c, "what", 4) != 4)
		atomic_fetch_add(&wrong, 1);
}

static void on_client_open(struct tux_connection *c, void *arg)
{
	on_open(c, arg);
	ask(c);
}

/* So many, and until some have gone over Tux, if they are to. */
static bool asks_on(const struct tux_connection *c)
{
	struct tux_connection_stats st;

	if (atomic_fetch_add(&rounds, 1) + 1 < ROUNDS)
		return true;
	return to_move && !tux_connection_stats(c, &st, sizeof(st)) &&
	       (!st.tux_tx || !st.tux_rx);
}

static void go_on(struct tux_connection *c)
{
	if (asks_on(c))
		ask(c);
	else
		tux_disconnect(c);
}

static void on_answer(struct tux_connection *c, void *arg)
{
	char p[8];
	ssize_t k = tux_read(c, p, sizeof(p));

	(void)arg;
	if (k == -EAGAIN)
		return;
	if (k != 4 || memcmp(p, "what", 4))
		atomic_fetch_add(&wrong, 1);
	go_on(c);
}

static void up(struct duet *d, enum tux_backend backend)
{
	reset_counts();
	duet_open(d, backend);
	hear(&d->server);
	hear(&d->client);
	tux_on_stream(d->server.s, on_request, NULL);
	tux_on_open(d->client.s, on_client_open, NULL);
	tux_on_stream(d->client.s, on_answer, NULL);
}

/* ---- sockets of the program's own ---- */

static struct sockaddr_in here(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static int a_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	return fd;
}

static int a_listener(struct tux *t, uint16_t *port)
{
	struct sockaddr_in a = here(0);
	socklen_t len = sizeof(a);
	int fd = a_socket();

	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	if (t)
		assert_int_equal(tux_announce(t, fd), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

/* Connected sockets: fd[0] has called connect(). */
static void a_pair(struct tux *client, int listener, uint16_t port, int fd[2])
{
	struct sockaddr_in a = here(port);

	fd[0] = a_socket();
	if (client)
		assert_int_equal(tux_announce(client, fd[0]), 0);
	assert_int_equal(connect(fd[0], (struct sockaddr *)&a, sizeof(a)), 0);
	fd[1] = accept(listener, NULL, NULL);
	assert_true(fd[1] >= 0);
}

/* What programs say before they hand a socket over. */
static void greet(int from, int to)
{
	char p[6];

	assert_int_equal(send(from, "hello", 6, 0), 6);
	assert_int_equal(recv(to, p, 6, MSG_WAITALL), 6);
	assert_string_equal(p, "hello");
}

struct attachment {
	struct part *p;
	int fd, err;
	struct tux_connection *c;
};

static void attach_it(void *arg)
{
	struct attachment *a = arg;

	a->err = tux_attach(a->p->s, a->fd, a, &a->c);
	if (!a->err && (tux_user(a->c) != a || tux_socket(a->c) != a->fd))
		atomic_fetch_add(&wrong, 1);
}

/* On its network thread. */
static int attach(struct part *p, int fd)
{
	struct attachment a = { .p = p, .fd = fd };

	part_do(p, attach_it, &a);
	return a.err;
}

/* duet_start() has the server listen as well; no test connects there. */
static void part_run(struct duet *d)
{
	duet_start(d);
}

static void exchange(enum tux_backend backend, bool announced)
{
	struct duet d;
	uint16_t port;
	int fd[2], listener;

	up(&d, backend);
	to_move = backend == TUX_BACKEND_UDP && announced;
	listener = a_listener(announced ? d.server.t : NULL, &port);
	part_run(&d);
	a_pair(d.client.t, listener, port, fd);
	greet(fd[0], fd[1]);
	greet(fd[1], fd[0]);
	greet(fd[1], fd[0]);
	assert_int_equal(attach(&d.server, fd[1]), 0);
	assert_int_equal(attach(&d.client, fd[0]), 0);
	await(&gone, 2);
	assert_int_equal(opened, 2);
	assert_true(rounds >= ROUNDS);
	assert_int_equal(wrong, 0);
	assert_int_equal(gone_err, 0);
	duet_close(&d);
	close(listener);
}

static void attach__both_ends(void **state)
{
	(void)state;
	exchange(TUX_BACKEND_UDP, true);
	assert_int_equal(gone_on_tux, 2);
}

static void attach__tcp_alone(void **state)
{
	(void)state;
	exchange(TUX_BACKEND_TCP, true);
	assert_int_equal(gone_on_tux, 0);
}

static void attach__not_announced(void **state)
{
	(void)state;
	exchange(TUX_BACKEND_UDP, false);
	assert_int_equal(gone_on_tux, 0);
}

/* What is attached to the server stays on TCP, for the reason @why: @announced, as
 * both ends may be, or bound to a @device. */
static void stays(bool announced, bool device, const char *why)
{
	struct duet d;
	uint16_t port;
	int fd[2], listener;

	up(&d, TUX_BACKEND_UDP);
	listener = a_listener(announced ? d.server.t : NULL, &port);
	part_run(&d);
	a_pair(announced ? d.client.t : NULL, listener, port, fd);
	if (device)
		assert_int_equal(setsockopt(fd[1], SOL_SOCKET, SO_BINDTODEVICE,
					    "lo", sizeof("lo")), 0);
	assert_int_equal(attach(&d.server, fd[1]), 0);
	close(fd[0]);
	await(&gone, 1);
	assert_string_equal(tux_reason_word((unsigned)gone_reason), why);
	duet_close(&d);
	close(listener);
}

static void attach__says_why_it_stays(void **state)
{
	(void)state;
	stays(false, false, "not-announced");
}

static void attach__bound_to_a_device(void **state)
{
	(void)state;
	stays(true, true, "sockopt");
}

static void attach__what_cannot_be(void **state)
{
	int udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = a_socket(), p[2], fd[2];
	uint16_t port;
	struct duet d;
	int listener;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	listener = a_listener(d.server.t, &port);
	assert_int_equal(pipe(p), 0);
	assert_int_equal(tux_attach(d.server.s, udp, NULL, NULL),
			 -EPROTONOSUPPORT);
	assert_int_equal(tux_attach(d.server.s, tcp, NULL, NULL), -ENOTCONN);
	assert_int_equal(tux_attach(d.server.s, listener, NULL, NULL),
			 -ENOTCONN);
	assert_int_equal(tux_attach(d.server.s, p[0], NULL, NULL), -ENOTSOCK);
	assert_int_equal(tux_attach(d.server.s, -1, NULL, NULL), -EBADF);
	/* It has ended what it sends. */
	a_pair(d.client.t, listener, port, fd);
	assert_int_equal(shutdown(fd[0], SHUT_WR), 0);
	assert_int_equal(tux_attach(d.client.s, fd[0], NULL, NULL), -ENOTCONN);
	assert_int_equal(tux_announce(d.client.t, fd[1]), -EISCONN);
	/* All of them are the program's still. */
	assert_int_equal(close(fd[0]) | close(fd[1]) | close(udp) | close(tcp) |
			 close(p[0]) | close(p[1]) | close(listener), 0);
	duet_close(&d);
}

static void announce__what_can_be(void **state)
{
	int udp = socket(AF_INET, SOCK_DGRAM, 0), fd;
	uint16_t port;
	struct duet d;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	assert_int_equal(tux_announce(d.server.t, udp), -EPROTONOSUPPORT);
	assert_int_equal(tux_announce(d.server.t, -1), -EBADF);
	assert_int_equal(tux_unannounce(d.server.t, udp), -ENOENT);
	fd = a_listener(d.server.t, &port);
	/* A number that another socket has now. */
	close(fd);
	assert_int_equal(a_listener(d.server.t, &port), fd);
	assert_int_equal(tux_unannounce(d.server.t, fd), 0);
	assert_int_equal(tux_unannounce(d.server.t, fd), -ENOENT);
	close(fd);
	close(udp);
	duet_close(&d);
}

/* In a loop of the program's own, which sleeps until tux_fd() is readable. */
static void attach__between_turns(void **state)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);
	struct pollfd p[2];
	struct duet d;
	uint16_t port;
	int fd[2], listener, i;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	to_move = true;
	listener = a_listener(d.server.t, &port);
	p[0] = (struct pollfd){ tux_fd(d.server.t), POLLIN, 0 };
	p[1] = (struct pollfd){ tux_fd(d.client.t), POLLIN, 0 };
	a_pair(d.client.t, listener, port, fd);
	while (tux_turn(d.server.t) > 0 || tux_turn(d.client.t) > 0 ||
	       poll(p, 2, 10) > 0)
		;
	assert_int_equal(tux_attach(d.client.s, fd[0], NULL, NULL), 0);
	assert_int_equal(tux_attach(d.server.s, fd[1], NULL, NULL), 0);
	while (gone < 2 && tux_clock_read() < until) {
		poll(p, 2, 1000);
		for (i = 0; i < 2; i++)
			if (p[i].revents)
				assert_true(tux_turn(i ? d.client.t :
						     d.server.t) >= 0);
	}
	assert_true(rounds >= ROUNDS);
	assert_int_equal(gone_on_tux, 2);
	assert_int_equal(wrong, 0);
	duet_close(&d);
	close(listener);
}

/* Bytes wait in the socket, more come all the time, and its end. */
static void *send_more(void *arg)
{
	static char p[100];
	unsigned n = 0;

	while (n < BIG && send(*(int *)arg, p, sizeof(p), 0) == sizeof(p))
		n += sizeof(p);
	shutdown(*(int *)arg, SHUT_WR);
	return NULL;
}

static void on_count(struct tux_connection *c, void *arg)
{
	static char p[65536];
	ssize_t k;

	(void)arg;
	while ((k = tux_read(c, p, sizeof(p))) > 0)
		atomic_fetch_add(&bytes, (unsigned)k);
	if (k == 0)
		tux_disconnect(c);
}

static void take_while_it_comes(bool all)
{
	static char p[1000];
	unsigned total = (BIG + 99) / 100 * 100;
	struct duet d;
	uint16_t port;
	int fd[2], listener;
	pthread_t thread;

	up(&d, TUX_BACKEND_UDP);
	tux_on_stream(d.server.s, on_count, NULL);
	listener = a_listener(d.server.t, &port);
	part_run(&d);
	a_pair(NULL, listener, port, fd);
	assert_int_equal(pthread_create(&thread, NULL, send_more, &fd[0]), 0);
	assert_int_equal(recv(fd[1], p, sizeof(p), MSG_WAITALL), sizeof(p));
	if (all)
		pthread_join(thread, NULL);
	assert_int_equal(attach(&d.server, fd[1]), 0);
	await(&gone, 1);
	if (!all)
		pthread_join(thread, NULL);
	assert_int_equal(bytes, total - sizeof(p));
	assert_int_equal(gone_err, 0);
	close(fd[0]);
	close(listener);
	duet_close(&d);
}

static void attach__in_the_middle_of_a_stream(void **state)
{
	(void)state;
	take_while_it_comes(false);
}

static void attach__behind_the_peers_end(void **state)
{
	(void)state;
	take_while_it_comes(true);
}

/* ---- level-triggered ---- */

static void on_one_byte(struct tux_connection *c, void *arg)
{
	ssize_t k;
	char p;

	(void)arg;
	atomic_fetch_add(&streams, 1);
	k = tux_read(c, &p, 1);
	if (k == 1)
		atomic_fetch_add(&bytes, 1);
	else if (k == 0)
		tux_disconnect(c);
}

/* A connection of the server's, whose callbacks are @stream and @room, and the
 * other end as a socket. */
static int watched(struct duet *d, tux_stream_fn *stream, tux_room_fn *room,
		   struct tux_connection **cp)
{
	struct attachment a;
	uint16_t port;
	int fd[2], listener;

	reset_counts();
	duet_open(d, TUX_BACKEND_TCP);
	hear(&d->server);
	tux_on_stream(d->server.s, stream, NULL);
	tux_on_room(d->server.s, room, NULL);
	listener = a_listener(d->server.t, &port);
	part_run(d);
	a_pair(NULL, listener, port, fd);
	a = (struct attachment){ .p = &d->server, .fd = fd[1] };
	part_do(&d->server, attach_it, &a);
	assert_int_equal(a.err, 0);
	close(listener);
	*cp = a.c;
	return fd[0];
}

static void settle(struct duet *d)
{
	struct attachment none = { .p = &d->server, .fd = -1 };
	unsigned i;

	/* What is raised so far has run when errands have. */
	for (i = 0; i < 20; i++)
		part_do(&d->server, attach_it, &none);
}

static void watch__bytes_that_stay(void **state)
{
	struct tux_connection *c;
	unsigned before;
	struct duet d;
	int fd;

	(void)state;
	fd = watched(&d, on_one_byte, NULL, &c);
	assert_int_equal(tux_watch(c, 0), 0);
	assert_int_equal(send(fd, "0123456789", 10, 0), 10);
	settle(&d);
	assert_int_equal(bytes, 0);
	tux_watch(c, TUX_IN);
	await(&bytes, 10);
	/* And no more calls, now that all is read. */
	settle(&d);
	before = streams;
	settle(&d);
	assert_int_equal(streams, before);
	tux_watch(c, 0);
	assert_int_equal(send(fd, "abc", 3, 0), 3);
	tux_watch(c, TUX_OUT | TUX_IN);
	await(&bytes, 13);
	shutdown(fd, SHUT_WR);
	await(&gone, 1);
	assert_int_equal(gone_err, 0);
	close(fd);
	duet_close(&d);
}

static void on_much_room(struct tux_connection *c, void *arg)
{
	static char p[4096];
	ssize_t k;

	(void)arg;
	atomic_fetch_add(&rooms, 1);
	if (bytes >= 4 * BIG) {
		tux_watch(c, TUX_IN);
		return;
	}
	/* One write in a call, though there may be room for more. */
	k = tux_write(c, p, sizeof(p));
	if (k > 0)
		atomic_fetch_add(&bytes, (unsigned)k);
}

static void watch__room(void **state)
{
	static char p[65536];
	struct tux_connection *c;
	unsigned total = 0;
	struct duet d;
	ssize_t k;
	int fd;

	(void)state;
	fd = watched(&d, on_one_byte, on_much_room, &c);
	tux_watch(c, TUX_OUT);
	while (total < 4 * BIG && (k = recv(fd, p, sizeof(p), 0)) > 0)
		total += (unsigned)k;
	assert_true(total >= 4 * BIG);
	/* It is not told of room that it does not watch. */
	settle(&d);
	total = rooms;
	settle(&d);
	assert_int_equal(rooms, total);
	close(fd);
	await(&gone, 1);
	duet_close(&d);
}

/* One that does not watch its stream is told at the end, by gone alone. */
static void watch__nothing_when_it_breaks(void **state)
{
	const struct linger now = { 1, 0 };
	struct tux_connection *c;
	unsigned before;
	struct duet d;
	int fd;

	(void)state;
	fd = watched(&d, on_one_byte, NULL, &c);
	tux_watch(c, TUX_OUT);
	settle(&d);
	before = streams;
	assert_int_equal(send(fd, "left", 4, 0), 4);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
	await(&gone, 1);
	assert_int_equal(gone_err, ECONNRESET);
	assert_int_equal(streams, before);
	duet_close(&d);
}

/* As contrib/examples/attach_server.c: it waits for room instead of bytes.  The
 * peer does not read: then nothing runs. */
static void on_echo_some(struct tux_connection *c, void *arg)
{
	char p[512];
	ssize_t k, n = tux_peek(c, p, sizeof(p));

	(void)arg;
	atomic_fetch_add(&streams, 1);
	if (n == 0)
		tux_disconnect(c);
	if (n <= 0)
		return;
	k = tux_write(c, p, (size_t)n);
	if (k > 0)
		tux_read(c, p, (size_t)k);
	if (k < n)
		tux_watch(c, TUX_OUT);
}

static void on_room_again(struct tux_connection *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&rooms, 1);
	tux_watch(c, TUX_IN);
}

static void watch__rests_while_there_is_no_room(void **state)
{
	static char p[65536];
	uint64_t sent = 0, came = 0, before, calls = QUIET + 1;
	struct tux_connection *c;
	struct duet d;
	ssize_t k;
	int fd, idle;
	unsigned i;

	(void)state;
	fd = watched(&d, on_echo_some, on_room_again, &c);
	tux_watch(c, TUX_IN);
	/* Until all buffers are full, both ways, or nearly so. */
	for (idle = 0; idle < 20; idle++) {
		while ((k = send(fd, p, sizeof(p), MSG_DONTWAIT)) > 0) {
			sent += (uint64_t)k;
			idle = 0;
		}
		usleep(10000);
	}
	/* The server may have been late: then not each look is quiet. */
	for (i = 0; i < LOOKS && calls > QUIET; i++) {
		before = streams + rooms;
		settle(&d);
		usleep(100000);
		calls = streams + rooms - before;
	}
	assert_in_range(calls, 0, QUIET);
	shutdown(fd, SHUT_WR);
	while (came < sent && (k = recv(fd, p, sizeof(p), 0)) > 0)
		came += (uint64_t)k;
	assert_int_equal(came, sent);
	await(&gone, 1);
	close(fd);
	duet_close(&d);
}

static void reset_by(int fd)
{
	const struct linger now = { 1, 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

/* Ends the wait for a whole line when there will be no more. */
static void on_peek(struct tux_connection *c, void *arg)
{
	char p[8];

	(void)arg;
	atomic_fetch_add(&streams, 1);
	tux_peek(c, p, sizeof(p));
}

static void watch__reset_under_a_peek(void **state)
{
	struct tux_connection *c;
	struct duet d;
	int fd;

	(void)state;
	fd = watched(&d, on_peek, NULL, &c);
	tux_watch(c, TUX_IN);
	assert_int_equal(send(fd, "part", 4, 0), 4);
	await(&streams, 2);
	reset_by(fd);
	await(&gone, 1);
	assert_int_equal(gone_err, ECONNRESET);
	duet_close(&d);
}

/* As a server that first serves others: the third call looks. */
static void on_third_looks(struct tux_connection *c, void *arg)
{
	char p[8];

	(void)arg;
	if (atomic_fetch_add(&streams, 1) >= 2 && tux_read(c, p, sizeof(p)) >= 0)
		atomic_fetch_add(&wrong, 1);
}

static void watch__reset_until_it_is_read(void **state)
{
	struct tux_connection *c;
	struct duet d;
	int fd;

	(void)state;
	fd = watched(&d, on_third_looks, NULL, &c);
	tux_watch(c, TUX_IN);
	reset_by(fd);
	await(&gone, 1);
	assert_true(streams >= 3);
	assert_int_equal(wrong, 0);
	duet_close(&d);
}

/* The program that has not heard of it may use the number. */
static void reset__keeps_the_number_of_one_that_is_referred_to(void **state)
{
	struct tux_connection *c;
	unsigned tries = 10000;
	struct duet d;
	int fd, number;

	(void)state;
	fd = watched(&d, on_peek, NULL, &c);
	tux_get(c);
	tux_watch(c, 0);
	number = tux_socket(c);
	assert_true(number >= 0);
	reset_by(fd);
	await(&gone, 1);
	settle(&d);
	assert_true(fcntl(number, F_GETFD) >= 0);
	tux_put(c);
	while (fcntl(number, F_GETFD) >= 0 && --tries)
		usleep(1000);
	assert_int_equal(fcntl(number, F_GETFD), -1);
	duet_close(&d);
}

/* A server that answers behind the client's end goes on watching. */
static void on_end_once(struct tux_connection *c, void *arg)
{
	char p[8];

	(void)arg;
	atomic_fetch_add(&streams, 1);
	if (tux_read(c, p, sizeof(p)) == 0)
		atomic_fetch_add(&rounds, 1);
}

static void watch__end_is_told_once(void **state)
{
	struct tux_connection *c;
	unsigned before;
	struct duet d;
	int fd;

	(void)state;
	fd = watched(&d, on_end_once, NULL, &c);
	tux_watch(c, TUX_IN);
	shutdown(fd, SHUT_WR);
	await(&rounds, 1);
	settle(&d);
	before = streams;
	settle(&d);
	assert_in_range(streams - before, 0, 1);
	assert_int_equal(tux_write(c, "late", 4), 4);
	tux_disconnect(c);
	await(&gone, 1);
	close(fd);
	duet_close(&d);
}

/* Bytes and the end come at once, and a read asks for more than there is. */
static void on_chunk(struct tux_connection *c, void *arg)
{
	char p[100];
	ssize_t k = tux_read(c, p, sizeof(p));

	(void)arg;
	if (k > 0)
		atomic_fetch_add(&bytes, (unsigned)k);
	else if (k == 0)
		tux_disconnect(c);
}

static void watch__end_behind_bytes(void **state)
{
	struct tux_connection *c;
	struct duet d;
	unsigned i;
	int fd;

	(void)state;
	for (i = 0; i < 2; i++) {
		fd = watched(&d, on_chunk, NULL, &c);
		tux_watch(c, 0);
		settle(&d);
		assert_int_equal(send(fd, "PING", 4, 0), 4);
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		/* The end is there before the bytes are read, or may be. */
		usleep(i * 20000);
		tux_watch(c, TUX_IN);
		await(&gone, 1);
		assert_int_equal(bytes, 4);
		assert_int_equal(gone_err, 0);
		close(fd);
		duet_close(&d);
	}
}

/* ---- level-triggered, over Tux ---- */

static void on_watched_request(struct tux_connection *c, void *arg)
{
	char p;
	ssize_t k = tux_read(c, &p, 1);

	(void)arg;
	if (k == 1 && tux_write(c, &p, 1) != 1)
		atomic_fetch_add(&wrong, 1);
	if (k == 0)
		tux_disconnect(c);
}

static void on_watched_open(struct tux_connection *c, void *arg)
{
	on_open(c, arg);
	tux_watch(c, TUX_IN);
}

static void on_part_of_answer(struct tux_connection *c, void *arg)
{
	char p[4];
	ssize_t k;

	(void)arg;
	while ((k = tux_read(c, p, sizeof(p))) > 0)
		if ((atomic_fetch_add(&bytes, (unsigned)k) + (unsigned)k) %
		    4 == 0)
			go_on(c);
}

static void watch__over_tux(void **state)
{
	struct duet d;
	uint16_t port;
	int fd[2], listener;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	to_move = true;
	tux_on_open(d.server.s, on_watched_open, NULL);
	tux_on_stream(d.server.s, on_watched_request, NULL);
	tux_on_stream(d.client.s, on_part_of_answer, NULL);
	listener = a_listener(d.server.t, &port);
	part_run(&d);
	a_pair(d.client.t, listener, port, fd);
	assert_int_equal(attach(&d.server, fd[1]), 0);
	assert_int_equal(attach(&d.client, fd[0]), 0);
	await(&gone, 2);
	assert_true(rounds >= ROUNDS);
	assert_int_equal(gone_on_tux, 2);
	assert_int_equal(wrong, 0);
	duet_close(&d);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attach__both_ends),
		cmocka_unit_test(attach__tcp_alone),
		cmocka_unit_test(attach__not_announced),
		cmocka_unit_test(attach__says_why_it_stays),
		cmocka_unit_test(attach__bound_to_a_device),
		cmocka_unit_test(attach__what_cannot_be),
		cmocka_unit_test(attach__between_turns),
		cmocka_unit_test(attach__in_the_middle_of_a_stream),
		cmocka_unit_test(attach__behind_the_peers_end),
		cmocka_unit_test(announce__what_can_be),
		cmocka_unit_test(watch__bytes_that_stay),
		cmocka_unit_test(watch__room),
		cmocka_unit_test(watch__nothing_when_it_breaks),
		cmocka_unit_test(watch__rests_while_there_is_no_room),
		cmocka_unit_test(watch__reset_under_a_peek),
		cmocka_unit_test(watch__reset_until_it_is_read),
		cmocka_unit_test(
			reset__keeps_the_number_of_one_that_is_referred_to),
		cmocka_unit_test(watch__end_is_told_once),
		cmocka_unit_test(watch__end_behind_bytes),
		cmocka_unit_test(watch__over_tux),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
