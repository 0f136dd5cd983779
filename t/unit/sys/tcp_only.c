/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/tcp_only.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"

static int sock(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	return fd;
}

static void tcp_only__what_chooses_a_route(void **state)
{
	(void)state;
	assert_true(tux_tcp_only(SOL_SOCKET, SO_MARK));
	assert_true(tux_tcp_only(SOL_SOCKET, SO_BINDTODEVICE));
	assert_true(tux_tcp_only(SOL_SOCKET, SO_BINDTOIFINDEX));
}

static void tcp_only__what_the_kernel_counts(void **state)
{
	(void)state;
	assert_true(tux_tcp_only(SOL_SOCKET, SO_PEEK_OFF));
}

static void tcp_only__no_other(void **state)
{
	(void)state;
	assert_false(tux_tcp_only(SOL_SOCKET, SO_KEEPALIVE));
	assert_false(tux_tcp_only(IPPROTO_TCP, TCP_NODELAY));
	assert_false(tux_tcp_only(IPPROTO_TCP, SO_MARK));
}

static void set__not_at_first(void **state)
{
	int fd = sock();

	(void)state;
	assert_false(tux_tcp_only_set(fd));
	close(fd);
}

/* Sets option @name to @v, where this kernel and this user may. */
static void sets(int name, const void *v, socklen_t len)
{
	int fd = sock();

	if (setsockopt(fd, SOL_SOCKET, name, v, len)) {
		close(fd);
		skip();
	}
	assert_true(tux_tcp_only_set(fd));
	close(fd);
}

static void set__a_mark(void **state)
{
	const unsigned mark = 0x80000000;

	(void)state;
	sets(SO_MARK, &mark, sizeof(mark));
}

static void set__a_device(void **state)
{
	(void)state;
	sets(SO_BINDTODEVICE, "lo", sizeof("lo"));
}

static void set__where_to_peek(void **state)
{
	const int first = 0;

	(void)state;
	sets(SO_PEEK_OFF, &first, sizeof(first));
}

static void set__how_many_bytes_to_tell_of(void **state)
{
	const int two = 2;

	(void)state;
	sets(SO_RCVLOWAT, &two, sizeof(two));
}

static void set__not_any_more(void **state)
{
	const int off = -1, first = 0, one = 1;
	int fd = sock();

	(void)state;
	setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &first, sizeof(first));
	setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &off, sizeof(off));
	setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 1);
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
	assert_false(tux_tcp_only_set(fd));
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp_only__what_chooses_a_route),
		cmocka_unit_test(tcp_only__what_the_kernel_counts),
		cmocka_unit_test(tcp_only__no_other),
		cmocka_unit_test(set__not_at_first),
		cmocka_unit_test(set__a_mark),
		cmocka_unit_test(set__a_device),
		cmocka_unit_test(set__where_to_peek),
		cmocka_unit_test(set__how_many_bytes_to_tell_of),
		cmocka_unit_test(set__not_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
