/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who drives a stack of tux.h, and what runs there: tux_run(), an epoll of the
 * application's own, routines, serial services, signals, fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "sys/clock.h"

enum { ROUNDS = 2000, LIMIT_S = 30, QUIET_WAKES = 20, LOOKS = 10,
       QUIET_TURNS = 2000 };

static _Atomic unsigned opened, gone, got, wrong;

static void on_open(struct tux_connection *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&opened, 1);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	(void)err;
	(void)arg;
	atomic_fetch_add(&gone, 1);
}

static void up(struct duet *d)
{
	opened = gone = got = wrong = 0;
	duet_open(d, TUX_BACKEND_UDP);
	tux_on_open(d->server.s, on_open, NULL);
	tux_on_open(d->client.s, on_open, NULL);
	tux_on_gone(d->server.s, on_gone, NULL);
	tux_on_gone(d->client.s, on_gone, NULL);
}

/* ---- within an epoll of one's own ---- */

static void on_echo(struct tux_connection *c, struct tux_message *m, unsigned n,
		    void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		if (tux_send(c, m[i].p, m[i].len, 0))
			atomic_fetch_add(&wrong, 1);
}

static void on_first(struct tux_connection *c, void *arg)
{
	(void)arg;
	if (tux_send(c, "round", 5, 0))
		atomic_fetch_add(&wrong, 1);
}

static void on_round(struct tux_connection *c, struct tux_message *m,
		     unsigned n, void *arg)
{
	(void)arg;
	if (atomic_fetch_add(&got, n) < ROUNDS && tux_send(c, m->p, m->len, 0))
		atomic_fetch_add(&wrong, 1);
}

static void add(int epfd, struct tux *t)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = t };

	assert_int_equal(epoll_ctl(epfd, EPOLL_CTL_ADD, tux_fd(t), &e), 0);
}

/* Turns what is readable until *@n is @want, or @for_ns have passed; how often
 * it was woken. */
static unsigned turn_until(int epfd, _Atomic unsigned *n, unsigned want,
			   tux_time for_ns)
{
	tux_time until = tux_clock_read() + for_ns;
	unsigned wakes = 0;

	while (atomic_load(n) < want && tux_clock_read() < until) {
		struct epoll_event e[2];
		int i, k = epoll_wait(epfd, e, 2, 100);

		wakes += k > 0;
		for (i = 0; i < k; i++)
			assert_true(tux_turn(e[i].data.ptr) >= 0);
	}
	return wakes;
}

static void turn__in_an_epoll(void **state)
{
	int epfd = epoll_create1(EPOLL_CLOEXEC);
	_Atomic unsigned never = 0;
	unsigned i, wakes = QUIET_WAKES + 1;
	struct duet d;

	(void)state;
	up(&d);
	tux_on_message(d.server.s, on_echo, NULL);
	tux_on_open(d.client.s, on_first, NULL);
	tux_on_message(d.client.s, on_round, NULL);
	duet_meet(&d);
	tux_turn(d.server.t);
	tux_turn(d.client.t);
	add(epfd, d.server.t);
	add(epfd, d.client.t);
	turn_until(epfd, &got, ROUNDS, TUX_SEC(LIMIT_S));
	assert_true(got >= ROUNDS);
	assert_int_equal(wrong, 0);
	/* What follows the last one, and then nothing. */
	turn_until(epfd, &never, 1, TUX_MSEC(500));
	for (i = 0; i < LOOKS && wakes > QUIET_WAKES; i++)
		wakes = turn_until(epfd, &never, 1, TUX_SEC(1));
	assert_in_range(wakes, 0, QUIET_WAKES);
	duet_close(&d);
	close(epfd);
}

/* ---- a service that is given up ---- */

static void meet(struct duet *d, int epfd, unsigned want)
{
	duet_meet(d);
	tux_turn(d->client.t);
	turn_until(epfd, &opened, want, TUX_SEC(LIMIT_S));
	assert_int_equal(opened, want);
}

