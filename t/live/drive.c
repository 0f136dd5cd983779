/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who drives a loop, and what happens when nobody seems to: idle and busy
 * programs, several threads, signals, forks, and processes that end.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit/test.h"
#include "io/clock.h"
#include "side.h"

enum {
	CROWD = 4,
	ROUNDS = 500,
	SIGNALS = 50,
	LEFT = 200000,
	UPGRADE_S = 5,
};

struct rig {
	struct tux_stack *client, *server;
	struct side c, s;
	int listener;
	uint16_t port;
};

static void sleep_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&t, &t) < 0)
		;
}

static void *echo(void *arg)
{
	struct side *x = arg;
	char buf[1000];
	ssize_t k;

	while ((k = side_read(x, buf, sizeof(buf))) > 0) {
		k = side_write(x, buf, (size_t)k);
		if (k < 0)
			break;
	}
	if (k == 0)
		side_shut(x);
	return (void *)(intptr_t)k;
}

static void exchange(struct side *x)
{
	char b = 0;

	assert_int_equal(side_write(x, "!", 1), 1);
	assert_int_equal(side_read(x, &b, 1), 1);
	assert_int_equal(b, '!');
}

static void converse(struct side *x, unsigned rounds)
{
	tux_time limit = tux_clock_read() + TUX_SEC(UPGRADE_S);
	unsigned i;

	for (i = 0; i < rounds || !side_on_rings(x); i++) {
		exchange(x);
		assert_true(side_on_rings(x) || tux_clock_read() < limit);
	}
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, fn, arg), 0);
	return t;
}

static intptr_t finish(pthread_t t)
{
	void *result;

	assert_int_equal(pthread_join(t, &result), 0);
	return (intptr_t)result;
}

static void listen_up(struct rig *r, unsigned threads)
{
	memset(r, 0, sizeof(*r));
	r->server = side_stack(threads);
	r->listener = side_listen(r->server, &r->port);
}

/* Two stacks and a connection; both ends of it have moved, if the server's
 * thread echoes. */
static void rig_up(struct rig *r, unsigned threads)
{
	int fd;

	listen_up(r, threads);
	r->client = side_stack(threads);
	fd = side_connect(r->port);
	side_open(&r->s, r->server, accept(r->listener, NULL, NULL), false,
		  NULL, 0);
	side_open(&r->c, r->client, fd, true, NULL, 0);
}

static void rig_down(struct rig *r)
{
	side_free(&r->c);
	side_free(&r->s);
	close(r->listener);
	tux_stack_free(r->client);
	tux_stack_free(r->server);
}

static void end_echo(struct rig *r, pthread_t t)
{
	side_shut(&r->c);
	assert_int_equal(finish(t), 0);
	side_close(&r->c, false);
	side_close(&r->s, false);
}

/* ---- nobody does anything ---- */

static tux_time cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return TUX_SEC(ts.tv_sec) + (tux_time)ts.tv_nsec;
}

static void idle(unsigned threads)
{
	struct rig r;
	tux_time before;
	pthread_t t;

	rig_up(&r, threads);
	t = start(echo, &r.s);
	converse(&r.c, 100);
	sleep_ms(100);
	before = cpu_time();
	sleep_ms(1000);
	assert_true(cpu_time() - before < TUX_MSEC(10));
	exchange(&r.c);
	end_echo(&r, t);
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
		sleep_ms(1);
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
		st[i] = start(echo, &s[i]);
		ct[i] = start(talk, &c[i]);
	}
	for (i = 0; i < CROWD; i++) {
		assert_int_equal(finish(ct[i]), 0);
		assert_int_equal(finish(st[i]), 0);
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
		do {		/* an acknowledgment may be news */
			side_hear(p->x);
			got = side_wait(p->x, POLLIN, until);
		} while (got == 1);
		if (got != -EINTR)
			return p;
		atomic_store(&p->state, 2);
		while (atomic_load(&p->state) == 2 && !atomic_load(&p->stop))
			sleep_ms(1);
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
	t = start(echo, &r.s);
	converse(&r.c, 200);
	p.x = &r.c;
	st = start(sleeper, &p);
	for (i = 0; i < SIGNALS; i++) {
		while (atomic_load(&p.state) != 1)
			sleep_ms(1);
		/* One that comes just before the wait does not end it. */
		while (atomic_load(&p.state) == 1) {
			assert_int_equal(pthread_kill(st, SIGUSR1), 0);
			sleep_ms(2);
		}
		if (i == SIGNALS - 1)
			atomic_store(&p.stop, true);
		atomic_store(&p.state, 0);
	}
	assert_int_equal(finish(st), 0);
	end_echo(&r, t);
	rig_down(&r);
}

