/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/defer.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../test.h"
#include "base/latch.h"
#include "sys/sys.h"
#include "sys/take.h"

enum { MANY = 8 };

static int seen[MANY * 2], values[MANY * 2];
static volatile int n_seen;	/* the handler counts */
static siginfo_t last;
static bool was_restart;
static sigjmp_buf out;

static void application(int sig, siginfo_t *info, void *context)
{
	(void)context;
	values[n_seen] = info->si_value.sival_int;
	seen[n_seen++] = sig;
	last = *info;
	assert_int_equal(tux_defer.inside, 0);
	errno = ENOTTY;
}

static void jumps(int sig, siginfo_t *info, void *context)
{
	application(sig, info, context);
	siglongjmp(out, 1);
}

static void (*behind)(int, siginfo_t *, void *);

static void in_front(int sig, siginfo_t *info, void *context)
{
	if (!tux_defer_signal(sig, info, context, was_restart))
		tux_defer_call(behind, sig, info, context);
}

static void handle(int sig, int flags)
{
	struct sigaction a = { .sa_sigaction = in_front,
			       .sa_flags = SA_SIGINFO | flags };

	behind = application;
	n_seen = 0;
	was_restart = flags & SA_RESTART;
	assert_int_equal(sigaction(sig, &a, NULL), 0);
}

static bool blocked(int sig)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, sig);
}

static void send_value(int sig, int value)
{
	assert_int_equal(sigqueue(getpid(), sig,
				  (union sigval){ .sival_int = value }), 0);
}

/* ---- what waits, and how it comes ---- */

static void signal__runs_at_once_outside(void **state)
{
	(void)state;
	handle(SIGUSR1, 0);
	raise(SIGUSR1);
	assert_int_equal(n_seen, 1);
	assert_false(tux_defer.pending);
}

static void leave__runs_what_waits(void **state)
{
	(void)state;
	handle(SIGUSR1, 0);
	errno = 0;
	tux_defer_enter();
	tux_defer_enter();
	raise(SIGUSR1);
	assert_true(tux_defer.pending);
	assert_true(blocked(SIGUSR1) && blocked(SIGTERM));
	tux_defer_leave();
	assert_int_equal(n_seen, 0);
	tux_defer_leave();
	assert_int_equal(n_seen, 1);
	assert_false(tux_defer.pending);
	assert_false(blocked(SIGUSR1) || blocked(SIGTERM));
	assert_int_equal(errno, 0);
}

/* A handler that asks for what its thread holds. */
static struct tux_latch latch;

static void takes(int sig, siginfo_t *info, void *context)
{
	tux_latch_take(&latch);
	application(sig, info, context);
	tux_latch_drop(&latch);
}

static void leave__comes_after_the_latch(void **state)
{
	(void)state;
	handle(SIGUSR1, 0);
	behind = takes;
	tux_defer_enter();
	tux_latch_take(&latch);
	raise(SIGUSR1);
	tux_latch_drop(&latch);
	tux_defer_leave();
	assert_int_equal(n_seen, 1);
}

static void signal__keeps_what_was_sent(void **state)
{
	(void)state;
	handle(SIGUSR1, 0);
	tux_defer_enter();
	send_value(SIGUSR1, 4711);
	tux_defer_leave();
	assert_int_equal(n_seen, 1);
	assert_int_equal(values[0], 4711);
	assert_int_equal(last.si_code, SI_QUEUE);
	assert_int_equal(last.si_pid, getpid());
	assert_int_equal(last.si_uid, getuid());
	tux_defer_enter();
	kill(getpid(), SIGUSR1);
	tux_defer_leave();
	assert_int_equal(n_seen, 2);
	assert_int_equal(last.si_code, SI_USER);
	assert_int_equal(last.si_pid, getpid());
}

/* Real-time signals are queued, each, in their order; the others are one. */
static void signal__counts_as_the_kernel_does(void **state)
{
	int i;

	(void)state;
	handle(SIGUSR1, 0);
	handle(SIGRTMIN + 3, 0);
	tux_defer_enter();
	for (i = 0; i < MANY; i++) {
		send_value(SIGRTMIN + 3, i);
		raise(SIGUSR1);
	}
	tux_defer_leave();
	assert_int_equal(n_seen, MANY + 1);
	for (i = 0; i <= MANY; i++)
		if (seen[i] == SIGUSR1)
			break;
	assert_true(i <= MANY);
	memmove(&values[i], &values[i + 1], sizeof(int) * (size_t)(MANY - i));
	for (i = 0; i < MANY; i++)
		assert_int_equal(values[i], i);
}