/* Its connections end, and are told so; the next one has none of it. */
static void service_free__with_connections(void **state)
{
	int epfd = epoll_create1(EPOLL_CLOEXEC);
	struct tux_stats st;
	struct duet d;
	unsigned i;

	(void)state;
	up(&d);
	add(epfd, d.server.t);
	add(epfd, d.client.t);
	tux_turn(d.server.t);
	for (i = 1; i <= 3; i++) {
		meet(&d, epfd, 2 * i);
		tux_service_free(d.server.s);
		turn_until(epfd, &gone, 2 * i, TUX_SEC(LIMIT_S));
		assert_int_equal(gone, 2 * i);
		assert_int_equal(tux_service_new(d.server.t, &d.server.s), 0);
		tux_on_open(d.server.s, on_open, NULL);
		tux_on_gone(d.server.s, on_gone, NULL);
	}
	assert_int_equal(tux_stats(d.server.t, &st, sizeof(st)), 0);
	assert_int_equal(st.connections_now, 0);
	assert_int_equal(st.listeners, 0);
	assert_int_equal(st.services, 1);
	duet_close(&d);
	close(epfd);
}

/* ---- the network thread ---- */

static void ask_sleeps(void *arg)
{
	struct tux_loop_stats st;
	struct part *p = *(struct part **)arg;

	if (tux_loop_stats(p->t, 0, &st, sizeof(st)))
		atomic_fetch_add(&wrong, 1);
	*(uint64_t *)((void **)arg + 1) = st.turns;
}

static uint64_t turns(struct part *p)
{
	struct { struct part *p; uint64_t n; } q = { p, 0 };

	part_do(p, ask_sleeps, &q);
	return q.n;
}

/* The question itself, and a spin behind it, are in the turns.  What comes
 * before may be late, so that not each look is quiet. */
static void assert_quiet(struct part *p)
{
	uint64_t before, n = QUIET_TURNS + 1;
	unsigned i;

	for (i = 0; i < LOOKS && n > QUIET_TURNS; i++) {
		before = turns(p);
		usleep(1000000);
		n = turns(p) - before;
	}
	assert_in_range(n, 0, QUIET_TURNS);
}

static void run__idle(void **state)
{
	struct duet d;

	(void)state;
	up(&d);
	tux_on_message(d.server.s, on_echo, NULL);
	tux_on_open(d.client.s, on_first, NULL);
	tux_on_message(d.client.s, on_round, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&got, ROUNDS);
	usleep(300000);
	assert_quiet(&d.server);
	duet_close(&d);
}

static struct tux *signalled;

static void on_signal(int sig)
{
	(void)sig;
	tux_stop(signalled);
}

static void stop__in_a_signal_handler(void **state)
{
	struct sigaction a = { .sa_handler = on_signal };
	struct itimerval in = { .it_value = { .tv_usec = 100000 } };
	struct duet d;

	(void)state;
	up(&d);
	signalled = d.server.t;
	assert_int_equal(sigaction(SIGALRM, &a, NULL), 0);
	/* Before anybody runs it, and while it sleeps. */
	raise(SIGALRM);
	assert_int_equal(tux_run(d.server.t), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &in, NULL), 0);
	assert_int_equal(tux_run(d.server.t), 0);
	duet_close(&d);
}

static struct tux *idle_one;

static void run_again(void *arg)
{
	struct duet *d = arg;

	if (tux_run(d->server.t) != -EBUSY || tux_turn(d->server.t) != -EBUSY)
		atomic_fetch_add(&wrong, 1);
	/* Nor another's: it would be preempted amidst its turn. */
	if (tux_run(idle_one) != -EBUSY || tux_turn(idle_one) != -EBUSY)
		atomic_fetch_add(&wrong, 1);
}

static void run__twice(void **state)
{
	struct duet d;

	(void)state;
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);

	up(&d);
	assert_int_equal(tux_open(&idle_one, &o), 0);
	duet_start(&d);
	part_do(&d.server, run_again, &d);
	tux_close(idle_one);
	while (tux_turn(d.server.t) != -EBUSY)
		usleep(1000);
	assert_int_equal(wrong, 0);
	duet_close(&d);
}

/* ---- routines ---- */

