/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread waits, and runs a loop over UDP meanwhile.  How often does it look at
 * the link, and at the descriptors of the application?
 */
#include "stack/drive.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"
#include "udp/udp.h"
#include "sys/clock.h"
#include "sys/wake.h"

enum { WAITS = 20, SERIES = 50 };

static unsigned looks;			/* at the link */

static unsigned counted_rx(struct tux_link *l, unsigned source,
			   const struct tux_dgram **d, tux_time now)
{
	looks++;
	return tux_udp.rx(l, source, d, now);
}

static void on_stranger(void *arg, struct tux_loop *l,
			const struct tux_dgram *d)
{
	(void)arg, (void)l, (void)d;
}

struct fixture {
	struct tux_link_ops ops;
	struct tux_ends ends;
	struct tux_driver d;
	struct tux_waiter w;
	struct pollfd fd;		/* never readable */
	int pipe[2];
	struct tux_poll x;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct tux_loop_opts o = {
		.link = &tux_udp, .link_opts = { .ifname = "lo" },
		.ends = &f->ends, .ack_delay = TUX_MSEC(1),
		.stranger = on_stranger,
	};

	f->ops = tux_udp;
	f->ops.rx = counted_rx;
	assert_int_equal(tux_ends_init(&f->ends), 0);
	tux_driver_init(&f->d, NULL, false);
	assert_int_equal(tux_loop_new(&f->d.loop, &o), 0);
	f->d.loop->link->ops = &f->ops;
	assert_int_equal(tux_waiter_init(&f->w, 2), 0);
	assert_int_equal(pipe(f->pipe), 0);
	f->fd = (struct pollfd){ f->pipe[0], POLLIN, 0 };
	f->x = (struct tux_poll){ .w = &f->w, .fds = &f->fd, .n = 1 };
	/* What every new socket finds to do. */
	while (tux_loop_turn(f->d.loop))
		;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->pipe[0]);
	close(f->pipe[1]);
	tux_waiter_fini(&f->w);
	tux_loop_free(f->d.loop);
	tux_ends_fini(&f->ends);
	free(f);
	return 0;
}

/* Waits for @in at most, and counts the looks at the link. */
static int wait_for(struct fixture *f, tux_time in)
{
	looks = 0;
	f->fd.revents = POLLNVAL;
	return tux_driver_wait(&f->d, &f->x, tux_clock_read() + in);
}

static void send_to(const struct tux_loop *l)
{
	struct sockaddr_in6 to = {
		.sin6_family = AF_INET6, .sin6_port = htons(l->link->port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(sendto(fd, "?", 1, 0, (struct sockaddr *)&to,
				sizeof(to)), 1);
	close(fd);
}

/* The first turn has rung: what else there is need not be known. */
static void wait__ends_with_the_turn_that_rings(void **state)
{
	struct fixture *f = *state;

	tux_waiter_ring(&f->w, 1);
	assert_int_equal(wait_for(f, TUX_SEC(5)), 1);
	assert_int_equal(looks, 1);
	assert_int_equal(f->fd.revents, POLLNVAL);
}

/* A thread that rings writes the eventfd later, and what rang may have been taken by
 * then.  Such a write once made every wait endless, its time limit passed or not. */
static void wait__ends_in_time_though_a_wake_up_is_late(void **state)
{
	struct fixture *f = *state;
	struct pollfd late = { f->w.fd, POLLIN, 0 };
	unsigned k;

	tux_wake_kick(f->w.fd);
	assert_int_equal(wait_for(f, 0), 0);
	/* It may end a sleep, once; a wait that is over before it sleeps leaves
	 * it there. */
	tux_wake_kick(f->w.fd);
	for (k = 0; k < SERIES && poll(&late, 1, 0) == 1; k++)
		wait_for(f, TUX_MSEC(2));
	assert_int_equal(wait_for(f, TUX_MSEC(2)), 0);
	/* With a ring, it is no late one. */
	tux_waiter_ring(&f->w, 1);
	tux_wake_kick(f->w.fd);
	assert_int_equal(wait_for(f, 0), 1);
}

static unsigned looks_of_waits(struct fixture *f)
{
	unsigned i, n = 0;

	for (i = 0; i < WAITS; i++) {
		assert_int_equal(wait_for(f, TUX_MSEC(2)), 0);
		assert_int_equal(f->fd.revents, 0);
		n += looks;
	}
	return n;
}

/* On a late machine the time of a wait may be over before the wait begins: then
 * it was not long, and there is another one. */
static void learn_that_waits_are_long(struct fixture *f)
{
	unsigned k;

	for (k = 0; k < SERIES; k++) {
		assert_int_equal(wait_for(f, TUX_MSEC(5)), 0);
		if (tux_spin_sleeps_at_once(&f->d.spin))
			break;
	}
	assert_true(tux_spin_sleeps_at_once(&f->d.spin));
}

/* Once waits are known to be long, no look comes before the sleep: one follows
 * each.  A few more are the link's own timers. */
static void wait__sleeps_at_once_when_waits_are_long(void **state)
{
	struct fixture *f = *state;
	unsigned n = 0, k;

	assert_int_equal(wait_for(f, TUX_MSEC(5)), 0);
	for (k = 0; k < SERIES && (n < WAITS || n > WAITS + WAITS / 2); k++)
		n = looks_of_waits(f);
	assert_in_range(n, WAITS, WAITS + WAITS / 2);
}

/* It does not sleep past what has come before. */
static void wait__takes_what_has_come(void **state)
{
	struct fixture *f = *state;
	const struct tux_core_stats *s = tux_core_stats(f->d.loop->core);
	uint64_t before;

	learn_that_waits_are_long(f);
	before = s->datagrams_rx;
	send_to(f->d.loop);
	assert_int_equal(wait_for(f, TUX_MSEC(5)), 0);
	assert_int_equal(s->datagrams_rx, before + 1);
}

/* What was rung for before the wait leaves before the sleep. */
static void wait__flushes_before_it_sleeps(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(wait_for(f, TUX_MSEC(5)), 0);
	tux_loop_ring(f->d.loop, 5);
	assert_int_equal(wait_for(f, TUX_MSEC(5)), 0);
	assert_in_range(looks, 1, 2);
	assert_true(tux_loop_quiet(f->d.loop));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			wait__ends_with_the_turn_that_rings, setup, teardown),
		cmocka_unit_test_setup_teardown(
			wait__ends_in_time_though_a_wake_up_is_late, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			wait__sleeps_at_once_when_waits_are_long, setup,
			teardown),
		cmocka_unit_test_setup_teardown(wait__takes_what_has_come,
						setup, teardown),
		cmocka_unit_test_setup_teardown(wait__flushes_before_it_sleeps,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