static void signal__open_in_its_handler(void **state)
{
	(void)state;
	handle(SIGUSR1, SA_NODEFER);
	tux_defer_enter();
	raise(SIGUSR1);
	raise(SIGUSR1);
	tux_defer_leave();
	assert_int_equal(n_seen, 1);
}

static void signal__leaves_the_mask_as_it_was(void **state)
{
	sigset_t set, before;

	(void)state;
	handle(SIGUSR2, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &before);
	tux_defer_enter();
	raise(SIGUSR2);
	tux_defer_leave();
	assert_int_equal(n_seen, 1);
	assert_true(blocked(SIGUSR1) && !blocked(SIGUSR2));
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void signal__tells_of_restart(void **state)
{
	(void)state;
	handle(SIGUSR1, SA_RESTART);
	tux_defer_enter();
	raise(SIGUSR1);
	assert_true(tux_defer.restarts);
	tux_defer_leave();
	handle(SIGUSR1, 0);
	tux_defer_enter();
	raise(SIGUSR1);
	assert_false(tux_defer.restarts);
	tux_defer_leave();
}

static void pause__runs_them_inside(void **state)
{
	(void)state;
	handle(SIGUSR1, 0);
	tux_defer_enter();
	tux_defer_enter();
	raise(SIGUSR1);
	tux_defer_pause();
	assert_int_equal(n_seen, 1);
	assert_int_equal(tux_defer.inside, 2);
	raise(SIGUSR1);
	assert_int_equal(n_seen, 1);
	tux_defer_leave();
	tux_defer_leave();
	assert_int_equal(n_seen, 2);
}

static void leave__may_be_left_by_a_jump(void **state)
{
	(void)state;
	handle(SIGUSR1, 0);
	behind = jumps;
	tux_defer_enter();
	if (!sigsetjmp(out, 1)) {
		raise(SIGUSR1);
		tux_defer_leave();
		fail();
	}
	assert_int_equal(tux_defer.inside, 0);
	assert_false(tux_defer.pending);
	assert_false(blocked(SIGUSR1));
}

/* ---- faults ---- */

static void touches(void *page)
{
	*(volatile char *)page = 1;
}

static void *page;

static void mends(int sig, siginfo_t *info, void *context)
{
	application(sig, info, context);
	assert_int_equal(info->si_code, SEGV_ACCERR);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	/* What it calls goes in and out as elsewhere. */
	tux_defer_enter();
	tux_defer_leave();
}

static void fault__does_not_wait(void **state)
{
	(void)state;
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	handle(SIGSEGV, 0);
	handle(SIGUSR1, 0);
	behind = mends;
	tux_defer_enter();
	raise(SIGUSR1);
	touches(page);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0], SIGSEGV);
	assert_int_equal(tux_defer.inside, 1);
	assert_true(tux_defer.pending);
	behind = application;
	tux_defer_leave();
	assert_int_equal(n_seen, 2);
	munmap(page, 4096);
	/* One that was sent is no fault. */
	tux_defer_enter();
	raise(SIGSEGV);
	assert_int_equal(n_seen, 2);
	tux_defer_leave();
	assert_int_equal(n_seen, 3);
	signal(SIGSEGV, SIG_DFL);
}

/* ---- sleeping ---- */

/* As a thread does that waits for @fd for a minute. */
static int naps(int fd, void (*just_before)(void), const sigset_t *mask)
{
	struct pollfd p[2] = { { fd, POLLIN, 0 } };
	struct timespec minute = { 60, 0 };
	int r;

	tux_defer_sleep(&p[1].fd, mask);
	if (just_before)
		just_before();
	r = tux_sys_ppoll(p, 2, &minute, mask);
	return tux_defer_woke() && r <= (p[1].revents != 0) ? -EINTR : r;
}

static void raises(void)
{
	raise(SIGUSR1);
}