static _Atomic unsigned done;

static void nap(void *arg)
{
	tux_time before = tux_clock_read();

	tux_sleep(1000000);
	if (tux_clock_read() - before < 1000000)
		atomic_fetch_add(&wrong, 1);
	tux_yield();
	(void)arg;
	atomic_fetch_add(&done, 1);
}

static void *send_out(void *arg)
{
	struct duet *d = arg;
	unsigned i;

	for (i = 0; i < ROUNDS / 4; i++)
		if (tux_go(d->server.t, nap, NULL))
			atomic_fetch_add(&wrong, 1);
	return NULL;
}

static void go__from_two_threads(void **state)
{
	struct duet d;
	pthread_t t;

	(void)state;
	up(&d);
	done = 0;
	duet_start(&d);
	assert_int_equal(pthread_create(&t, NULL, send_out, &d), 0);
	send_out(&d);
	pthread_join(t, NULL);
	await(&done, 2 * (ROUNDS / 4));
	assert_int_equal(wrong, 0);
	duet_close(&d);
}

/* ---- one callback at a time ---- */

static _Atomic unsigned inside, most, awaited;

/* For twenty slices: preempted, where callbacks are. */
static void spin_for(tux_time ns)
{
	tux_time until = tux_clock_read() + ns;

	while (tux_clock_read() < until)
		;
}

static void on_slow(struct tux_connection *c, struct tux_message *m, unsigned n,
		    void *arg)
{
	unsigned k = atomic_fetch_add(&inside, 1) + 1;

	(void)c;
	(void)m;
	if (k > atomic_load(&most))
		atomic_store(&most, k);
	do {
		if (arg)
			tux_sleep(TUX_MSEC(2));
		else
			spin_for(TUX_MSEC(2));
	} while (atomic_load(&most) < atomic_load(&awaited));
	atomic_fetch_sub(&inside, 1);
	atomic_fetch_add(&got, n);
}

static void on_open_four(struct tux_connection *c, void *arg)
{
	unsigned i;

	on_open(c, arg);
	for (i = 0; i < 4; i++)
		if (tux_send(c, "slow", 4, 0))
			atomic_fetch_add(&wrong, 1);
}

/* The first callback waits until @n are inside. */
static unsigned most_inside(bool serial, bool sleeps, unsigned n)
{
	struct duet d;
	unsigned i;

	up(&d);
	inside = most = 0;
	awaited = n;
	tux_set_serial(d.server.s, serial);
	tux_set_group(d.server.s, 1);
	tux_on_message(d.server.s, on_slow, sleeps ? &d : NULL);
	tux_on_settled(d.client.s, NULL, NULL);
	tux_on_open(d.client.s, on_open_four, NULL);
	tux_on_message(d.client.s, on_round, NULL);
	duet_start(&d);
	for (i = 0; i < 8; i++)
		duet_connect(&d, NULL);
	await(&got, 32);
	assert_int_equal(wrong, 0);
	duet_close(&d);
	return most;
}

static void serial__one_at_a_time(void **state)
{
	(void)state;
	assert_int_equal(most_inside(true, true, 1), 1);
	assert_int_equal(most_inside(true, false, 1), 1);
}

static void serial__not(void **state)
{
	(void)state;
	assert_in_range(most_inside(false, true, 2), 2, 8);
}

/* ---- a long callback ---- */

static _Atomic unsigned release_it;

static void on_endless(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	(void)n;
	if (m->len == 5) {
		on_echo(c, m, 1, arg);
		return;
	}
	while (!atomic_load(&release_it))
		;
}

static void on_open_either(struct tux_connection *c, void *arg)
{
	const char *what = tux_user(c);

	(void)arg;
	if (tux_send(c, what, strlen(what), 0))
		atomic_fetch_add(&wrong, 1);
}

