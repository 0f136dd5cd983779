/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who drives a loop, and what happens when nobody seems to: idle and busy
 * programs, several threads, signals.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "rig.h"
#include "sys/clock.h"

enum {
	CROWD = 4,
	ROUNDS = 500,
	SIGNALS = 50,
	UPGRADE_S = 30,
	LOOKS = 10,		/* of which one has to be quiet */
};

/* ---- nobody does anything ---- */

static tux_time cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return TUX_SEC(ts.tv_sec) + (tux_time)ts.tv_nsec;
}

static tux_time used_in_a_second(void)
{
	tux_time before = cpu_time();

	rig_sleep(1000);
	return cpu_time() - before;
}

/* What is left to do after the last byte may be late. */
static void idle(unsigned threads)
{
	tux_time used = TUX_NEVER;
	struct rig r;
	pthread_t t;
	int i;

	rig_up(&r, threads);
	t = rig_start(rig_echo, &r.s);
	rig_converse(&r.c, 100);
	rig_sleep(100);
	for (i = 0; i < LOOKS && used >= TUX_MSEC(10); i++)
		used = used_in_a_second();
	assert_true(used < TUX_MSEC(10));
	rig_exchange(&r.c);
	rig_end(&r, t);
	rig_down(&r);
}

static void idle__costs_nothing_inline(void **state)
{
	(void)state;
	idle(0);
}

static void idle__costs_nothing_with_threads(void **state)
{
	(void)state;
	idle(2);
}

/* ---- an application that does not wait ---- */

static void busy__application_still_acknowledges(void **state)
{
	static char buf[100000];
	tux_time limit;
	size_t at = 0;
	struct rig r;

	(void)state;
	rig_up(&r, 0);
	limit = tux_clock_read() + TUX_SEC(UPGRADE_S);
	while (!side_on_rings(&r.c) || !side_on_rings(&r.s)) {
		assert_int_equal(side_write(&r.c, "1", 1), 1);
		assert_int_equal(side_read(&r.s, buf, 1), 1);
		assert_int_equal(side_write(&r.s, "2", 1), 1);
		assert_int_equal(side_read(&r.c, buf, 1), 1);
		assert_true(tux_clock_read() < limit);
	}
	assert_int_equal(side_write(&r.s, buf, sizeof(buf)), sizeof(buf));
	while (tux_pipe_len(&r.s.dx->txp)) {	/* neither of them drives */
		rig_sleep(1);
		assert_true(tux_clock_read() < limit);
	}
	assert_int_equal(tux_duplex_readable(r.c.dx), sizeof(buf));
	while (at < sizeof(buf))
		at += (size_t)side_read(&r.c, buf, sizeof(buf));
	side_close(&r.c, false);
	side_close(&r.s, false);
	rig_down(&r);
}

/* ---- several threads ---- */

static void *talk(void *arg)
{
	tux_time limit = tux_clock_read() + TUX_SEC(UPGRADE_S);
	struct side *x = arg;
	char b;
	int i;

	for (i = 0; i < ROUNDS ||
	     (!side_on_rings(x) && tux_clock_read() < limit); i++)
		if (side_write(x, "?", 1) != 1 || side_read(x, &b, 1) != 1)
			return x;
	side_shut(x);
	return side_read(x, &b, 1) == 0 ? NULL : x;
}

static void crowd__of_threads_on_one_loop(void **state)
{
	static struct side c[CROWD], s[CROWD];
	pthread_t ct[CROWD], st[CROWD];
	struct rig r;
	int i, fd;

	(void)state;
	rig_up(&r, 0);
	for (i = 0; i < CROWD; i++) {
		fd = side_connect(r.port);
		side_open(&s[i], r.server, accept(r.listener, NULL, NULL),
			  false, NULL, 0);
		side_open(&c[i], r.client, fd, true, NULL, 0);
	}
	for (i = 0; i < CROWD; i++) {
		st[i] = rig_start(rig_echo, &s[i]);
		ct[i] = rig_start(talk, &c[i]);
	}
	for (i = 0; i < CROWD; i++) {
		assert_int_equal(rig_finish(ct[i]), 0);
		assert_int_equal(rig_finish(st[i]), 0);
		assert_true(side_on_rings(&c[i]));
		side_close(&c[i], false);
		side_close(&s[i], false);
	}
	for (i = 0; i < CROWD; i++) {
		side_free(&c[i]);
		side_free(&s[i]);
	}
	side_close(&r.c, false);
	side_close(&r.s, false);
	rig_down(&r);
}

/* ---- signals ---- */

static void on_signal(int sig)
{
	(void)sig;
}

struct sleeper {
	struct side *x;
	_Atomic int state;	/* 1: about to wait; 2: has waited */
	_Atomic bool stop;
};

static void *sleeper(void *arg)
{
	struct sleeper *p = arg;

	while (!atomic_load(&p->stop)) {
		tux_time until = tux_clock_read() + TUX_SEC(10);
		int got;

		atomic_store(&p->state, 1);
		do {		/* an acknowledgment may ring, too */
			side_hear(p->x);
			got = side_wait(p->x, POLLIN, until);
		} while (got == 1);
		if (got != -EINTR)
			return p;
		atomic_store(&p->state, 2);
		while (atomic_load(&p->state) == 2 && !atomic_load(&p->stop))
			rig_sleep(1);
	}
	return NULL;
}

static void signal__ends_a_wait(void **state)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sleeper p = { .state = 0 };
	struct rig r;
	pthread_t t, st;
	int i;

	(void)state;
	sigaction(SIGUSR1, &a, NULL);
	rig_up(&r, 0);
	t = rig_start(rig_echo, &r.s);
	rig_converse(&r.c, 200);
	p.x = &r.c;
	st = rig_start(sleeper, &p);
	for (i = 0; i < SIGNALS; i++) {
		while (atomic_load(&p.state) != 1)
			rig_sleep(1);
		/* One that comes just before the wait does not end it. */
		while (atomic_load(&p.state) == 1) {
			assert_int_equal(pthread_kill(st, SIGUSR1), 0);
			rig_sleep(2);
		}
		if (i == SIGNALS - 1)
			atomic_store(&p.stop, true);
		atomic_store(&p.state, 0);
	}
	assert_int_equal(rig_finish(st), 0);
	rig_end(&r, t);
	rig_down(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle__costs_nothing_inline),
		cmocka_unit_test(idle__costs_nothing_with_threads),
		cmocka_unit_test(busy__application_still_acknowledges),
		cmocka_unit_test(crowd__of_threads_on_one_loop),
		cmocka_unit_test(signal__ends_a_wait),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