/* Between the last look and the kernel. */
static void sleep__ends_for_what_comes_just_before(void **state)
{
	(void)state;
	handle(SIGUSR1, 0);
	tux_defer_enter();
	assert_int_equal(naps(-1, raises, NULL), -EINTR);
	assert_int_equal(naps(-1, NULL, NULL), -EINTR);
	tux_defer_leave();
	assert_int_equal(n_seen, 1);
}

/* Nor does one that the call keeps out end it. */
static void sleep__goes_on_for_what_it_blocks(void **state)
{
	struct timespec soon = { 0, 20000000 };
	struct pollfd p = { .events = 0 };
	sigset_t set;

	(void)state;
	handle(SIGUSR1, 0);
	handle(SIGUSR2, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	tux_defer_enter();
	raise(SIGUSR1);
	tux_defer_sleep(&p.fd, &set);
	assert_int_equal(p.fd, -1);
	raise(SIGUSR1);
	assert_int_equal(p.fd, -1);
	assert_int_equal(tux_sys_ppoll(&p, 1, &soon, &set), 0);
	assert_false(tux_defer_woke());
	raise(SIGUSR2);
	assert_int_equal(naps(-1, NULL, &set), -EINTR);
	tux_defer_leave_masked(&set, true);
	assert_int_equal(n_seen, 2);
}

static pthread_t sleeper;

static void *raises_later(void *arg)
{
	usleep(20000);
	pthread_kill(sleeper, SIGUSR1);
	return arg;
}

static void sleep__ends_for_what_comes(void **state)
{
	pthread_t t;

	(void)state;
	handle(SIGUSR1, SA_RESTART);
	sleeper = pthread_self();
	tux_defer_enter();
	pthread_create(&t, NULL, raises_later, NULL);
	assert_int_equal(naps(-1, NULL, NULL), -EINTR);
	pthread_join(t, NULL);
	assert_int_equal(n_seen, 0);
	tux_defer_leave();
	assert_int_equal(n_seen, 1);
}

static void sleep__tells_what_is_ready_first(void **state)
{
	int fds[2];

	(void)state;
	handle(SIGUSR1, 0);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	tux_defer_enter();
	assert_int_equal(naps(fds[0], raises, NULL), 2);
	tux_defer_leave();
	assert_int_equal(n_seen, 1);
	close(fds[0]);
	close(fds[1]);
}

/* A signal that only the call lets in runs before the call has returned. */
static void masked__lets_in_what_the_call_does(void **state)
{
	sigset_t set, before, none;

	(void)state;
	handle(SIGUSR1, 0);
	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &before);
	tux_defer_enter();
	raise(SIGUSR1);
	assert_false(tux_defer.pending);
	assert_int_equal(naps(-1, NULL, &none), -EINTR);
	assert_true(tux_defer.pending);
	tux_defer_leave_masked(&none, true);
	assert_int_equal(n_seen, 1);
	assert_true(blocked(SIGUSR1));
	/* Where the call has more to say, the signal waits for the next. */
	tux_defer_enter();
	raise(SIGUSR1);
	assert_int_equal(naps(-1, NULL, &none), -EINTR);
	tux_defer_leave_masked(&none, false);
	assert_int_equal(n_seen, 1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(n_seen, 2);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
	/* It takes signals over, and runs handlers when it likes. */
	puts("the thread sanitizer delivers signals late");
	return 77;
#endif
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(signal__runs_at_once_outside),
		cmocka_unit_test(leave__runs_what_waits),
		cmocka_unit_test(leave__comes_after_the_latch),
		cmocka_unit_test(signal__keeps_what_was_sent),
		cmocka_unit_test(signal__counts_as_the_kernel_does),
		cmocka_unit_test(signal__open_in_its_handler),
		cmocka_unit_test(signal__leaves_the_mask_as_it_was),
		cmocka_unit_test(signal__tells_of_restart),
		cmocka_unit_test(pause__runs_them_inside),
		cmocka_unit_test(leave__may_be_left_by_a_jump),
		cmocka_unit_test(fault__does_not_wait),
		cmocka_unit_test(sleep__ends_for_what_comes_just_before),
		cmocka_unit_test(sleep__goes_on_for_what_it_blocks),
		cmocka_unit_test(sleep__ends_for_what_comes),
		cmocka_unit_test(sleep__tells_what_is_ready_first),
		cmocka_unit_test(masked__lets_in_what_the_call_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
