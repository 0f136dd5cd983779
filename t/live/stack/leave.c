/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How processes and connections leave a stack: fork, exit, kill -9, plain TCP
 * again, and descriptors that are closed unseen.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "rig.h"
#include "sys/clock.h"

enum {
	LEFT = 200000,
	LIMIT_S = 30,
	CHURNS = 300,
};

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
	t = rig_start(rig_echo, &r.s);
	rig_converse(&r.c, 10);
	pid = fork();
	if (!pid) {
		tux_stack_forked(r.client);
		tux_stack_forked(r.server);
		/* The listener and the application's two are left. */
		_exit(sockets() - before == 3 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	rig_converse(&r.c, 10);
	rig_end(&r, t);
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
	rig_converse(&x, 1);
	what(&x);
	_exit(0);
}

static void leave_the_rest_to_drain(struct side *x)
{
	static char rest[LEFT];

	side_write(x, rest, sizeof(rest));
	tux_channel_drain(x->stack, TUX_SEC(LIMIT_S));
}

static void talk_for_ever(struct side *x)
{
	for (;;)
		rig_exchange(x);
}

static void serve(struct rig *r, int fd[2])
{
	rig_listen(r, 0);
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

static void kill__is_a_reset(void **state)
{
	tux_time killed, took;
	struct rig r;
	int fd[2];
	pid_t pid = child(fd, talk_for_ever);
	pthread_t t;

	(void)state;
	serve(&r, fd);
	t = rig_start(rig_echo, &r.s);
	while (!side_on_rings(&r.s))
		rig_sleep(1);
	rig_sleep(50);
	killed = tux_clock_read();
	kill(pid, SIGKILL);
	assert_int_equal(rig_finish(t), -ECONNRESET);
	took = tux_clock_read() - killed;
	printf("# a reset after %.1f ms\n", (double)took / 1e6);
	assert_true(took < TUX_SEC(1) || !test_thorough());
	serve_no_more(&r, pid, fd);
}

static void raw__is_plain_tcp_again(void **state)
{
	struct rig r;
	pthread_t t;
	char b = 0;

	(void)state;
	rig_up(&r, 0);
	t = rig_start(rig_echo, &r.s);
	rig_converse(&r.c, 10);
	assert_int_equal(side_raw(&r.c, TUX_SEC(LIMIT_S)), 0);
	assert_int_equal(write(r.c.fd, "#", 1), 1);
	assert_int_equal(read(r.c.fd, &b, 1), 1);
	assert_int_equal(b, '#');
	rig_exchange(&r.c);
	shutdown(r.c.fd, SHUT_WR);
	assert_int_equal(rig_finish(t), 0);
	assert_int_equal(read(r.c.fd, &b, 1), 0);
	side_close(&r.c, false);
	side_close(&r.s, false);
	rig_down(&r);
}

/* Nobody reads: the peer's marker is found all the same. */
static void raw__looks_for_the_marker(void **state)
{
	tux_time end = tux_clock_read() + TUX_SEC(LIMIT_S);
	struct rig r;
	char b = 0;

	(void)state;
	rig_up(&r, 1);
	while ((atomic_load(&r.s.dx->tx.state) != TUX_TX_SWITCHED ||
		atomic_load(&r.c.dx->rx.state) != TUX_RX_ARMED) &&
	       tux_clock_read() < end)
		rig_sleep(1);
	assert_int_equal(atomic_load(&r.c.dx->rx.state), TUX_RX_ARMED);
	assert_int_equal(side_raw(&r.c, TUX_SEC(LIMIT_S)), 0);
	assert_int_equal(side_write(&r.s, "#", 1), 1);
	assert_int_equal(read(r.c.fd, &b, 1), 1);
	assert_int_equal(b, '#');
	side_close(&r.c, false);
	side_close(&r.s, false);
	rig_down(&r);
}

/* The program has closed the descriptor without a word: no lack of others. */
static void closed__behind_our_back(void **state)
{
	tux_time end = tux_clock_read() + TUX_SEC(LIMIT_S);
	static struct tux_waiter w;
	struct rig r;
	int fd;

	(void)state;
	rig_listen(&r, 1);
	r.client = side_stack(1);
	assert_int_equal(tux_waiter_init(&w, 4), 0);
	side_open(&r.c, r.client, side_connect(r.port), true, &w, 0);
	fd = accept(r.listener, NULL, NULL);
	close(r.c.fd);
	r.c.fd = -1;
	/* Opens nothing, so that the number stays free. */
	side_open(&r.s, r.server, fd, false, &w, 1);
	while (!atomic_load(&r.c.decided) && tux_clock_read() < end)
		rig_sleep(1);
	assert_int_equal(atomic_load(&r.c.why), TUX_REASON_CLOSED);
	side_close(&r.c, false);
	side_close(&r.s, false);
	rig_down(&r);
	tux_waiter_fini(&w);
}

/* ---- draining while others come and go ---- */

struct churn {
	struct rig *r;
	_Atomic bool over;
};

static void *come_and_go(void *arg)
{
	struct churn *k = arg;
	struct rig *r = k->r;
	int i, fd;

	for (i = 0; i < CHURNS; i++) {
		fd = side_connect(r->port);
		side_open(&r->s, r->server,
			  accept(r->listener, NULL, NULL), false, NULL, 0);
		side_open(&r->c, r->client, fd, true, NULL, 0);
		side_close(&r->c, false);
		side_close(&r->s, false);
		side_free(&r->c);
		side_free(&r->s);
	}
	atomic_store(&k->over, true);
	return NULL;
}

/* An end that another thread gives back at this moment is not touched. */
static void drain__leaves_the_freed_alone(void **state)
{
	struct rig r;
	struct churn k = { .r = &r };
	pthread_t t;

	(void)state;
	rig_listen(&r, 1);
	r.client = side_stack(1);
	t = rig_start(come_and_go, &k);
	while (!atomic_load(&k.over))
		tux_channel_drain(r.client, 0);
	rig_finish(t);
	close(r.listener);
	tux_stack_free(r.client);
	tux_stack_free(r.server);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fork__leaves_a_child_without_stack),
		cmocka_unit_test(exit__drains),
		cmocka_unit_test(kill__is_a_reset),
		cmocka_unit_test(closed__behind_our_back),
		cmocka_unit_test(raw__is_plain_tcp_again),
		cmocka_unit_test(raw__looks_for_the_marker),
		cmocka_unit_test(drain__leaves_the_freed_alone),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
