/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exit() of a program that has written: the peer gets all of it.  The program is
 * a child, which connects to a server of this process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"

enum { BYTES = 250000 };		/* the send ring has room for them */

static struct {
	_Atomic unsigned bytes, wrong, gone;
} seen;

/* A program that exits in a callback frees nothing.  What only the stacks of its
 * threads refer to is no leak, but LeakSanitizer takes it for one: it looks for
 * its own thread on another stack. */
const char *__lsan_default_options(void);

const char *__lsan_default_options(void)
{
	return "detect_leaks=0";
}

/* ---- the program that exits ---- */

static struct tux *stack;

/* Its first bytes have gone over TCP, these go over Tux. */
static void write_all(struct tux_connection *c)
{
	static uint8_t p[BYTES];
	unsigned i;

	for (i = 0; i < BYTES; i++)
		p[i] = (uint8_t)(i % 251);
	if (tux_write(c, p, BYTES) != BYTES)
		_exit(2);
}

static void on_stream_exit(struct tux_connection *c, void *arg)
{
	char p;

	(void)arg;
	if (tux_read(c, &p, 1) != 1)
		_exit(3);
	write_all(c);
	exit(0);
}

static void on_stream_stop(struct tux_connection *c, void *arg)
{
	char p;

	(void)arg;
	if (tux_read(c, &p, 1) != 1)
		_exit(3);
	write_all(c);
	tux_stop(stack);
}

static void *run_stack(void *arg)
{
	tux_run(arg);
	return NULL;
}

static _Atomic unsigned written;

static void on_stream_tell(struct tux_connection *c, void *arg)
{
	char p;

	(void)arg;
	if (tux_read(c, &p, 1) != 1)
		_exit(3);
	write_all(c);
	atomic_store(&written, 1);
}

/* Calls go to the loops in turn: the second one is not the loop of the
 * connection. */
static void exit_if_told(void *told)
{
	if (told)
		exit(0);
}

static void *exit_elsewhere(void *arg)
{
	pthread_detach(pthread_self());
	await(&written, 1);
	if (tux_go(arg, exit_if_told, NULL) || tux_go(arg, exit_if_told, arg))
		_exit(7);
	return NULL;
}

enum way {
	IN_CALLBACK, WITHOUT_SLICES, BEHIND_RUN, BESIDE_RUN, ANOTHER_LOOP, WAYS
};

/* The child: connects to @port, is asked to write, and exits. */
static void program(enum way way, uint16_t port)
{
	static tux_stream_fn *const fn[] = {
		on_stream_exit, on_stream_exit, on_stream_stop, on_stream_tell,
		on_stream_tell,
	};
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	struct tux_connection *c;
	struct tux_service *s;
	pthread_t thread;

	if (way == WITHOUT_SLICES)
		o.slice_ns = TUX_NO_SLICE;
	if (way == ANOTHER_LOOP) {
		o.threads = 2;
		o.threads_min = 1;
	}
	if (tux_open(&stack, &o) || tux_service_new(stack, &s))
		_exit(4);
	tux_on_stream(s, fn[way], NULL);
	if (tux_connect(s, "127.0.0.1", port, NULL, &c))
		_exit(5);
	if (way == ANOTHER_LOOP)
		pthread_create(&thread, NULL, exit_elsewhere, stack);
	if (way == BESIDE_RUN) {
		pthread_create(&thread, NULL, run_stack, stack);
		await(&written, 1);
	} else {
		tux_run(stack);
	}
	exit(0);
}

/* ---- this process ---- */

/* Asks when the connection has moved to Tux in both directions. */
static void ask(void *arg)
{
	struct tux_connection_stats st;
	struct tux_connection *c = arg;

	while (!tux_connection_stats(c, &st, sizeof(st)) &&
	       !(st.tx_on_tux && st.rx_on_tux))
		tux_sleep(1000000);
	tux_write(c, "x", 1);
}

static struct tux *server;

static void on_open(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_go(server, ask, c);
}

static void on_stream(struct tux_connection *c, void *arg)
{
	static uint8_t p[65536];
	ssize_t i, n;

	(void)arg;
	while ((n = tux_read(c, p, sizeof(p))) > 0)
		for (i = 0; i < n; i++)
			if (p[i] != atomic_fetch_add(&seen.bytes, 1) % 251)
				atomic_fetch_add(&seen.wrong, 1);
	if (!n)
		tux_disconnect(c);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	(void)err;
	(void)arg;
	atomic_fetch_add(&seen.gone, 1);
}

/* All programs begin before this process has threads: ThreadSanitizer wants it. */
static struct {
	pid_t pid;
	int port;			/* a pipe: where it is to connect */
} child[WAYS];

static void begin_all(void)
{
	enum way way;
	uint16_t port;
	int p[2];

	for (way = 0; way < WAYS; way++) {
		if (pipe(p))
			abort();
		child[way].port = p[1];
		child[way].pid = fork();
		if (child[way].pid)
			continue;
		/* The test has ended without it. */
		close(p[1]);
		if (read(p[0], &port, sizeof(port)) != sizeof(port))
			_exit(6);
		program(way, port);
	}
}

static void all_arrives(enum way way)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	struct tux_service *s;
	pthread_t thread;
	uint16_t port;
	int status;

	memset(&seen, 0, sizeof(seen));
	assert_int_equal(tux_open(&server, &o), 0);
	assert_int_equal(tux_service_new(server, &s), 0);
	tux_on_open(s, on_open, NULL);
	tux_on_stream(s, on_stream, NULL);
	tux_on_gone(s, on_gone, NULL);
	assert_int_equal(tux_listen(s, "127.0.0.1", 0), 0);
	port = (uint16_t)tux_port(s);
	pthread_create(&thread, NULL, run_stack, server);
	assert_int_equal(write(child[way].port, &port, sizeof(port)),
			 sizeof(port));
	assert_int_equal(waitpid(child[way].pid, &status, 0), child[way].pid);
	assert_int_equal(status, 0);
	await(&seen.bytes, BYTES);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(seen.bytes, BYTES);
	tux_stop(server);
	pthread_join(thread, NULL);
	tux_close(server);
	close(child[way].port);
}

static void exit__in_a_callback(void **state)
{
	(void)state;
	all_arrives(IN_CALLBACK);
}

static void exit__in_a_callback_that_is_not_preempted(void **state)
{
	(void)state;
	all_arrives(WITHOUT_SLICES);
}

static void exit__behind_the_run(void **state)
{
	(void)state;
	all_arrives(BEHIND_RUN);
}

static void exit__beside_the_run(void **state)
{
	(void)state;
	all_arrives(BESIDE_RUN);
}

static void exit__in_a_callback_of_another_loop_of_the_thread(void **state)
{
	(void)state;
	all_arrives(ANOTHER_LOOP);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit__in_a_callback),
		cmocka_unit_test(exit__in_a_callback_that_is_not_preempted),
		cmocka_unit_test(exit__behind_the_run),
		cmocka_unit_test(exit__beside_the_run),
		cmocka_unit_test(
			exit__in_a_callback_of_another_loop_of_the_thread),
	};

	begin_all();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
