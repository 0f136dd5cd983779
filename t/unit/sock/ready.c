/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What poll and epoll say of a sock whose writes wait, though TCP has room.
 */
#include "../conn/lone.h"

#include "ground/process.h"
#include "sock/path.h"
#include "sock/ready.h"
#include "stack/channel.h"

/* ---- what ready.c calls ---- */

unsigned sock_poll(struct sock *s)
{
	return tux_duplex_poll(s->dx);
}

bool path_advance(struct sock *s, int fd)
{
	(void)s, (void)fd;
	return true;
}

struct process_here process_here;

void tux_channel_turn(struct tux_stack *s, const struct tux_waiter *w)
{
	(void)s, (void)w;
}

/* ---- a sock ---- */

static struct sock claimed(struct fixture *f)
{
	return (struct sock){ .stage = SOCK_CLAIMED, .dx = f->d };
}

/* The kernel says that TCP has room, and that it has broken: what of it is
 * the application's? */
static uint32_t told(struct sock *s)
{
	struct ready r;

	return ready_told(s, -1, EPOLLOUT | EPOLLHUP, &r);
}

static void of__plain(void **state)
{
	struct fixture *f = *state;
	struct sock s = claimed(f);

	assert_int_equal(ready_of(&s).now, 0);
	assert_int_equal(ready_of(&s).tcp, READY_IN | READY_OUT | READY_ALWAYS);
	assert_int_equal(told(&s), EPOLLOUT | EPOLLHUP);
}

static void of__on_rings(void **state)
{
	struct fixture *f = *state;
	struct sock s = claimed(f);

	atomic_store(&f->d->tx.state, TUX_TX_SWITCHED);
	assert_int_equal(ready_of(&s).now, EPOLLOUT | EPOLLWRNORM);
	assert_int_equal(ready_of(&s).tcp, READY_IN);
	atomic_store(&f->d->rx.state, TUX_RX_SWITCHED);
	assert_int_equal(ready_of(&s).tcp, 0);
	assert_int_equal(told(&s), 0);
}

/* The last byte of a marker in doubt waits: the room of TCP is not for it.
 * Errors of TCP are told all the same. */
static void of__barred(void **state)
{
	struct fixture *f = *state;
	struct sock s = claimed(f);
	uint8_t m[TUX_MARKER_LEN];

	announce(f, 0);
	memcpy(m, f->d->tx.marker, sizeof(m));
	assert_int_equal(put(f, m, sizeof(m)), TUX_MARKER_LEN - 1);
	assert_int_equal(told(&s), EPOLLOUT | EPOLLHUP);
	assert_int_equal(put(f, m + 15, 1), -EAGAIN);
	assert_int_equal(ready_of(&s).now, 0);
	assert_int_equal(ready_of(&s).tcp, READY_IN | READY_ALWAYS);
	assert_int_equal(told(&s), EPOLLHUP);
	assert_true(announce(f, 0) == TUX_NOWHERE);
	tux_duplex_prepared(f->d, f->d->tx.gen);
	assert_int_equal(told(&s), EPOLLOUT | EPOLLHUP);
}

/* The same, and the connection is given up, of which the kernel knows nothing:
 * it is as after a reset. */
static void of__given_up(void **state)
{
	struct fixture *f = *state;
	struct sock s = claimed(f);
	uint8_t m[TUX_MARKER_LEN];

	announce(f, 0);
	memcpy(m, f->d->tx.marker, sizeof(m));
	assert_int_equal(put(f, m, sizeof(m)), TUX_MARKER_LEN - 1);
	assert_int_equal(put(f, m + 15, 1), -EAGAIN);
	atomic_store(&f->d->err, ECONNRESET);
	atomic_store(&f->d->tx.shut, 1);
	assert_int_equal(ready_of(&s).now,
			 EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM |
			 EPOLLRDHUP | EPOLLERR | EPOLLHUP);
}

/* Plain again, but the RAW frame is not in TCP yet. */
static void of__held(void **state)
{
	struct fixture *f = *state;
	struct sock s = claimed(f);

	atomic_store(&f->d->tx.state, TUX_TX_RAW);
	atomic_store(&f->d->tx.hold, 1);
	assert_int_equal(put(f, "x", 1), -EAGAIN);
	assert_int_equal(told(&s), 0);
	atomic_store(&f->d->tx.hold, 0);
	assert_int_equal(told(&s), EPOLLOUT | EPOLLHUP);
	assert_int_equal(put(f, "x", 1), 1);
}

static void of__lost_or_closed(void **state)
{
	struct fixture *f = *state;
	struct sock s = claimed(f);

	s.stage = SOCK_LOST;
	assert_int_equal(ready_of(&s).now, EPOLLIN | EPOLLOUT | EPOLLHUP);
	assert_false(ready_plain(&s));
	s.stage = SOCK_PLAIN;
	assert_int_equal(ready_of(&s).now, 0);
	assert_true(ready_plain(&s));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(of__plain),
		T(of__on_rings),
		T(of__barred),
		T(of__given_up),
		T(of__held),
		T(of__lost_or_closed),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
