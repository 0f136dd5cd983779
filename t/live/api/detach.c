/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server takes a socket back from the stack, and goes on with it itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"

#define ENOUGH_NS UINT64_C(20000000000)

enum { ROUNDS = 200, AFTER = 50, PATIENCE_MS = 20000 };

static struct {
	_Atomic unsigned rounds, gone, wrong, detached, client_detached;
	_Atomic int result, client_result;
	_Atomic bool leaves_unread, client_too;
	enum tux_use path;
	unsigned at;		/* rounds before the server asks for its socket, */
	bool asked;		/* ... which it does again after -EBUSY */
	unsigned after;		/* bytes that the client has had since */
} seen;

static bool on_tux(struct tux_connection *c)
{
	struct tux_connection_stats st;

	return !tux_connection_stats(c, &st, sizeof(st)) && st.tx_on_tux &&
	       st.rx_on_tux;
}

/* While a direction returns, there is no room for some moments. */
static void say(struct tux_connection *c, char p)
{
	if (tux_write_wait(c, &p, 1, ENOUGH_NS) != 1)
		atomic_fetch_add(&seen.wrong, 1);
}

/* ---- the client: one byte, and the next when it comes back ---- */

static void on_client_open(struct tux_connection *c, void *arg)
{
	(void)arg;
	say(c, 'a');
}

static void on_client(struct tux_connection *c, void *arg)
{
	char p;

	(void)arg;
	while (tux_read(c, &p, 1) == 1) {
		if (p != (char)('a' + seen.rounds % 26))
			atomic_fetch_add(&seen.wrong, 1);
		p = (char)('a' + (atomic_fetch_add(&seen.rounds, 1) + 1) % 26);
		/* The first one may be the server's last. */
		if (atomic_load(&seen.client_too) && seen.detached &&
		    seen.after++) {
			atomic_store(&seen.client_result,
				     tux_detach(c, ENOUGH_NS));
			atomic_fetch_add(&seen.client_detached, 1);
			return;
		}
		say(c, p);
	}
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	(void)err;
	(void)arg;
	atomic_fetch_add(&seen.gone, 1);
}

/* ---- the server ---- */

static bool is_due(struct tux_connection *c)
{
	return seen.asked || (seen.rounds >= seen.at &&
			      (seen.path != TUX_USE_TUX || on_tux(c)));
}

static bool detach(struct tux_connection *c)
{
	int r;

	seen.asked = true;
	r = tux_detach(c, ENOUGH_NS);
	atomic_store(&seen.result, r);
	atomic_fetch_add(&seen.detached, 1);
	return r >= 0;
}

/* It echoes, and takes the socket in the middle. */
static void on_server(struct tux_connection *c, void *arg)
{
	char p;

	(void)arg;
	if (atomic_load(&seen.leaves_unread) && is_due(c) && tux_readable(c) &&
	    detach(c))
		return;
	while (tux_read(c, &p, 1) == 1) {
		say(c, p);
		if (!atomic_load(&seen.leaves_unread) && is_due(c) && detach(c))
			return;
	}
}

/* ---- the program, with the socket ---- */

static int echo(int fd, unsigned rounds)
{
	struct pollfd f = { fd, POLLIN, 0 };
	char p;

	while (rounds--)
		if (poll(&f, 1, PATIENCE_MS) != 1 || read(fd, &p, 1) != 1 ||
		    write(fd, &p, 1) != 1)
			return -1;
	return 0;
}

static void up_as(struct duet *d, struct tux_opts *server, enum tux_use path)
{
	struct tux_opts o = duet_opts(server->backend);

	memset(&seen, 0, sizeof(seen));
	seen.path = o.path = server->path = path;
	seen.at = ROUNDS;
	duet_open_as(d, server, &o);
	tux_on_open(d->client.s, on_client_open, NULL);
	tux_on_stream(d->client.s, on_client, NULL);
	tux_on_stream(d->server.s, on_server, NULL);
	tux_on_gone(d->server.s, on_gone, NULL);
}

static void up(struct duet *d, enum tux_backend backend, enum tux_use path)
{
	struct tux_opts o = duet_opts(backend);

	up_as(d, &o, path);
}

/* The socket that the server has taken back, which blocks from now on. */
static int taken(void)
{
	int fd;

	await(&seen.detached, 1);
	fd = seen.result;
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	return fd;
}

static void part_end(struct part *p)
{
	tux_stop(p->t);
	pthread_join(p->thread, NULL);
	p->runs = false;
	tux_close(p->t);
}

