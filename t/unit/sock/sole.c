/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What makes a process the only holder of a connection, and each thing that
 * speaks against it.
 */
#include "sock/sole.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>

#include "handshake/mark.h"
#include "ground/libc.h"
#include "../test.h"

enum { FD = 3 };

struct libc libc;

/* ---- the kernel ---- */

static struct {
	struct tux_mark_held held;
	int err;		/* ... is not known */
	uint8_t state;
	socklen_t ulp_len;
	int events, flags;
} kernel;

int tux_mark_held(int fd, struct tux_mark_held *h)
{
	assert_int_equal(fd, FD);
	*h = kernel.held;
	return kernel.err;
}

static unsigned copies;			/* of the loop */

unsigned tux_end_copies(const struct tux_end *e)
{
	(void)e;
	return copies;
}

static int kernel_getsockopt(int fd, int level, int name,
			     void *restrict value, socklen_t *restrict len)
{
	assert_int_equal(fd, FD);
	assert_int_equal(level, IPPROTO_TCP);
	if (name == TCP_INFO)
		((struct tcp_info *)value)->tcpi_state = kernel.state;
	else
		*len = kernel.ulp_len;
	return 0;
}

static int kernel_poll(struct pollfd *f, nfds_t n, int ms)
{
	assert_int_equal(n, 1);
	assert_int_equal(ms, 0);
	return (f->events & kernel.events) != 0;
}

static int kernel_fcntl(int fd, int cmd, ...)
{
	(void)fd;
	assert_int_equal(cmd, F_GETFL);
	return kernel.flags;
}

static struct sock fresh(void)
{
	kernel.held = (struct tux_mark_held){ .n = 1 };
	kernel.err = kernel.events = kernel.flags = 0;
	kernel.state = TCP_ESTABLISHED;
	kernel.ulp_len = 0;
	return (struct sock){ .fds = 1 };
}

/* ---- cases ---- */

static void is__with_one_reference(void **state)
{
	struct sock s = fresh();

	(void)state;
	assert_true(sole_is(&s, FD));
	kernel.held.n = 2;
	assert_false(sole_is(&s, FD));
	kernel.held.n = 0;
	assert_false(sole_is(&s, FD));
}

/* The loop of an end that sleeps has a duplicate, and has read the key. */
static void is__with_the_loops(void **state)
{
	struct sock s = fresh();

	(void)state;
	s.asleep = true;
	copies = 1;
	kernel.held.read = true;
	assert_false(sole_is(&s, FD));
	kernel.held.n = 2;
	assert_true(sole_is(&s, FD));
	assert_false(sole_is_not(&s, FD));
	kernel.held.n = 3;
	assert_true(sole_is_not(&s, FD));
	kernel.err = -ENOPROTOOPT;
	assert_false(sole_is_not(&s, FD));
}

static void is__not_what_is_not_known(void **state)
{
	struct sock s = fresh();

	(void)state;
	kernel.err = -ENOPROTOOPT;
	assert_false(sole_is(&s, FD));
}

static void is__not_beside_another_descriptor(void **state)
{
	struct sock s = fresh();

	(void)state;
	s.fds = 2;
	assert_false(sole_is(&s, FD));
}

static void is__not_while_a_message_is_sent(void **state)
{
	struct sock s = fresh();

	(void)state;
	sole_sending();
	sole_sending();
	assert_false(sole_is(&s, FD));
	sole_sent(1);
	assert_false(sole_is(&s, FD));
	sole_sent(1);
	sole_sent(0);
	assert_true(sole_is(&s, FD));
}

/* The thread that sends is the parent's. */
static void forked__forgets_messages(void **state)
{
	struct sock s = fresh();

	(void)state;
	sole_sending();
	sole_forked();
	assert_true(sole_is(&s, FD));
}

static void is__not_when_the_key_was_read(void **state)
{
	struct sock s = fresh();

	(void)state;
	kernel.held.read = true;
	assert_false(sole_is(&s, FD));
}

static void is__not_when_an_end_is_shut(void **state)
{
	struct sock s = fresh();

	(void)state;
	kernel.state = TCP_FIN_WAIT2;
	assert_false(sole_is(&s, FD));
	kernel.state = TCP_ESTABLISHED;
	kernel.events = POLLRDHUP;
	assert_false(sole_is(&s, FD));
}

static void is__not_what_needs_plain_tcp(void **state)
{
	struct sock s = fresh();

	(void)state;
	kernel.ulp_len = 4;
	assert_false(sole_is(&s, FD));
	kernel.ulp_len = 0;
	kernel.flags = O_ASYNC;
	assert_false(sole_is(&s, FD));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is__with_one_reference),
		cmocka_unit_test(is__with_the_loops),
		cmocka_unit_test(is__not_what_is_not_known),
		cmocka_unit_test(is__not_beside_another_descriptor),
		cmocka_unit_test(is__not_while_a_message_is_sent),
		cmocka_unit_test(forked__forgets_messages),
		cmocka_unit_test(is__not_when_the_key_was_read),
		cmocka_unit_test(is__not_when_an_end_is_shut),
		cmocka_unit_test(is__not_what_needs_plain_tcp),
	};

	libc.getsockopt = kernel_getsockopt;
	libc.poll = kernel_poll;
	libc.fcntl = kernel_fcntl;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
