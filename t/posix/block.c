/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that wait: for how long, for what, and what interrupts them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pair.h"

/* ---- another thread, that does something a little later ----------------- */

enum deed { WRITE, WRITE_TWICE, UNBLOCK_AND_WRITE, WRITE_AFTER_SIGNAL,
	    SHUT_WRITE, SHUT_OWN, CLOSE, DUP_OVER, DUP_SILENT, DRAIN, SIGNAL, URGENT,
	    UNBLOCK_AND_URGENT, URGENT_AND_RESET, URGENT_AND_SHUT,
	    URGENT_AND_SIGNAL };

struct later {
	pthread_t thread, caller;
	pid_t tid;		/* the caller's */
	enum deed deed;
	int ms;
	int fd;
	int own;		/* the caller's */
	atomic_bool over;
};

static void blocking(int fd, bool yes)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, yes ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

static volatile sig_atomic_t signals;

/* One that comes before the caller waits ends no wait; so there may be more. */
static void signal_caller(struct later *l, double end)
{
	unsigned i;

	for (i = 0; !atomic_load(&l->over) && pair_ms() < end; i++) {
		if (i % 32 == 0)
			pthread_kill(l->caller, SIGUSR1);
		poll(NULL, 0, 10);
	}
}

/* Takes the connection back to plain TCP. */
static void urgent(const struct later *l)
{
	CHECK(send(l->own, "!", 1, MSG_OOB) == 1);
	poll(NULL, 0, l->ms);
}

static void *do_later(void *arg)
{
	static const struct linger reset = { 1, 0 };
	struct later *l = arg;
	double end = pair_ms() + PAIR_PATIENCE_MS;
	int null;

	poll(NULL, 0, l->ms);
	if (l->deed != DRAIN)
		pair_await_asleep(l->tid);
	switch (l->deed) {
	case WRITE_AFTER_SIGNAL:
		while (!signals && pair_ms() < end)
			poll(NULL, 0, 1);
		poll(NULL, 0, l->ms);
		pair_poke(l->fd);
		break;
	case UNBLOCK_AND_WRITE:
		blocking(l->own, false);
		__attribute__((fallthrough));
	case WRITE_TWICE:
		pair_poke(l->fd);
		poll(NULL, 0, l->ms);
		__attribute__((fallthrough));
	case WRITE:
		pair_poke(l->fd);
		break;
	case URGENT_AND_RESET:
		urgent(l);
		setsockopt(l->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(l->fd);
		break;
	case URGENT_AND_SHUT:
		urgent(l);
		pair_poke(l->fd);
		shutdown(l->fd, SHUT_WR);
		break;
	case URGENT_AND_SIGNAL:
		urgent(l);
		signal_caller(l, end);
		break;
	case SHUT_WRITE:
		shutdown(l->fd, SHUT_WR);
		break;
	case SHUT_OWN:
		shutdown(l->fd, SHUT_RDWR);
		break;
	case CLOSE:
		close(l->fd);
		break;
	case DUP_OVER:
		null = open("/dev/null", O_RDWR);
		dup2(null, l->fd);
		close(null);
		break;
	case DUP_SILENT:
		null = eventfd(0, 0);
		dup2(null, l->fd);
		close(null);
		break;
	case DRAIN:
		while (pair_ms() < end && pair_drain(l->fd) < 1)
			poll(NULL, 0, 1);
		break;
	case SIGNAL:
		signal_caller(l, end);
		break;
	case UNBLOCK_AND_URGENT:
		blocking(l->own, false);
		__attribute__((fallthrough));
	case URGENT:
		urgent(l);
		pair_poke(l->fd);
		break;
	}
	return NULL;
}

static void later_on(struct later *l, enum deed deed, int fd, int ms, int own)
{
	*l = (struct later){ .caller = pthread_self(), .tid = gettid(),
			     .deed = deed, .ms = ms, .fd = fd, .own = own };
	pthread_create(&l->thread, NULL, do_later, l);
}

static void later(struct later *l, enum deed deed, int fd, int ms)
{
	later_on(l, deed, fd, ms, -1);
}

static void joined(struct later *l)
{
	atomic_store(&l->over, true);
	pthread_join(l->thread, NULL);
}

static void timeout(int fd, int name, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	CHECK(setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv)) == 0);
}

static bool took(double since, double least, double most)
{
	double ms = pair_ms() - since;

	return ms >= least - 2 && ms <= pair_bound(most);
}

/* ---- reading ------------------------------------------------------------ */