/* All bytes come, also when the server's stack has gone. */
static void goes_on(struct duet *d)
{
	int fd;

	duet_start(d);
	duet_connect(d, NULL);
	fd = taken();
	assert_int_equal(echo(fd, AFTER), 0);
	part_end(&d->server);
	assert_int_equal(echo(fd, AFTER), 0);
	assert_int_equal(seen.gone, 0);
	assert_int_equal(seen.wrong, 0);
	close(fd);
	part_end(&d->client);
}

static void detach__from_tux(void **state)
{
	unsigned files = test_files();
	struct duet d;

	(void)state;
	up(&d, TUX_BACKEND_UDP, TUX_USE_TUX);
	goes_on(&d);
	assert_int_equal(test_files(), files);
}

static void detach__from_tux_without_preemption(void **state)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	struct duet d;

	(void)state;
	o.slice_ns = TUX_NO_SLICE;
	up_as(&d, &o, TUX_USE_TUX);
	goes_on(&d);
}

static void detach__from_tcp(void **state)
{
	struct duet d;

	(void)state;
	up(&d, TUX_BACKEND_TCP, TUX_USE_AUTO);
	goes_on(&d);
}

static void detach__while_it_moves(void **state)
{
	struct duet d;
	unsigned i;

	(void)state;
	for (i = 0; i < 20; i++) {
		up(&d, TUX_BACKEND_UDP, TUX_USE_TUX);
		seen.path = TUX_USE_AUTO;	/* it does not wait */
		seen.at = i;
		goes_on(&d);
	}
}

static void detach__for_a_child(void **state)
{
	struct duet d;
	int fd, status;
	pid_t pid;

	(void)state;
	up(&d, TUX_BACKEND_UDP, TUX_USE_TUX);
	duet_start(&d);
	duet_connect(&d, NULL);
	fd = taken();
	pid = fork();
	if (!pid)
		_exit(echo(fd, AFTER) ? 1 : 0);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(seen.wrong, 0);
	duet_close(&d);
}

/* Each end asks while the other one has done so. */
static void detach__at_both_ends(void **state)
{
	struct pollfd f = { .events = POLLIN };
	struct duet d;
	unsigned i;
	int fd;
	char p;

	(void)state;
	up(&d, TUX_BACKEND_UDP, TUX_USE_TUX);
	atomic_store(&seen.client_too, true);
	duet_start(&d);
	duet_connect(&d, NULL);
	fd = taken();
	f.fd = fd;
	for (i = 0; i < PATIENCE_MS && !seen.client_detached; i++)
		if (poll(&f, 1, 1) == 1)
			assert_int_equal(echo(fd, 1), 0);
	await(&seen.client_detached, 1);
	assert_true(seen.client_result >= 0);
	assert_int_equal(write(seen.client_result, "x", 1), 1);
	assert_int_equal(read(fd, &p, 1), 1);
	assert_int_equal(p, 'x');
	close(fd);
	close(seen.client_result);
	duet_close(&d);
}

/* They come again, over TCP. */
static void detach__with_bytes_unread(void **state)
{
	struct duet d;
	int fd;

	(void)state;
	up(&d, TUX_BACKEND_UDP, TUX_USE_TUX);
	atomic_store(&seen.leaves_unread, true);
	duet_start(&d);
	duet_connect(&d, NULL);
	fd = taken();
	assert_int_equal(echo(fd, AFTER), 0);
	assert_int_equal(seen.wrong, 0);
	close(fd);
	duet_close(&d);
}

/* ---- what it refuses ---- */

static struct tux_connection *_Atomic outside;

static void on_open_outside(struct tux_connection *c, void *arg)
{
	(void)arg;
	atomic_store(&outside, c);
}

static void detach__only_in_a_callback(void **state)
{
	struct duet d;

	(void)state;
	up(&d, TUX_BACKEND_UDP, TUX_USE_TUX);
	seen.at = UINT32_MAX;
	tux_on_open(d.server.s, on_open_outside, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen.rounds, 1);
	assert_int_equal(tux_detach(outside, ENOUGH_NS), -EINVAL);
	duet_close(&d);
}

static void on_server_shut(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_shut(c);
	detach(c);
}

static void detach__not_after_shut(void **state)
{
	struct duet d;

	(void)state;
	up(&d, TUX_BACKEND_UDP, TUX_USE_TUX);
	tux_on_stream(d.server.s, on_server_shut, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen.detached, 1);
	assert_int_equal(seen.result, -EPIPE);
	duet_close(&d);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(detach__from_tux),
		cmocka_unit_test(detach__from_tux_without_preemption),
		cmocka_unit_test(detach__from_tcp),
		cmocka_unit_test(detach__while_it_moves),
		cmocka_unit_test(detach__for_a_child),
		cmocka_unit_test(detach__at_both_ends),
		cmocka_unit_test(detach__with_bytes_unread),
		cmocka_unit_test(detach__only_in_a_callback),
		cmocka_unit_test(detach__not_after_shut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
