/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections that were left to the kernel, in an epoll instance.
 */
#include "wait/epoll.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "no_socks.h"
#include "sock/observer.h"
#include "wait/epoll_fd.h"
#include "wait/epoll_item.h"
#include "wait/epoll_look.h"
#include "wait/epoll_nest.h"
#include "wait/epoll_told.h"
#include "../test.h"

#define DATA 0x00007f1234567890u

static void shut(int fd)
{
	epoll_forget_fd(fd);
	libc.close(fd);
}

static int left_fd = -1;		/* a connection that was left to the kernel */

/* @fd is left to the kernel, and no other; -1: none is. */
static void set_left(int fd)
{
	if (left_fd >= 0)
		atomic_store(&kind_table[left_fd], KIND_UNKNOWN);
	left_fd = fd;
	if (fd >= 0)
		atomic_store(&kind_table[fd], KIND_LEFT);
}

static int leave(void)
{
	set_left(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
	claims_stopped = false;
	return left_fd;
}

static void unleave(int ep)
{
	shut(left_fd);
	shut(ep);
	assert_false(epoll_kept(left_fd));
	set_left(-1);
	claims_stopped = true;
}

static int ctl(int ep, int op, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.u64 = DATA };

	return epoll_ctl(ep, op, fd, &e) ? -errno : 0;
}

/* What @wait tells of @ep: one event's data, or 0. */
static uint64_t told(int (*wait)(int, struct epoll_event *, int, int), int ep)
{
	struct epoll_event e[2];
	int n = wait(ep, e, 2, 0);

	return n == 1 ? e[0].data.u64 : 0;
}

static void ctl__leaves_the_kernel_the_data_of_what_was_left(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = leave();

	(void)state;
	assert_int_equal(ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN), -ENOENT);
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), -EEXIST);
	assert_false(epoll_kept(fd));
	assert_true(told(libc.epoll_wait, ep) == DATA);
	assert_true(told(epoll_wait, ep) == DATA);
	assert_int_equal(ctl(ep, EPOLL_CTL_MOD, fd, EPOLLPRI), 0);
	assert_true(told(epoll_wait, ep) == 0);
	assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), 0);
	assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), -ENOENT);
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, NULL), -1);
	assert_int_equal(errno, EFAULT);
	unleave(ep);
}

/* What is told once only is no exception. */
static void ctl__leaves_the_kernel_the_data_of_an_edge(void **state)
{
	static const uint32_t how[] = { EPOLLET, EPOLLONESHOT };
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = leave();

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
		assert_int_equal(ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN | how[i]),
				 0);
		assert_true(told(epoll_wait, ep) == DATA);
		assert_true(told(epoll_wait, ep) == 0);
		assert_int_equal(ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN), 0);
		assert_true(told(epoll_wait, ep) == DATA);
		assert_true(told(epoll_wait, ep) == DATA);
		assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), 0);
		assert_true(told(epoll_wait, ep) == 0);
		assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN | how[i]),
				 0);
		assert_true(told(libc.epoll_wait, ep) == DATA);
		assert_true(told(libc.epoll_wait, ep) == 0);
		assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), 0);
		assert_false(epoll_kept(fd));
	}
	unleave(ep);
}

static bool peek(int fd)
{
	struct ep *ep = ep_lock_fd(fd);
	bool any;

	assert_non_null(ep);
	any = nest_peek(ep);
	ep_unlock(ep);
	return any;
}

/* A poll of the instance takes nothing away from a thread that waits for it. */
static void peek__leaves_the_edge_of_what_was_left(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = leave();

	(void)state;
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET), 0);
	assert_true(peek(ep));
	assert_true(peek(ep));
	assert_true(told(epoll_wait, ep) == DATA);
	assert_false(peek(ep));
	unleave(ep);
}

/* A TCP socket that may move yet. */
static int hope(void)
{
	int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);

	atomic_store(&kind_table[fd], KIND_TCP4);
	return fd;
}

static void ctl__lets_the_kernel_have_the_data_of_a_socket(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = hope();

	(void)state;
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLET), -EEXIST);
	assert_true(epoll_kept(fd));
	assert_true(told(libc.epoll_wait, ep) == DATA);
	assert_true(told(epoll_wait, ep) == DATA);
	assert_int_equal(ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLET), 0);
	assert_true(told(epoll_wait, ep) == DATA);
	assert_true(told(epoll_wait, ep) == 0);
	assert_int_equal(ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN), 0);
	assert_true(told(libc.epoll_wait, ep) == DATA);
	assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), 0);
	assert_true(told(epoll_wait, ep) == 0);
	assert_false(epoll_kept(fd));
	shut(fd);
	shut(ep);
}

