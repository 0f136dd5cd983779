/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loops of a process: birth, places, and memory that runs out anywhere
 * between birth and end.
 */
#include "stack/channel.h"
#include "stack/stack_in.h"

#include <netinet/in.h>
#include <unistd.h>

#include "../../live/stack/side.h"
#include "../scarce.h"
#include "sys/clock.h"
#include "sys/name.h"
#include "sys/take.h"

/* ---- ends without waiting ---- */

struct half {				/* of a connection */
	int fd;
	struct tux_end *e;
	_Atomic bool gone;		/* told on a loop's thread */
	_Atomic uint32_t why;
};

static void on_ready(void *user, struct tux_wakes *wakes)
{
	(void)user;
	(void)wakes;
}

static void on_decided(void *user, bool tux, enum tux_reason why)
{
	struct half *h = user;

	(void)tux;
	h->why = why;
}

static void on_gone(void *user)
{
	struct half *h = user;

	h->gone = true;
}

static int new(struct tux_stack **s)
{
	struct tux_stack_opts o = {
		.ifname = "lo", .io = TUX_IO_UDP, .message_max = 1000,
		.ready = on_ready, .decided = on_decided, .gone = on_gone,
	};

	return tux_stack_new(s, &o);
}

static struct tux_addr name_of(int fd, bool peer)
{
	union tux_name n;
	socklen_t len = sizeof(n);
	struct tux_addr a = { .port = 0 };

	if (peer)
		assert_int_equal(getpeername(fd, &n.sa, &len), 0);
	else
		assert_int_equal(getsockname(fd, &n.sa, &len), 0);
	tux_name_get(&a, &n);
	return a;
}

/* Claims @h; when there is no memory, it says so, and the next try succeeds. */
static void claim(struct tux_stack *s, struct half *h, bool active)
{
	struct tux_end_opts o = {
		.fd = h->fd, .active = active, .messages = true, .user = h,
	};
	int r;

	o.tuple.active = name_of(h->fd, !active);
	o.tuple.passive = name_of(h->fd, active);
	r = tux_end_claim(s, &o, &h->e);
	if (r) {
		assert_int_equal(r, -TUX_REASON_NO_MEMORY);
		r = tux_end_claim(s, &o, &h->e);
	}
	assert_int_equal(r, 0);
}