/* Another connection goes on while it spins, where callbacks are preempted. */
static void slice__ends(void **state)
{
	static char endless[] = "endless", round[] = "round";
	struct tux_loop_stats st;
	struct duet d;

	(void)state;
	up(&d);
	assert_int_equal(tux_loop_stats(d.server.t, 0, &st, sizeof(st)), 0);
	if (!st.slice_ns) {
		duet_close(&d);
		skip();
	}
	release_it = 0;
	tux_on_message(d.server.s, on_endless, NULL);
	tux_on_open(d.client.s, on_open_either, NULL);
	tux_on_message(d.client.s, on_round, NULL);
	duet_start(&d);
	duet_connect(&d, endless);
	usleep(50000);		/* it spins, unless the machine is late */
	duet_connect(&d, round);
	await(&got, ROUNDS / 10);
	atomic_store(&release_it, 1);
	assert_int_equal(wrong, 0);
	duet_close(&d);
}

static void spin(void *arg)
{
	(void)arg;
	for (;;)
		atomic_fetch_add(&got, 1);
}

/* Connections are told gone all the same. */
static void close__with_one_that_does_not_return(void **state)
{
	struct tux_loop_stats st;
	struct duet d;

	(void)state;
	up(&d);
	assert_int_equal(tux_loop_stats(d.server.t, 0, &st, sizeof(st)), 0);
	if (!st.slice_ns) {
		duet_close(&d);
		skip();
	}
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&opened, 2);
	assert_int_equal(tux_go(d.server.t, spin, NULL), 0);
	await(&got, 1);
	duet_close(&d);
	assert_int_equal(gone, 2);
}

/* ---- options, addresses ---- */

static void open__options(void **state)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	struct tux *t;

	(void)state;
	o.slice_ns = 4999;
	assert_int_equal(tux_open(&t, &o), -EINVAL);
	o.slice_ns = 1000001;
	assert_int_equal(tux_open(&t, &o), -EINVAL);
	o.slice_ns = TUX_NO_SLICE;
	o.message_max = (8 << 20) + 1;
	assert_int_equal(tux_open(&t, &o), -EINVAL);
	o.message_max = 0;
	o.backend = (enum tux_backend)4;
	assert_int_equal(tux_open(&t, &o), -EINVAL);
	o.backend = TUX_BACKEND_UDP;
	o.size = 0;
	assert_int_equal(tux_open(&t, &o), -EINVAL);
	o.size = offsetof(struct tux_opts, slice_ns);
	assert_int_equal(tux_open(&t, &o), 0);
	tux_close(t);
	tux_close(NULL);
}