static void waits(struct pair *p)
{
	double t = pair_ms();
	struct later l;
	char buf[8];

	blocking(p->a, true);
	later(&l, WRITE, p->b, 50);
	CHECK(read(p->a, buf, sizeof(buf)) == 1 && buf[0] == 'x');
	CHECK(took(t, 50, 500));
	joined(&l);
	CHECK(recv(p->a, buf, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
}

static void waits_for_all(struct pair *p)
{
	double t = pair_ms();
	struct later l;
	char buf[8];

	blocking(p->a, true);
	later(&l, WRITE_TWICE, p->b, 30);
	CHECK(recv(p->a, buf, 2, MSG_WAITALL) == 2);
	CHECK(took(t, 60, 500));
	joined(&l);
	later(&l, WRITE_TWICE, p->b, 30);
	CHECK(recv(p->a, buf, 2, MSG_WAITALL | MSG_PEEK) == 2);
	CHECK(recv(p->a, buf, 8, MSG_DONTWAIT) == 2);
	joined(&l);
	pair_poke(p->b);
	later(&l, SHUT_WRITE, p->b, 30);
	CHECK(recv(p->a, buf, 8, MSG_WAITALL | MSG_PEEK) == 1);
	CHECK(recv(p->a, buf, 8, MSG_WAITALL) == 1);
	CHECK(read(p->a, buf, 8) == 0);
	joined(&l);
}

/* O_NONBLOCK is for calls that begin later. */
static void unblocked_meanwhile(struct pair *p)
{
	struct later l;
	char buf[8];

	blocking(p->a, true);
	later_on(&l, UNBLOCK_AND_WRITE, p->b, 30, p->a);
	CHECK(recv(p->a, buf, 2, MSG_WAITALL) == 2);
	joined(&l);
	CHECK(read(p->a, buf, 1) == -1 && errno == EAGAIN);
}

/* An urgent byte takes the connection back to plain TCP, under the reader. */
static void urgent_meanwhile(struct pair *p)
{
	struct later l;
	char buf[8];

	blocking(p->a, true);
	later_on(&l, URGENT, p->b, 30, p->a);
	CHECK(recv(p->a, buf, 1, MSG_WAITALL) == 1 && buf[0] == 'x');
	joined(&l);
}

/* Both: what waits goes on by the kernel, until its bytes or its time have
 * come. */
static void unblocked_and_urgent(struct pair *p)
{
	double t = pair_ms();
	struct later l;
	char buf[8];

	blocking(p->a, true);
	timeout(p->a, SO_RCVTIMEO, 300);
	later_on(&l, UNBLOCK_AND_URGENT, p->b, 30, p->a);
	CHECK(recv(p->a, buf, 2, MSG_WAITALL) == 1 && buf[0] == 'x');
	CHECK(took(t, 300, 700));
	joined(&l);
	CHECK(read(p->a, buf, 1) == -1 && errno == EAGAIN);
}

static void low_water(struct pair *p)
{
	int two = 2;
	double t = pair_ms();
	struct later l;
	char buf[8];

	blocking(p->a, true);
	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_RCVLOWAT, &two, sizeof(two)));
	later(&l, WRITE_TWICE, p->b, 30);
	CHECK(read(p->a, buf, sizeof(buf)) == 2);
	CHECK(took(t, 60, 500));
	joined(&l);
	pair_poke(p->b);
	CHECK(read(p->a, buf, 1) == 1);
}

