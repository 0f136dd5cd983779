/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "sys/clock.h"

enum { UPGRADE_S = 30 };

void rig_sleep(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&t, &t) < 0)
		;
}

void *rig_echo(void *arg)
{
	struct side *x = arg;
	char buf[65536];
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

void rig_exchange(struct side *x)
{
	char b = 0;

	assert_int_equal(side_write(x, "!", 1), 1);
	assert_int_equal(side_read(x, &b, 1), 1);
	assert_int_equal(b, '!');
}

void rig_converse(struct side *x, unsigned rounds)
{
	tux_time limit = tux_clock_read() + TUX_SEC(UPGRADE_S);
	unsigned i;

	for (i = 0; i < rounds || !side_on_rings(x); i++) {
		rig_exchange(x);
		assert_true(side_on_rings(x) || tux_clock_read() < limit);
	}
}

pthread_t rig_start(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, fn, arg), 0);
	return t;
}

intptr_t rig_finish(pthread_t t)
{
	void *result;

	assert_int_equal(pthread_join(t, &result), 0);
	return (intptr_t)result;
}

void rig_listen(struct rig *r, unsigned threads)
{
	memset(r, 0, sizeof(*r));
	r->server = side_stack(threads);
	r->listener = side_listen(r->server, &r->port);
}

/* Two stacks and a connection; both ends of it have moved, if the server's
 * thread echoes. */
void rig_up(struct rig *r, unsigned threads)
{
	int fd;

	rig_listen(r, threads);
	r->client = side_stack(threads);
	fd = side_connect(r->port);
	side_open(&r->s, r->server, accept(r->listener, NULL, NULL), false,
		  NULL, 0);
	side_open(&r->c, r->client, fd, true, NULL, 0);
}

void rig_down(struct rig *r)
{
	side_free(&r->c);
	side_free(&r->s);
	close(r->listener);
	tux_stack_free(r->client);
	tux_stack_free(r->server);
}

void rig_end(struct rig *r, pthread_t t)
{
	side_shut(&r->c);
	assert_int_equal(rig_finish(t), 0);
	side_close(&r->c, false);
	side_close(&r->s, false);
}