static int connect6(uint16_t port)
{
	struct sockaddr_in6 a = {
		.sin6_family = AF_INET6, .sin6_port = htons(port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void listen__any(void **state)
{
	struct duet d;
	int v4, v6;

	(void)state;
	up(&d);
	duet_start(&d);
	/* Not the same port: that has a listener on 127.0.0.1. */
	assert_int_equal(tux_listen(d.server.s, "*", d.port), -EADDRINUSE);
	duet_close(&d);
	up(&d);
	assert_int_equal(tux_listen(d.client.s, NULL, 0), 0);
	duet_start(&d);
	v4 = plain_connect((uint16_t)tux_port(d.client.s));
	await(&opened, 1);
	v6 = connect6((uint16_t)tux_port(d.client.s));
	if (v6 >= 0)
		await(&opened, 2);
	close(v4);
	close(v6);
	duet_close(&d);
}

static void listen__socket_of_ours(void **state)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), pipes[2], c;
	struct duet d;

	(void)state;
	up(&d);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(tux_listen_fd(d.server.s, pipes[0]), -ENOTSOCK);
	assert_int_equal(tux_listen_fd(d.server.s, -1), -EBADF);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(tux_listen_fd(d.server.s, fd), 0);
	c = plain_connect((uint16_t)tux_port(d.server.s));
	duet_start(&d);
	await(&opened, 1);
	close(c);
	close(pipes[0]);
	close(pipes[1]);
	duet_close(&d);
}

/* ---- no descriptor is left ---- */

static uint64_t refused;

static void ask_refused(void *arg)
{
	struct tux_stats st;

	if (!tux_stats(arg, &st, sizeof(st)))
		refused = st.refused;
}

static void await_refused(struct duet *d)
{
	tux_time until = tux_clock_read() + TUX_SEC(LIMIT_S);

	do {
		usleep(1000);
		part_do(&d->server, ask_refused, d->server.t);
	} while (!refused && tux_clock_read() < until);
	assert_true(refused > 0);
}

static void accept__without_descriptors(void **state)
{
	struct rlimit was, few;
	struct duet d;
	int fd;

	(void)state;
	up(&d);
	duet_start(&d);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = was;
	fd = plain_connect(d.port);
	await(&opened, 1);
	close(fd);
	await(&gone, 1);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	few.rlim_cur = (rlim_t)fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	close(fd);
	fd = plain_connect(d.port);
	await_refused(&d);
	assert_quiet(&d.server);
	assert_int_equal(opened, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	await(&opened, 2);
	close(fd);
	duet_close(&d);
}

/* ---- fork ---- */

/* What the child opens is not taken for what it was rid of; and nobody listens
 * in its place. */
static int grandchild(void)
{
	int fd[16], status, i, on;
	socklen_t len;
	pid_t pid;

	for (i = 0; i < 16; i++)
		fd[i] = dup(0);
	pid = fork();
	if (!pid) {
		for (i = 0; i < 16; i++)
			if (fcntl(fd[i], F_GETFD) < 0)
				_exit(4);
		for (i = 0; i < 1024; i++) {
			on = 0;
			len = sizeof(on);
			if (!getsockopt(i, SOL_SOCKET, SO_ACCEPTCONN, &on,
					&len) && on)
				_exit(5);
		}
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ?
	       WEXITSTATUS(status) : 6;
}

static int child(struct duet *d, struct tux_connection *c)
{
	struct tux_connection_stats st;
	struct tux_loop_stats loop;
	struct tux_service *s;
	struct tux_stats all;

	if (tux_turn(d->client.t) != -EOWNERDEAD ||
	    tux_run(d->client.t) != -EOWNERDEAD ||
	    tux_service_new(d->client.t, &s) != -EOWNERDEAD ||
	    tux_go(d->client.t, nap, NULL) != -EOWNERDEAD)
		return 1;
	if (tux_send(c, "x", 1, 0) != -ENOTCONN ||
	    tux_write(c, "x", 1) != -ENOTCONN)
		return 2;
	if (tux_connection_stats(c, &st, sizeof(st)) != -EOWNERDEAD ||
	    tux_loop_stats(d->client.t, 0, &loop, sizeof(loop)) !=
	    -EOWNERDEAD ||
	    tux_stats(d->client.t, &all, sizeof(all)) != -EOWNERDEAD)
		return 3;
	tux_disconnect(c);
	tux_stop(d->client.t);
	tux_close(d->client.t);
	tux_close(d->server.t);
	return grandchild();
}

static void fork__leaves_the_child_nothing(void **state)
{
	struct tux_connection *c;
	struct duet d;
	int status;
	pid_t pid;

	(void)state;
	up(&d);
	tux_on_message(d.server.s, on_echo, NULL);
	tux_on_open(d.client.s, on_first, NULL);
	tux_on_message(d.client.s, on_round, NULL);
	duet_start(&d);
	c = duet_connect(&d, NULL);
	await(&got, 10);
	pid = fork();
	if (!pid)
		_exit(child(&d, c));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	await(&got, ROUNDS);
	assert_int_equal(wrong, 0);
	duet_close(&d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turn__in_an_epoll),
		cmocka_unit_test(service_free__with_connections),
		cmocka_unit_test(run__idle),
		cmocka_unit_test(run__twice),
		cmocka_unit_test(go__from_two_threads),
		cmocka_unit_test(serial__one_at_a_time),
		cmocka_unit_test(serial__not),
		cmocka_unit_test(slice__ends),
		cmocka_unit_test(close__with_one_that_does_not_return),
		cmocka_unit_test(open__options),
		cmocka_unit_test(listen__any),
		cmocka_unit_test(listen__socket_of_ours),
		cmocka_unit_test(accept__without_descriptors),
		cmocka_unit_test(fork__leaves_the_child_nothing),
		cmocka_unit_test(stop__in_a_signal_handler),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