static void receive_timeout(struct pair *p)
{
	double t = pair_ms();
	struct later l;
	char buf[8];

	blocking(p->a, true);
	timeout(p->a, SO_RCVTIMEO, 100);
	CHECK(read(p->a, buf, sizeof(buf)) == -1 && errno == EAGAIN);
	CHECK(took(t, 100, 400));
	t = pair_ms();
	CHECK(recv(p->a, buf, 0, 0) == 0 && took(t, 100, 400));
	CHECK(recv(p->a, buf, 0, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	pair_poke(p->b);
	CHECK(pair_arrive(p->a, 1));
	t = pair_ms();
	CHECK(recv(p->a, buf, sizeof(buf), MSG_WAITALL) == 1);
	CHECK(took(t, 100, 400));
	timeout(p->a, SO_RCVTIMEO, 0);
	later(&l, WRITE, p->b, 150);
	CHECK(read(p->a, buf, sizeof(buf)) == 1);
	joined(&l);
}

/* ---- writing ------------------------------------------------------------ */

static void fill_all(struct pair *p)
{
	size_t n = 1;

	while (n) {
		n = pair_fill(p->a);
		poll(NULL, 0, 30);
	}
}

static void send_timeout(struct pair *p)
{
	char buf[100] = "";
	double t;

	fill_all(p);
	blocking(p->a, true);
	timeout(p->a, SO_SNDTIMEO, 100);
	t = pair_ms();
	while (write(p->a, buf, sizeof(buf)) > 0 &&
	       pair_ms() < t + PAIR_PATIENCE_MS)
		t = pair_ms();
	CHECK(errno == EAGAIN && took(t, 100, 400));
}

static void waits_for_room(struct pair *p)
{
	enum { LEN = 16 << 20 };
	static char buf[LEN];
	double end = pair_ms() + PAIR_PATIENCE_MS;
	struct later l;
	size_t got = 0;
	ssize_t n;

	blocking(p->a, true);
	later(&l, DRAIN, p->b, 500);
	n = send(p->a, buf, LEN, MSG_DONTWAIT);
	CHECK(n > 0 && n < LEN);
	joined(&l);
	got = pair_drain(p->b);
	/* The thread took some, which nobody counted: only that it ends. */
	while (pair_ms() < end && pair_drain(p->b))
		poll(NULL, 0, 5);
	CHECK(got <= (size_t)n);
}

struct sink {
	pthread_t thread;
	int fd;
	size_t want, got;
};

static void *sink(void *arg)
{
	struct sink *s = arg;
	double end = pair_ms() + PAIR_PATIENCE_MS;

	while (s->got < s->want && pair_ms() < end) {
		size_t n = pair_drain(s->fd);

		s->got += n;
		if (!n)
			poll(NULL, 0, 1);
	}
	return NULL;
}

static void big_write(struct pair *p)
{
	enum { LEN = 16 << 20 };
	static char buf[LEN];
	struct sink s = { .fd = p->b, .want = LEN + 13 };
	struct iovec v[2] = { { buf, LEN }, { buf, 13 } };

	blocking(p->a, true);
	pthread_create(&s.thread, NULL, sink, &s);
	CHECK(writev(p->a, v, 2) == LEN + 13);
	pthread_join(s.thread, NULL);
	CHECK(s.got == LEN + 13);
}

/* ---- what else ends a wait ---------------------------------------------- */

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

static void handle(int flags)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(SIGUSR1, &a, NULL);
	signals = 0;
}

static void interrupted(struct pair *p)
{
	struct later l;
	char buf[8];

	blocking(p->a, true);
	handle(0);
	later(&l, SIGNAL, -1, 50);
	CHECK(read(p->a, buf, sizeof(buf)) == -1 && errno == EINTR);
	joined(&l);
	CHECK(signals >= 1);
	signals = 0;
	later(&l, SIGNAL, -1, 50);
	CHECK(recv(p->a, buf, 0, 0) == 0 && signals >= 1);
	joined(&l);
	pair_poke(p->b);
	CHECK(pair_arrive(p->a, 1));
	signals = 0;
	later(&l, SIGNAL, -1, 50);
	CHECK(recv(p->a, buf, 8, MSG_WAITALL) == 1 && signals >= 1);
	joined(&l);
	pair_poke(p->b);
	CHECK(pair_arrive(p->a, 1));
	signals = 0;
	later(&l, SIGNAL, -1, 50);
	CHECK(recv(p->a, buf, 8, MSG_WAITALL | MSG_PEEK) == 1 && signals >= 1);
	joined(&l);
}

static void restarted(struct pair *p)
{
	struct later sig, data;
	char buf[8];

	blocking(p->a, true);
	handle(SA_RESTART);
	later(&sig, SIGNAL, -1, 30);
	later(&data, WRITE_AFTER_SIGNAL, p->b, 30);
	CHECK(read(p->a, buf, sizeof(buf)) == 1 && signals >= 1);
	joined(&sig);
	joined(&data);
	pair_poke(p->b);
	signals = 0;
	later(&sig, SIGNAL, -1, 30);
	CHECK(recv(p->a, buf, 8, MSG_WAITALL) == 1 && signals >= 1);
	joined(&sig);
}

/* What a call has, ends it as if it had waited in the kernel all the time: a handler,
 * the end, or an error, which is for the next call. */
static void signal_on_tcp(struct pair *p)
{
	struct later l;
	char buf[8];

	blocking(p->a, true);
	handle(SA_RESTART);
	pair_poke(p->b);
	later_on(&l, URGENT_AND_SIGNAL, p->b, 30, p->a);
	CHECK(recv(p->a, buf, 4, MSG_WAITALL) == 1 && signals >= 1);
	joined(&l);
}

static void end_on_tcp(struct pair *p)
{
	double t = pair_ms();
	struct later l;
	char buf[8];

	blocking(p->a, true);
	timeout(p->a, SO_RCVTIMEO, 2 * PAIR_PATIENCE_MS);
	later_on(&l, URGENT_AND_SHUT, p->b, 30, p->a);
	CHECK(recv(p->a, buf, 4, MSG_WAITALL | MSG_PEEK) == 1);
	CHECK(took(t, 30, 1000));
	joined(&l);
	CHECK(recv(p->a, buf, 4, MSG_WAITALL) == 1);
	CHECK(read(p->a, buf, 1) == 0);
}

static void reset_on_tcp(struct pair *p)
{
	struct later l;
	char buf[8];

	blocking(p->a, true);
	pair_poke(p->b);
	later_on(&l, URGENT_AND_RESET, p->b, 30, p->a);
	CHECK(recv(p->a, buf, 4, MSG_WAITALL) == 1);
	joined(&l);
	CHECK(read(p->a, buf, 1) == -1 && errno == ECONNRESET);
	p->b = -1;
}

static void shut_meanwhile(struct pair *p)
{
	struct later l;
	char buf[8];

	blocking(p->a, true);
	later(&l, SHUT_OWN, p->a, 50);
	CHECK(read(p->a, buf, sizeof(buf)) == 0);
	joined(&l);
	CHECK(read(p->a, buf, sizeof(buf)) == 0);
}

/* The kernel lets the reader wait on; a read that ends is as good. */
static void closed_meanwhile(struct pair *p)
{
	struct later own, peer;
	char buf[8];

	blocking(p->a, true);
	later(&own, CLOSE, p->a, 50);
	later(&peer, CLOSE, p->b, 150);
	CHECK(read(p->a, buf, sizeof(buf)) <= 0);
	joined(&own);
	joined(&peer);
	p->a = p->b = -1;
}

/* The way in which a JVM closes a socket that a thread is reading. */
static void replaced_meanwhile(struct pair *p)
{
	struct later own, sig;
	char buf[8];

	blocking(p->a, true);
	handle(0);
	later(&own, DUP_OVER, p->a, 50);
	later(&sig, SIGNAL, -1, 150);
	CHECK(read(p->a, buf, sizeof(buf)) <= 0);
	joined(&own);
	joined(&sig);
	CHECK(write(p->a, "x", 1) == 1);	/* /dev/null */
	CHECK(pair_expect(p->b, 1) == false);
}

/* The call is of the socket, and not of the number, which is another file's by
 * then: it goes on, and @then brings the byte that it waits for. */
static void outlasts_number(struct pair *p, enum deed then)
{
	struct later own, data;
	int copy = dup(p->a);
	char buf[8];

	blocking(p->a, true);
	later(&own, DUP_SILENT, p->a, 30);
	later_on(&data, then, p->b, 100, copy);
	CHECK(recv(p->a, buf, 1, MSG_WAITALL) == 1 && buf[0] == 'x');
	joined(&own);
	joined(&data);
	close(p->a);
	p->a = copy;
}

static void copy_goes_on(struct pair *p)
{
	outlasts_number(p, WRITE);
}

static void copy_goes_back(struct pair *p)
{
	outlasts_number(p, URGENT);
}

static void modes(struct pair *p)
{
	int copy = dup(p->a), yes = 1, no = 0;
	char buf[8];

	CHECK(read(p->a, buf, 1) == -1 && errno == EAGAIN);
	blocking(copy, true);
	timeout(p->a, SO_RCVTIMEO, 50);
	CHECK(!(fcntl(p->a, F_GETFL) & O_NONBLOCK));
	double t = pair_ms();
	CHECK(read(p->a, buf, 1) == -1 && took(t, 50, 300));
	CHECK(ioctl(p->a, FIONBIO, &yes) == 0);
	timeout(p->a, SO_RCVTIMEO, 2 * PAIR_PATIENCE_MS);
	t = pair_ms();
	CHECK(read(copy, buf, 1) == -1 && took(t, 0, 40));
	CHECK(ioctl(copy, FIONBIO, &no) == 0);
	timeout(p->a, SO_RCVTIMEO, 50);
	CHECK(read(p->a, buf, 1) == -1 && took(t, 50, 300));
	close(copy);
}

int main(void)
{
	pair_case("read waits for bytes", waits);
	pair_case("MSG_WAITALL", waits_for_all);
	pair_case("O_NONBLOCK by another thread", unblocked_meanwhile);
	pair_case("an urgent byte by another thread", urgent_meanwhile);
	pair_case("both by another thread", unblocked_and_urgent);
	pair_case("SO_RCVLOWAT", low_water);
	pair_case("SO_RCVTIMEO", receive_timeout);
	pair_case("SO_SNDTIMEO", send_timeout);
	pair_case("MSG_DONTWAIT", waits_for_room);
	pair_case("a write waits for room", big_write);
	pair_case("EINTR", interrupted);
	pair_case("SA_RESTART", restarted);
	pair_case("SA_RESTART, back on TCP", signal_on_tcp);
	pair_case("the end, back on TCP", end_on_tcp);
	pair_case("a reset, back on TCP", reset_on_tcp);
	pair_case("shutdown by another thread", shut_meanwhile);
	pair_case("close by another thread", closed_meanwhile);
	pair_case("dup2 by another thread", replaced_meanwhile);
	pair_case("dup2 over one of two numbers", copy_goes_on);
	pair_case("... and back to TCP", copy_goes_back);
	pair_case("O_NONBLOCK belongs to all copies", modes);
	return pair_done();
}
