/* SPDX-License-Identifier: BSD-2-Clause */
#include "udp/udp_queue.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"

static int option(const struct tux_udp_queue *q, int level, int name)
{
	int v = -1;
	socklen_t len = sizeof(v);

	getsockopt(q->fd, level, name, &v, &len);
	return v;
}

/* At any port, which the queue then knows. */
static void open__any_port(void **state)
{
	struct sockaddr_in6 a = { 0 };
	socklen_t len = sizeof(a);
	struct tux_udp_queue q;

	(void)state;
	assert_int_equal(tux_udp_queue_open(&q, 0, 0), 0);
	assert_int_equal(getsockname(q.fd, (void *)&a, &len), 0);
	assert_int_equal(a.sin6_family, q.family);
	assert_int_not_equal(q.port, 0);
	assert_int_equal(ntohs(a.sin6_port), q.port);
	close(q.fd);
}

/* Within the range, and none where that has no free port. */
static void open__within_a_range(void **state)
{
	struct tux_udp_queue a, b;
	int err;

	(void)state;
	do {			/* another program may be faster */
		assert_int_equal(tux_udp_queue_open(&a, 0, 0), 0);
		assert_int_equal(tux_udp_queue_open(&b, a.port, a.port),
				 -EADDRINUSE);
		assert_int_equal(b.fd, -1);
		close(a.fd);
		err = tux_udp_queue_open(&b, a.port, a.port);
	} while (err == -EADDRINUSE);
	assert_int_equal(err, 0);
	assert_int_equal(b.port, a.port);
	close(b.fd);
}

/* Of a long range, any port; and not all are tried. */
static void open__within_a_long_range(void **state)
{
	struct tux_udp_queue q;
	unsigned i;

	(void)state;
	for (i = 0; i < 100; i++) {
		assert_int_equal(tux_udp_queue_open(&q, 2000, UINT16_MAX), 0);
		assert_in_range(q.port, 2000, UINT16_MAX);
		close(q.fd);
	}
}

/* What costs the kernel time waits until a loop needs it. */
static void ready__sets_options(void **state)
{
	struct tux_udp_queue q;
	int buf;

	(void)state;
	assert_int_equal(tux_udp_queue_open(&q, 0, 0), 0);
	buf = option(&q, SOL_SOCKET, SO_RCVBUF);
	assert_int_equal(option(&q, IPPROTO_IP, IP_RECVTOS), 0);
	tux_udp_queue_ready(&q);
	assert_int_equal(option(&q, IPPROTO_IP, IP_RECVTOS), 1);
	assert_int_equal(option(&q, IPPROTO_IP, IP_MTU_DISCOVER),
			 IP_PMTUDISC_PROBE);
	assert_true(option(&q, SOL_SOCKET, SO_RCVBUF) >= buf);
	close(q.fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(open__any_port),
		cmocka_unit_test(open__within_a_range),
		cmocka_unit_test(open__within_a_long_range),
		cmocka_unit_test(ready__sets_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
