/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/kind.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "ground/libc.h"
#include "../test.h"

enum { FD = 9 };

/* ---- the kernel ---- */

static int is_domain, is_protocol;
static unsigned asked;

static int get(int fd, int level, int name, void *v, socklen_t *len)
{
	assert_int_equal(fd, FD);
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(*len, sizeof(int));
	asked++;
	errno = ENOTSOCK;
	if (is_domain < 0)
		return -1;
	*(int *)v = name == SO_PROTOCOL ? is_protocol : is_domain;
	return 0;
}

struct libc libc = { .getsockopt = get };

static int set_up(void **state)
{
	(void)state;
	kind_forget(FD);
	is_domain = AF_INET;
	is_protocol = IPPROTO_TCP;
	asked = 0;
	return 0;
}

static void made__is_remembered(void **state)
{
	(void)state;
	kind_made(FD, AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(kind_domain(FD), AF_INET);
	kind_made(FD, AF_INET6, SOCK_STREAM, IPPROTO_TCP);
	assert_int_equal(kind_domain(FD), AF_INET6);
	kind_made(FD, AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(kind_domain(FD), -1);
	kind_made(FD, AF_INET, SOCK_STREAM, IPPROTO_SCTP);
	assert_int_equal(kind_domain(FD), -1);
	kind_made(FD, AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(kind_domain(FD), -1);
	assert_int_equal(asked, 0);
}

/* The program's errno is not touched. */
static void domain__asks_about_what_came_from_elsewhere(void **state)
{
	(void)state;
	errno = EAGAIN;
	assert_int_equal(kind_domain(FD), AF_INET);
	is_protocol = IPPROTO_UDP;
	assert_int_equal(kind_domain(FD), -1);
	is_domain = -1;
	assert_int_equal(kind_domain(FD), -1);
	assert_int_equal(errno, EAGAIN);
	assert_true(asked > 0);
}

static void left__until_it_is_closed(void **state)
{
	(void)state;
	kind_leave(FD);
	assert_true(kind_left(FD));
	assert_int_equal(kind_domain(FD), -1);
	kind_forget(FD);
	assert_false(kind_left(FD));
	assert_int_equal(kind_domain(FD), AF_INET);
}

static void get__of_what_is_no_descriptor(void **state)
{
	(void)state;
	kind_leave(-1);
	kind_leave(FD_MAX);
	assert_false(kind_left(-1));
	assert_false(kind_left(FD_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(made__is_remembered, set_up),
		cmocka_unit_test_setup(domain__asks_about_what_came_from_elsewhere,
				       set_up),
		cmocka_unit_test_setup(left__until_it_is_closed, set_up),
		cmocka_unit_test_setup(get__of_what_is_no_descriptor, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