/* ---- processes ---- */

static int sockets(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	char link[64];
	ssize_t k;
	int n = 0;

	while ((e = readdir(d))) {
		k = readlinkat(dirfd(d), e->d_name, link, sizeof(link));
		n += k > 7 && !memcmp(link, "socket:", 7);
	}
	closedir(d);
	return n;
}

static void fork__leaves_a_child_without_stack(void **state)
{
	struct rig r;
	int before = sockets(), status;
	pthread_t t;
	pid_t pid;

	(void)state;
	rig_up(&r, 0);
	t = start(echo, &r.s);
	converse(&r.c, 10);
	pid = fork();
	if (!pid) {
		tux_stack_forked(r.client);
		tux_stack_forked(r.server);
		/* The listener and the application's two are left. */
		_exit(sockets() - before == 3 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	converse(&r.c, 10);
	end_echo(&r, t);
	rig_down(&r);
}

/* A child process with a client: it reads the port from @fd, connects, and
 * does @what when the connection has moved. */
static pid_t child(int fd[2], void (*what)(struct side *))
{
	static struct side x;
	struct tux_stack *s;
	uint16_t port;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	if (pid)
		return pid;
	if (read(fd[0], &port, sizeof(port)) != sizeof(port))
		_exit(1);
	s = side_stack(0);
	side_open(&x, s, side_connect(port), true, NULL, 0);
	converse(&x, 1);
	what(&x);
	_exit(0);
}

static void leave_the_rest_to_drain(struct side *x)
{
	static char rest[LEFT];

	side_write(x, rest, sizeof(rest));
	tux_stack_drain(x->stack, TUX_SEC(2));
}

static void talk_for_ever(struct side *x)
{
	for (;;)
		exchange(x);
}

static void serve(struct rig *r, int fd[2])
{
	listen_up(r, 0);
	assert_int_equal(write(fd[1], &r->port, sizeof(r->port)),
			 sizeof(r->port));
	side_open(&r->s, r->server, accept(r->listener, NULL, NULL), false,
		  NULL, 0);
}

static void serve_no_more(struct rig *r, pid_t pid, int fd[2])
{
	side_close(&r->s, false);
	side_free(&r->s);
	close(r->listener);
	tux_stack_free(r->server);
	waitpid(pid, NULL, 0);
	close(fd[0]);
	close(fd[1]);
}

static void exit__drains(void **state)
{
	static char buf[65536];
	size_t n = 0;
	struct rig r;
	int fd[2];
	pid_t pid = child(fd, leave_the_rest_to_drain);
	ssize_t k;

	(void)state;
	serve(&r, fd);
	while ((k = side_read(&r.s, buf, sizeof(buf))) > 0) {
		n += (size_t)k;
		if (n < LEFT && k == 1)
			side_write(&r.s, buf, 1);
	}
	assert_int_equal(k, 0);
	assert_true(n > LEFT);
	serve_no_more(&r, pid, fd);
}

static void kill__is_a_reset_within_a_second(void **state)
{
	tux_time killed;
	struct rig r;
	int fd[2];
	pid_t pid = child(fd, talk_for_ever);
	pthread_t t;

	(void)state;
	serve(&r, fd);
	t = start(echo, &r.s);
	while (!side_on_rings(&r.s))
		sleep_ms(1);
	sleep_ms(50);
	killed = tux_clock_read();
	kill(pid, SIGKILL);
	assert_int_equal(finish(t), -ECONNRESET);
	assert_true(tux_clock_read() - killed < TUX_SEC(1));
	serve_no_more(&r, pid, fd);
}

static void raw__is_plain_tcp_again(void **state)
{
	struct rig r;
	pthread_t t;
	char b = 0;

	(void)state;
	rig_up(&r, 0);
	t = start(echo, &r.s);
	converse(&r.c, 10);
	assert_int_equal(tux_end_raw(r.c.end, TUX_SEC(2)), 0);
	assert_int_equal(write(r.c.fd, "#", 1), 1);
	assert_int_equal(read(r.c.fd, &b, 1), 1);
	assert_int_equal(b, '#');
	exchange(&r.c);
	shutdown(r.c.fd, SHUT_WR);
	assert_int_equal(finish(t), 0);
	assert_int_equal(read(r.c.fd, &b, 1), 0);
	side_close(&r.c, false);
	side_close(&r.s, false);
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
		cmocka_unit_test(fork__leaves_a_child_without_stack),
		cmocka_unit_test(exit__drains),
		cmocka_unit_test(kill__is_a_reset_within_a_second),
		cmocka_unit_test(raw__is_plain_tcp_again),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