/* Of an edge, the change to a tag would tell once more. */
static void ctl__tags_what_is_told_once_only(void **state)
{
	static const uint32_t how[] = { EPOLLET, EPOLLONESHOT,
					1u << 28 /* EPOLLEXCLUSIVE */ };
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = hope();
	struct epoll_event e;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN | how[i]),
				 0);
		assert_int_equal(libc.epoll_wait(ep, &e, 1, 0), 1);
		assert_true(tag_is(e.data.u64));
		assert_int_equal(told_direct(ep, &e, 1), 1);
		assert_true(e.data.u64 == DATA);
		assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), 0);
	}
	shut(fd);
	shut(ep);
}

/* No event of it may be taken for one of a tag. */
static void ctl__tags_data_that_looks_like_a_tag(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = hope();
	struct epoll_event e = { .events = EPOLLIN }, got;

	(void)state;
	e.data.u64 = tag_make(7, fd);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
		assert_int_equal(epoll_wait(ep, &got, 1, 0), 1);
		assert_true(got.data.u64 == e.data.u64);
		assert_int_equal(epoll_ctl(ep, EPOLL_CTL_DEL, fd, &e), 0);
		atomic_store(&kind_table[fd], KIND_LEFT);
	}
	atomic_store(&kind_table[fd], KIND_UNKNOWN);
	shut(fd);
	shut(ep);
}

/* A ring has told the one shot of @fd, whose connection has no ring any more. */
static void shoot(int ep, int fd)
{
	struct ep *e = ep_lock_fd(ep);

	look_spend(e, item_find(e, fd), false);
	ep_unlock(e);
}

/* The kernel has no item of it, but the program has registered it. */
static void ctl__knows_one_shot_that_a_ring_has_told(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = hope();
	const uint32_t once = EPOLLIN | EPOLLONESHOT;

	(void)state;
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, once), 0);
	shoot(ep, fd);
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, once), -EEXIST);
	assert_true(told(epoll_wait, ep) == 0);
	assert_int_equal(ctl(ep, EPOLL_CTL_MOD, fd, once), 0);
	assert_true(told(epoll_wait, ep) == DATA);
	assert_int_equal(ctl(ep, EPOLL_CTL_MOD, fd, once), 0);
	shoot(ep, fd);
	assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), 0);
	assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), -ENOENT);
	shut(fd);
	shut(ep);
}

/* The number may be another file's by now, which is not registered. */
static void ctl__forgets_one_shot_that_is_closed(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = hope(), next = hope();
	const uint32_t once = EPOLLIN | EPOLLONESHOT;

	(void)state;
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, once), 0);
	shoot(ep, fd);
	epoll_forget_fd(fd);
	assert_int_equal(dup2(next, fd), fd);
	assert_int_equal(ctl(ep, EPOLL_CTL_MOD, fd, once), -ENOENT);
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, once), 0);
	assert_true(told(epoll_wait, ep) == DATA);
	shut(next);
	shut(fd);
	shut(ep);
}

/* The number may be another connection's, by the time that one is left. */
static void left__keeps_the_item_of_another(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = hope();
	static struct sock s;

	(void)state;
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
	observer_left(fd);
	assert_true(epoll_kept(fd));
	atomic_store(&kind_table[fd], KIND_LEFT);
	atomic_store(&fd_table[fd], &s);
	observer_left(fd);
	assert_true(epoll_kept(fd));
	assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), 0);
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
	assert_true(epoll_kept(fd));
	atomic_store(&fd_table[fd], NULL);
	shut(fd);
	atomic_store(&kind_table[fd], KIND_UNKNOWN);
	shut(ep);
}

/* From then on, the item that waited for its move is not needed. */
static void left__has_no_item(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = hope();

	(void)state;
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
	set_left(fd);
	atomic_store(&kind_table[fd], KIND_LEFT);
	observer_left(fd);
	assert_false(epoll_kept(fd));
	assert_true(told(epoll_wait, ep) == DATA);
	assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), 0);
	unleave(ep);
}

/* Both kinds of events in one answer. */
static void wait__tells_what_was_left_beside_the_rest(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = leave();
	int other = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	struct epoll_event e[3];

	(void)state;
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, other, EPOLLIN), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(epoll_wait(ep, e, 3, 0), 2);
		assert_true(e[0].data.u64 == DATA && e[1].data.u64 == DATA);
	}
	shut(other);
	assert_true(told(epoll_wait, ep) == DATA);
	unleave(ep);
}

