/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When poll() leaves its wait to the kernel, and what it makes of the answer.
 */
#include "wait/poll_plain.h"

#include <errno.h>

#include "ground/process.h"
#include "sock/fd.h"
#include "sock/ready.h"
#include "sys/clock.h"
#include "wait/epoll.h"
#include "wait/wait.h"
#include "../test.h"

enum { FD = 3, AGAIN = 7 };

struct sock *_Atomic fd_table[FD_MAX];
struct ep *_Atomic ep_table[FD_MAX];

struct process_here process_here = { .epoch = 2 };

static struct sock sock;
static struct ready says;	/* of the sock */
static uint32_t mark;		/* what of the kernel's answer is the mark that
				 * the connection moves */
static struct waiting waiting;
static bool moves;		/* as soon as the thread watches */
static int slept;		/* how often */
static short came;		/* what the kernel says then */
static tux_time now;

bool poll_ours(int fd)
{
	return fd == FD;
}

struct sock *sock_get(int fd)
{
	return fd_peek(fd);
}

void sock_let_go(struct sock *s, uint64_t n)
{
	assert_ptr_equal(s, &sock);
	assert_int_equal(n, 1);
}

struct ready ready_of(struct sock *s)
{
	assert_ptr_equal(s, &sock);
	return says;
}

uint32_t ready_told(struct sock *s, int fd, uint32_t told, struct ready *r)
{
	assert_int_equal(fd, FD);
	*r = ready_of(s);
	return told & ~mark;
}

struct waiting *wait_take(void)
{
	return &waiting;
}

void wait_give(struct waiting *t)
{
	assert_ptr_equal(t, &waiting);
}

void wait_watch_all(struct waiting *t, struct watch *w)
{
	(void)t, (void)w;
	if (moves)
		sock.path = TUX_RX_ON_RING;
}

void sock_unwatch_all(struct watch *w)
{
	(void)w;
}

tux_time tux_clock_read(void)
{
	return now;
}

bool poll_arrange(struct polling *p)
{
	*p->kernel = *p->fds;
	return true;
}

bool poll_answer(struct polling *p, unsigned i, short got)
{
	p->fds[i].revents = got;
	return got;
}

int tux_channel_wait(struct tux_stack *s, struct tux_waiter *w,
		     struct pollfd *fds, unsigned n, tux_time until,
		     const sigset_t *mask)
{
	assert_null(s);
	assert_ptr_equal(w, &waiting.w);
	assert_int_equal(n, 1);
	assert_null(mask);
	slept++;
	fds->revents = came;
	if (!came)
		now = until;
	return came != 0;
}

/* ---- a call of poll() for one sock ---- */

static struct pollfd fds, kernel;

static int set_up(void **state)
{
	(void)state;
	sock = (struct sock){ .stage = SOCK_CANDIDATE,
			      .epoch = process_here.epoch,
			      .plain_looks = READY_PLAIN };
	says = (struct ready){ 0, READY_IN | READY_OUT | READY_ALWAYS };
	atomic_store(&fd_table[FD], &sock);
	fds = (struct pollfd){ .fd = FD, .events = POLLIN, .revents = AGAIN };
	mark = 0;
	moves = false;
	slept = 0;
	came = POLLIN;
	now = TUX_SEC(1);
	return 0;
}

static bool polls_plain(int *r)
{
	struct polling p = {
		.fds = &fds, .kernel = &kernel, .n = 1, .until = TUX_SEC(2),
	};

	*r = AGAIN;
	return poll_plain(&p, r);
}

static void plain__the_kernel_waits(void **state)
{
	int r;

	(void)state;
	assert_true(polls_plain(&r));
	assert_int_equal(r, 1);
	assert_int_equal(fds.revents, POLLIN);
	sock.stage = SOCK_CLAIMED;
	assert_true(polls_plain(&r));
	assert_int_equal(slept, 2);
}

/* It is the parent's, whose loop may move it, or has. */
static void plain__not_after_a_fork(void **state)
{
	int r;

	(void)state;
	sock.stage = SOCK_CLAIMED;
	sock.epoch = 1;
	assert_false(polls_plain(&r));
	assert_int_equal(slept, 0);
}

static void plain__the_time_is_up(void **state)
{
	int r;

	(void)state;
	came = 0;
	assert_true(polls_plain(&r));
	assert_int_equal(r, 0);
	assert_int_equal(fds.revents, 0);
}

static void plain__not_before_many_looks(void **state)
{
	int r;

	(void)state;
	sock.plain_looks = READY_PLAIN - 1;
	assert_false(polls_plain(&r));
	assert_int_equal(slept, 0);
}

/* The kernel knows nothing of them. */
static void plain__not_with_bytes_of_a_ring(void **state)
{
	int r;

	(void)state;
	sock.stage = SOCK_CLAIMED;
	says.now = POLLIN;
	assert_false(polls_plain(&r));
	assert_int_equal(slept, 0);
}

static void plain__not_if_it_moves_first(void **state)
{
	int r;

	(void)state;
	moves = true;
	assert_false(polls_plain(&r));
	assert_int_equal(slept, 0);
}

static void plain__the_mark_is_not_the_callers(void **state)
{
	int r;

	(void)state;
	sock.stage = SOCK_CLAIMED;
	mark = POLLIN;
	assert_false(polls_plain(&r));
	assert_int_equal(slept, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(plain__the_kernel_waits, set_up),
		cmocka_unit_test_setup(plain__not_after_a_fork, set_up),
		cmocka_unit_test_setup(plain__the_time_is_up, set_up),
		cmocka_unit_test_setup(plain__not_before_many_looks, set_up),
		cmocka_unit_test_setup(plain__not_with_bytes_of_a_ring, set_up),
		cmocka_unit_test_setup(plain__not_if_it_moves_first, set_up),
		cmocka_unit_test_setup(plain__the_mark_is_not_the_callers,
				       set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