static ssize_t tcp_send(void *arg, const struct iovec *iov, int n)
{
	ssize_t k = send(*(int *)arg, iov->iov_base, iov->iov_len,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	(void)n;
	return k < 0 ? -errno : k;
}

static ssize_t tcp_recv(void *arg, const struct iovec *iov, int n, bool peek)
{
	ssize_t k = recv(*(int *)arg, iov->iov_base, iov->iov_len,
			 MSG_DONTWAIT | (peek ? MSG_PEEK : 0));

	(void)n;
	return k < 0 ? -errno : k;
}

/* A byte goes from @a to @b, over whatever carries it now; in the end. */
static void exchange(struct tux_stack *s, struct half *a, struct half *b)
{
	struct tux_tcp to = { tcp_send, tcp_recv, &a->fd };
	struct tux_tcp from = { tcp_send, tcp_recv, &b->fd };
	struct tux_duplex *da = tux_end_duplex(a->e);
	struct tux_duplex *db = tux_end_duplex(b->e);
	tux_time until = tux_clock_read() + TUX_SEC(60);
	char out = 'x', in = 0;
	struct iovec v = { &out, 1 }, w = { &in, 1 };
	ssize_t k = -EAGAIN, r = -EAGAIN;

	while (r == -EAGAIN) {
		assert_true(tux_clock_read() < until);
		if (k == -EAGAIN) {
			tux_latch_take(&da->tx.latch);
			k = tux_duplex_write(da, &v, 1, &to);
			tux_latch_drop(&da->tx.latch);
			tux_end_flush(a->e, false);
		}
		tux_channel_wait(s, NULL, NULL, 0,
				 tux_clock_read() + TUX_USEC(200), NULL);
		tux_latch_take(&db->rx.latch);
		r = tux_duplex_read(db, &w, 1, false, &from);
		tux_latch_drop(&db->rx.latch);
		tux_end_flush(b->e, false);
	}
	assert_int_equal(k, 1);
	assert_int_equal(r, 1);
	assert_int_equal(in, 'x');
}

static void end(struct tux_stack *s, struct half *a, struct half *b)
{
	tux_time until = tux_clock_read() + TUX_SEC(60);

	tux_end_close(a->e, true);
	close(a->fd);
	tux_end_close(b->e, true);
	close(b->fd);
	while (!a->gone || !b->gone) {
		assert_true(tux_clock_read() < until);
		tux_channel_wait(s, NULL, NULL, 0,
				 tux_clock_read() + TUX_MSEC(1), NULL);
	}
	tux_end_free(a->e);
	tux_end_free(b->e);
}

/* ---- all of it, with the @fail_at-th area missing ---- */

static bool scarce_at(int fail_at)
{
	struct half a = { .fd = -1 }, b = a;
	struct tux_stack *s = NULL;
	bool failed;
	uint16_t port;
	unsigned i;
	int l;

	scarce_begin(fail_at);
	if (new(&s)) {
		assert_null(s);
		assert_int_equal(scarce_live, 0);
		assert_int_equal(new(&s), 0);
	}
	l = side_listen(s, &port);
	a.fd = side_connect(port);
	b.fd = accept(l, NULL, NULL);
	claim(s, &a, true);
	claim(s, &b, false);
	for (i = 0; i < 10; i++) {
		exchange(s, &a, &b);
		exchange(s, &b, &a);
	}
	/* Who was told why has been told the truth. */
	assert_true(a.why == TUX_REASON_NONE || b.why == TUX_REASON_NO_MEMORY ||
		    a.why == TUX_REASON_NO_MEMORY);
	end(s, &a, &b);
	close(l);
	failed = scarce_failed();
	tux_stack_free(s);
	assert_int_equal(scarce_live, 0);
	return failed;
}

static void memory__any_area_fails(void **state)
{
	unsigned fds = test_files();
	int at = 1;

	(void)state;
	while (scarce_at(at)) {
		assert_int_equal(test_files(), fds);
		at++;
	}
	assert_int_equal(test_files(), fds);
	assert_true(at > 10);
	scarce_begin(0);
}

/* ---- what it refuses ---- */

static void new__refuses(void **state)
{
	struct tux_stack_opts o = {
		.io = TUX_IO_UDP, .threads = TUX_LOOPS_MAX + 1,
	};
	struct tux_stack *s = NULL;

	(void)state;
	assert_int_equal(tux_stack_new(&s, &o), -EINVAL);
	o.threads = 0;
	o.message_max = TUX_LANE_MAX / 2 + 1;
	assert_int_equal(tux_stack_new(&s, &o), -EINVAL);
	assert_null(s);
}

/* As many calls undo it; its port is free then. */
static void listen__counts(void **state)
{
	struct tux_addr any = { .ip = { [10] = 0xff, 0xff, 127, 0, 0, 1 } };
	struct tux_stack *s = NULL;
	uint16_t port;
	int l, r;

	(void)state;
	assert_int_equal(new(&s), 0);
	l = side_listen(s, &port);
	any.port = port;
	assert_int_equal(tux_stack_listen(s, l, &any, true, false), 0);
	assert_int_equal(s->place[0].refs, 2);
	assert_int_equal(s->place[1].refs, 0);
	tux_stack_unlisten(s, &any);
	assert_int_equal(s->place[0].refs, 1);
	tux_stack_unlisten(s, &any);
	assert_int_equal(s->place[0].refs, 0);
	tux_stack_unlisten(s, &any);	/* once too often */
	r = tux_stack_listen(s, l, &any, true, false);
	assert_true(r == 0 || r == -TUX_REASON_PORT_TAKEN);
	close(l);
	tux_stack_free(s);
}

/* A child may not use what its parent's threads use. */
static void forked__is_of_no_use(void **state)
{
	struct tux_addr any = { .port = 1 };
	struct tux_stack *s = NULL;

	(void)state;
	assert_int_equal(new(&s), 0);
	s->forked = true;
	assert_int_equal(tux_stack_listen(s, -1, &any, true, false),
			 -TUX_REASON_NOT_OWNER);
	tux_stack_unlisten(s, &any);
	tux_channel_drain(s, TUX_SEC(1));
	s->forked = false;
	tux_stack_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(new__refuses),
		cmocka_unit_test(listen__counts),
		cmocka_unit_test(forked__is_of_no_use),
		cmocka_unit_test(memory__any_area_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