/* The number of a connection that was left may be the next one's, that is not,
 * and the other way round. */
static void ctl__begins_anew_with_a_number(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = leave();

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
		assert_true(told(epoll_wait, ep) == DATA);
		assert_int_equal(epoll_kept(fd), i % 2);
		shut(fd);
		assert_false(epoll_kept(fd));
		set_left(i % 2 ? fd : -1);
		assert_int_equal(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK), fd);
	}
	set_left(fd);
	unleave(ep);
}

/* An item came first: the connection was registered before it was begun. */
static void ctl__takes_over_from_an_item(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = leave();

	(void)state;
	for (int i = 0; i < 2; i++) {
		set_left(-1);
		assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
		set_left(fd);
		assert_true(told(epoll_wait, ep) == DATA);
		assert_int_equal(ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN), 0);
		assert_true(told(libc.epoll_wait, ep) == DATA);
		assert_int_equal(ctl(ep, EPOLL_CTL_DEL, fd, 0), 0);
		assert_true(told(epoll_wait, ep) == 0);
	}
	unleave(ep);
}

/* The instance is the child's, too, and what either registers is told as it was
 * registered. */
static void ctl__shares_what_was_left_with_a_child(void **state)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fd = leave(), status;
	int both = dup(fd);
	pid_t pid;

	(void)state;
	assert_int_equal(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
	pid = libc._Fork();
	if (!pid) {
		ep_forked();
		status = told(epoll_wait, ep) == DATA &&
			 !ctl(ep, EPOLL_CTL_DEL, fd, 0);
		set_left(both);
		libc._exit(status && !ctl(ep, EPOLL_CTL_ADD, both, EPOLLIN) ? 7 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_true(told(epoll_wait, ep) == DATA);
	shut(both);
	unleave(ep);
}

/* What no call of libc has registered. */
static void wait__stops_at_a_foreign_event(void **state)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = DATA };
	int first = epoll_create1(EPOLL_CLOEXEC), ep, fd = leave();

	(void)state;
	assert_int_equal(ctl(first, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
	assert_true(told(epoll_wait, first) == DATA);
	assert_false(claims_stopped);
	shut(first);
	ep = epoll_create1(EPOLL_CLOEXEC);
	assert_int_equal(libc.epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
	assert_true(told(epoll_wait, ep) == DATA);
	assert_true(claims_stopped);
	unleave(ep);
}

/* As a bare call tells it: the program's data, and once what is told once. */
static void stopped__the_kernel_has_all(void **state)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = 77 }, got;
	int ep = epoll_create1(0), in = eventfd(1, 0), once = eventfd(1, 0);

	(void)state;
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, once,
				   &(struct epoll_event){
					   .events = EPOLLIN | EPOLLONESHOT,
					   .data.u64 = 78 }), 0);
	assert_int_equal(epoll_wait(ep, &got, 1, 0), 1);
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, in, &e), 0);
	observer_stopped();
	assert_null(ep_peek(ep));
	assert_false(epoll_kept(in));
	assert_int_equal(syscall(SYS_epoll_wait, ep, &got, 1, 0), 1);
	assert_int_equal(got.data.u64, 77);
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_DEL, in, NULL), 0);
	assert_int_equal(syscall(SYS_epoll_wait, ep, &got, 1, 0), 0);
	close(ep);
	close(in);
	close(once);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			ctl__leaves_the_kernel_the_data_of_what_was_left),
		cmocka_unit_test(ctl__leaves_the_kernel_the_data_of_an_edge),
		cmocka_unit_test(peek__leaves_the_edge_of_what_was_left),
		cmocka_unit_test(ctl__lets_the_kernel_have_the_data_of_a_socket),
		cmocka_unit_test(ctl__tags_what_is_told_once_only),
		cmocka_unit_test(ctl__tags_data_that_looks_like_a_tag),
		cmocka_unit_test(ctl__knows_one_shot_that_a_ring_has_told),
		cmocka_unit_test(ctl__forgets_one_shot_that_is_closed),
		cmocka_unit_test(left__keeps_the_item_of_another),
		cmocka_unit_test(left__has_no_item),
		cmocka_unit_test(wait__tells_what_was_left_beside_the_rest),
		cmocka_unit_test(ctl__begins_anew_with_a_number),
		cmocka_unit_test(ctl__takes_over_from_an_item),
		cmocka_unit_test(ctl__shares_what_was_left_with_a_child),
		cmocka_unit_test(wait__stops_at_a_foreign_event),
		cmocka_unit_test(stopped__the_kernel_has_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
