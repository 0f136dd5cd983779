/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/carried.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"

/* fd[0] has called connect(). */
static void pair(int fd[2])
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(l, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(l, 1), 0);
	assert_int_equal(getsockname(l, (struct sockaddr *)&a, &len), 0);
	assert_int_equal(connect(fd[0], (struct sockaddr *)&a, len), 0);
	fd[1] = accept(l, NULL, NULL);
	assert_true(fd[1] >= 0);
	close(l);
}

static void unpair(int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

static void look__counts_what_the_program_moved(void **state)
{
	struct tux_carried c;
	char p[100];
	int fd[2];

	(void)state;
	pair(fd);
	assert_int_equal(tux_carried_look(fd[0], true, &c), 0);
	assert_int_equal(c.sent, 0);
	assert_int_equal(c.received, 0);
	assert_int_equal(send(fd[0], p, 70, 0), 70);
	assert_int_equal(recv(fd[1], p, 30, MSG_WAITALL), 30);
	assert_int_equal(tux_carried_look(fd[0], true, &c), 0);
	assert_int_equal(c.sent, 70);
	assert_int_equal(tux_carried_look(fd[1], false, &c), 0);
	assert_int_equal(c.sent, 0);
	assert_int_equal(c.received, 30);
	unpair(fd);
}

static void active__from_the_kernels_numbers(void **state)
{
	static char p[1 << 16];
	int fd[2], i;
	ssize_t k;

	(void)state;
	pair(fd);
	for (i = 0; i < 3; i++) {
		assert_int_equal(tux_carried_active(fd[0]), 1);
		assert_int_equal(tux_carried_active(fd[1]), 0);
		/* Until nothing more goes out; then some is read. */
		while (send(fd[i % 2], p, sizeof(p), MSG_DONTWAIT) > 0)
			;
		assert_int_equal(tux_carried_active(fd[0]), 1);
		assert_int_equal(tux_carried_active(fd[1]), 0);
		k = recv(fd[!(i % 2)], p, sizeof(p), 0);
		assert_true(k > 0);
	}
	unpair(fd);
}

/* The peer's FIN is no byte, read or not. */
static void look__behind_the_end(void **state)
{
	struct tux_carried c;
	char p[10];
	int fd[2];

	(void)state;
	pair(fd);
	assert_int_equal(send(fd[0], p, 7, 0), 7);
	assert_int_equal(shutdown(fd[0], SHUT_WR), 0);
	assert_int_equal(recv(fd[1], p, 3, MSG_WAITALL), 3);
	assert_int_equal(tux_carried_look(fd[1], false, &c), 0);
	assert_int_equal(c.received, 3);
	assert_int_equal(recv(fd[1], p, sizeof(p), MSG_WAITALL), 4);
	assert_int_equal(tux_carried_look(fd[1], false, &c), 0);
	assert_int_equal(c.received, 7);
	assert_int_equal(c.sent, 0);
	unpair(fd);
}

/* Another thread moves bytes the other way all the time. */
static void *keep_busy(void *arg)
{
	static char p[1000];
	const int *fd = arg;

	while (send(fd[0], p, sizeof(p), MSG_NOSIGNAL) > 0)
		;
	return NULL;
}

static void look__of_one_moment(void **state)
{
	struct tux_carried c;
	uint64_t total = 0;
	static char p[777];
	pthread_t thread;
	int fd[2], i;

	(void)state;
	pair(fd);
	assert_int_equal(pthread_create(&thread, NULL, keep_busy, fd), 0);
	for (i = 0; i < 2000; i++) {
		ssize_t k = recv(fd[1], p, sizeof(p), 0);

		assert_true(k > 0);
		total += (uint64_t)k;
		if (!tux_carried_look(fd[1], false, &c))
			assert_int_equal(c.received, total);
	}
	shutdown(fd[1], SHUT_RDWR);
	shutdown(fd[0], SHUT_RDWR);
	pthread_join(thread, NULL);
	unpair(fd);
}

static void open__until_this_end_shuts_down(void **state)
{
	int fd[2];

	(void)state;
	pair(fd);
	assert_true(tux_carried_open(fd[0]));
	assert_int_equal(shutdown(fd[1], SHUT_WR), 0);
	assert_true(tux_carried_open(fd[0]));
	assert_false(tux_carried_open(fd[1]));
	unpair(fd);
	pair(fd);
	assert_int_equal(shutdown(fd[0], SHUT_RD), 0);
	assert_false(tux_carried_open(fd[0]));
	assert_true(tux_carried_open(fd[1]));
	unpair(fd);
}

static void look__no_socket(void **state)
{
	struct tux_carried c;

	(void)state;
	assert_int_equal(tux_carried_look(-1, false, &c), -EBADF);
	assert_int_equal(tux_carried_active(-1), -EBADF);
	assert_false(tux_carried_open(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look__counts_what_the_program_moved),
		cmocka_unit_test(active__from_the_kernels_numbers),
		cmocka_unit_test(look__behind_the_end),
		cmocka_unit_test(look__of_one_moment),
		cmocka_unit_test(look__no_socket),
		cmocka_unit_test(open__until_this_end_shuts_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
