/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages through tux.h, between two stacks over 127.0.0.1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"

enum { MANY = 20000, WINDOW = 32, MAX = 1 << 20, GROUP = 100 };

/* ---- both ends ---- */

static struct {
	_Atomic unsigned opened, got, gone, wrong, settled, failed;
	_Atomic int err;
} seen[2];		/* of the server, of the client */

enum { SERVER, CLIENT };

static void forget(void)
{
	memset(seen, 0, sizeof(seen));
}

static void on_open(struct tux_connection *c, void *arg)
{
	(void)c;
	atomic_fetch_add(&seen[(intptr_t)arg].opened, 1);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)c;
	atomic_store(&seen[(intptr_t)arg].err, err);
	atomic_fetch_add(&seen[(intptr_t)arg].gone, 1);
}

static void on_settled(struct tux_connection *c, uint64_t ref, int err,
		       void *arg)
{
	(void)c;
	(void)ref;
	atomic_fetch_add(err ? &seen[(intptr_t)arg].failed :
			 &seen[(intptr_t)arg].settled, 1);
	if (err)
		atomic_store(&seen[(intptr_t)arg].err, err);
}

static void on_echo(struct tux_connection *c, struct tux_message *m, unsigned n,
		    void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		if (tux_send(c, m[i].p, m[i].len, m[i].flags))
			atomic_fetch_add(&seen[SERVER].wrong, 1);
	atomic_fetch_add(&seen[SERVER].got, n);
}

static void up(struct duet *d)
{
	forget();
	duet_open(d, TUX_BACKEND_UDP);
	tux_on_open(d->server.s, on_open, (void *)SERVER);
	tux_on_open(d->client.s, on_open, (void *)CLIENT);
	tux_on_gone(d->server.s, on_gone, (void *)SERVER);
	tux_on_gone(d->client.s, on_gone, (void *)CLIENT);
	tux_on_message(d->server.s, on_echo, NULL);
}

/* ---- an echo ---- */

/* Message i is ordered, and says i; so do the echoes. */
static struct {
	uint64_t sent, come;
} talk;

static void more(struct tux_connection *c)
{
	while (talk.sent < MANY && talk.sent < talk.come + WINDOW) {
		char p[64] = { 0 };

		memcpy(p, &talk.sent, sizeof(talk.sent));
		if (tux_send(c, p, sizeof(p), TUX_ORDERED))
			return;
		talk.sent++;
	}
}

static void on_begin(struct tux_connection *c, void *arg)
{
	on_open(c, arg);
	more(c);
}

static void on_room(struct tux_connection *c, void *arg)
{
	(void)arg;
	more(c);
}

static void on_answer(struct tux_connection *c, struct tux_message *m,
		      unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++) {
		if (m[i].len != 64 || memcmp(m[i].p, &talk.come, 8) ||
		    !(m[i].flags & TUX_ORDERED))
			atomic_fetch_add(&seen[CLIENT].wrong, 1);
		talk.come++;
	}
	more(c);
	if (talk.come == MANY)
		tux_disconnect(c);
	atomic_fetch_add(&seen[CLIENT].got, n);
}

static void echo__of_many(void **state)
{
	struct duet d;

	(void)state;
	up(&d);
	memset(&talk, 0, sizeof(talk));
	tux_on_open(d.client.s, on_begin, (void *)CLIENT);
	tux_on_message(d.client.s, on_answer, NULL);
	tux_on_room(d.client.s, on_room, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen[CLIENT].gone, 1);
	await(&seen[SERVER].gone, 1);
	assert_int_equal(seen[CLIENT].got, MANY);
	assert_int_equal(seen[SERVER].got, MANY);
	assert_int_equal(seen[CLIENT].wrong + seen[SERVER].wrong, 0);
	assert_int_equal(seen[CLIENT].opened, 1);
	assert_int_equal(seen[SERVER].opened, 1);
	assert_int_equal(seen[CLIENT].err, 0);
	assert_int_equal(seen[SERVER].err, 0);
	duet_close(&d);
	assert_int_equal(seen[CLIENT].gone, 1);
	assert_int_equal(seen[SERVER].gone, 1);
}

/* ---- lengths ---- */

static const size_t lengths[] = {
	0, 1, 2, 63, 1000, 1400, 4096, 16384, 16385, 65536, 300000, MAX,
};

static void fill(uint8_t *p, size_t n, unsigned seed)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + seed + (i >> 8));
}

static struct {
	unsigned sent, come;
	uint8_t *p, *q;
} mix;

static void send_mix(struct tux_connection *c)
{
	while (mix.sent < 3 * N_OF(lengths)) {
		size_t n = lengths[mix.sent % N_OF(lengths)];

		fill(mix.p, n, mix.sent);
		if (tux_send(c, mix.p, n, TUX_ORDERED))
			return;
		mix.sent++;
	}
}

static void on_mix_open(struct tux_connection *c, void *arg)
{
	on_open(c, arg);
	send_mix(c);
}

static void on_mix_room(struct tux_connection *c, void *arg)
{
	(void)arg;
	send_mix(c);
}

static void on_mix(struct tux_connection *c, struct tux_message *m, unsigned n,
		   void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++, mix.come++) {
		size_t len = lengths[mix.come % N_OF(lengths)];

		fill(mix.q, len, mix.come);
		if (m[i].len != len || (len && memcmp(m[i].p, mix.q, len)))
			atomic_fetch_add(&seen[CLIENT].wrong, 1);
	}
	send_mix(c);
	atomic_fetch_add(&seen[CLIENT].got, n);
}

/* The server's echo waits for room, too. */
static void on_patient_echo(struct tux_connection *c, struct tux_message *m,
			    unsigned n, void *arg)
{
	unsigned i;

	for (i = 0; i < n; i++)
		while (tux_send(c, m[i].p, m[i].len, m[i].flags) == -EAGAIN)
			tux_yield();
	(void)arg;
}

static void echo__of_all_lengths(void **state)
{
	struct duet d;

	(void)state;
	up(&d);
	memset(&mix, 0, sizeof(mix));
	mix.p = malloc(MAX);
	mix.q = malloc(MAX);
	tux_on_message(d.server.s, on_patient_echo, NULL);
	tux_on_open(d.client.s, on_mix_open, (void *)CLIENT);
	tux_on_room(d.client.s, on_mix_room, NULL);
	tux_on_message(d.client.s, on_mix, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen[CLIENT].got, 3 * N_OF(lengths));
	duet_close(&d);
	assert_int_equal(seen[CLIENT].wrong, 0);
	assert_int_equal(seen[CLIENT].got, 3 * N_OF(lengths));
	free(mix.p);
	free(mix.q);
}

/* ---- what becomes of them ---- */

static void on_take(struct tux_connection *c, struct tux_message *m, unsigned n,
		    void *arg)
{
	(void)c;
	(void)m;
	atomic_fetch_add(&seen[(intptr_t)arg].got, n);
}

/* All that was sent before tux_disconnect() arrives, though the path was not
 * yet proved then. */
static void on_open_last_words(struct tux_connection *c, void *arg)
{
	unsigned i;

	for (i = 0; i < 5; i++)
		if (tux_send(c, "last words", 10, 0))
			atomic_fetch_add(&seen[CLIENT].wrong, 1);
	tux_disconnect(c);
	on_open(c, arg);
	if (tux_send(c, "too late", 8, 0) != -ENOTCONN)
		atomic_fetch_add(&seen[CLIENT].wrong, 1);
}

static void disconnect__brings_all(void **state)
{
	struct duet d;

	(void)state;
	up(&d);
	tux_on_open(d.client.s, on_open_last_words, (void *)CLIENT);
	tux_on_settled(d.client.s, on_settled, (void *)CLIENT);
	tux_on_message(d.server.s, on_take, (void *)SERVER);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen[CLIENT].gone, 1);
	await(&seen[SERVER].gone, 1);
	assert_int_equal(seen[SERVER].got, 5);
	assert_int_equal(seen[CLIENT].settled, 5);
	assert_int_equal(seen[CLIENT].err, 0);
	assert_int_equal(seen[SERVER].err, 0);
	assert_int_equal(seen[CLIENT].wrong, 0);
	duet_close(&d);
}

static void on_open_send(struct tux_connection *c, void *arg)
{
	int err = tux_send(c, "x", 1, 0);

	if (err)
		atomic_store(&seen[CLIENT].err, -err);
	on_open(c, arg);
}

/* The peer is a stack that takes none. */
static void send__peer_takes_none(void **state)
{
	struct duet d;

	(void)state;
	up(&d);
	tux_on_message(d.server.s, NULL, NULL);
	tux_on_open(d.client.s, on_open_send, (void *)CLIENT);
	tux_on_settled(d.client.s, on_settled, (void *)CLIENT);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen[CLIENT].failed, 1);
	assert_int_equal(seen[CLIENT].err, EPROTONOSUPPORT);
	duet_close(&d);
}

/* There is no Tux at all. */
static void send__over_tcp(void **state)
{
	struct duet d;

	(void)state;
	forget();
	duet_open(&d, TUX_BACKEND_TCP);
	tux_on_open(d.client.s, on_open_send, (void *)CLIENT);
	tux_on_message(d.client.s, on_take, (void *)CLIENT);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen[CLIENT].opened, 1);
	assert_int_equal(seen[CLIENT].err, EPROTONOSUPPORT);
	duet_close(&d);
}

static void on_open_odd(struct tux_connection *c, void *arg)
{
	static char p[MAX + 1];
	uint64_t ref, kept;
	void *at = p;

	if (tux_send(c, p, sizeof(p), 0) != -EMSGSIZE ||
	    tux_send(c, p, 1, 0x40) != -EINVAL ||
	    tux_send_max(c) != MAX ||
	    tux_reserve(c, 5, TUX_ORDERED, &at, &kept))
		atomic_fetch_add(&seen[CLIENT].wrong, 1);
	memcpy(at, "built", 5);
	if (tux_reserve(c, 5, TUX_ORDERED, &at, &ref) || tux_cancel(c, ref) ||
	    tux_sendv(c, &(struct iovec){ p, 3 }, 1, TUX_ORDERED, &ref) ||
	    tux_commit(c, kept))
		atomic_fetch_add(&seen[CLIENT].wrong, 1);
	on_open(c, arg);
}

/* No longer than the stack was opened for. */
static void send__no_longer_than_asked_for(void **state)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);
	static const char buf[1001];
	struct iovec many[2] = { { NULL, SIZE_MAX }, { NULL, 2 } };
	struct tux_connection *c;
	struct duet d;
	uint64_t ref;
	void *p;

	(void)state;
	up(&d);
	tux_close(d.client.t);
	o.message_max = 1000;
	assert_int_equal(tux_open(&d.client.t, &o), 0);
	assert_int_equal(tux_service_new(d.client.t, &d.client.s), 0);
	tux_on_message(d.client.s, on_take, (void *)CLIENT);
	tux_on_message(d.server.s, on_take, (void *)SERVER);
	duet_start(&d);
	c = duet_connect(&d, NULL);
	while (tux_send(c, "x", 1, 0) == -EAGAIN)
		usleep(1000);
	assert_int_equal(tux_send_max(c), 1000);
	assert_int_equal(tux_send(c, buf, 1000, 0), 0);
	assert_int_equal(tux_send(c, buf, 1001, 0), -EMSGSIZE);
	assert_int_equal(tux_reserve(c, 1001, 0, &p, &ref), -EMSGSIZE);
	assert_int_equal(tux_sendv(c, many, 2, 0, NULL), -EMSGSIZE);
	assert_int_equal(tux_sendv(c, many, -1, 0, NULL), -EINVAL);
	await(&seen[SERVER].got, 2);
	duet_close(&d);
}

/* Too long, with strange flags, built in place, taken back. */
static void reserve__commit_and_cancel(void **state)
{
	struct duet d;

	(void)state;
	up(&d);
	tux_on_open(d.client.s, on_open_odd, (void *)CLIENT);
	tux_on_settled(d.client.s, on_settled, (void *)CLIENT);
	tux_on_message(d.server.s, on_take, (void *)SERVER);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen[SERVER].got, 2);
	await(&seen[CLIENT].settled, 2);
	await(&seen[CLIENT].failed, 1);
	assert_int_equal(seen[CLIENT].err, ECANCELED);
	assert_int_equal(seen[CLIENT].wrong, 0);
	duet_close(&d);
}

/* ---- hand-off ---- */

enum { HELD = 500 };

static struct {
	pthread_mutex_t lock;
	struct tux_message m[HELD];
	unsigned n;
} desk = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void on_hand_off(struct tux_connection *c, struct tux_message *m,
			unsigned n, void *arg)
{
	unsigned i;

	(void)c;
	(void)arg;
	tux_uninterruptible_enter();
	pthread_mutex_lock(&desk.lock);
	for (i = 0; i < n; i++) {
		tux_hold(&m[i]);
		desk.m[desk.n++] = m[i];
	}
	pthread_mutex_unlock(&desk.lock);
	tux_uninterruptible_leave();
}

static void *work(void *arg)
{
	unsigned done = 0;

	while (done < HELD) {
		struct tux_message m;
		int err;

		pthread_mutex_lock(&desk.lock);
		if (done == desk.n) {
			pthread_mutex_unlock(&desk.lock);
			usleep(100);
			continue;
		}
		m = desk.m[done++];
		pthread_mutex_unlock(&desk.lock);
		while ((err = tux_send(m.c, m.p, m.len, 0)) == -EAGAIN)
			usleep(100);
		if (err)
			atomic_fetch_add(&seen[SERVER].wrong, 1);
		tux_release(&m);
	}
	return arg;
}

static void send_held(struct tux_connection *c)
{
	while (talk.sent < HELD && !tux_send(c, "job", 3, 0))
		talk.sent++;
}

static void on_held_open(struct tux_connection *c, void *arg)
{
	on_open(c, arg);
	send_held(c);
}

static void on_held_room(struct tux_connection *c, void *arg)
{
	(void)arg;
	send_held(c);
}

/* Messages that a worker keeps, reads, and answers. */
static void hold__for_a_worker(void **state)
{
	struct duet d;
	pthread_t t;

	(void)state;
	up(&d);
	memset(&talk, 0, sizeof(talk));
	desk.n = 0;
	tux_on_message(d.server.s, on_hand_off, NULL);
	tux_on_message(d.client.s, on_take, (void *)CLIENT);
	tux_on_open(d.client.s, on_held_open, (void *)CLIENT);
	tux_on_room(d.client.s, on_held_room, NULL);
	assert_int_equal(pthread_create(&t, NULL, work, NULL), 0);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen[CLIENT].got, HELD);
	pthread_join(t, NULL);
	assert_int_equal(seen[SERVER].wrong, 0);
	duet_close(&d);
}

/* One is held while its connection goes; its bytes stay, answers do not. */
static void on_hold_one(struct tux_connection *c, struct tux_message *m,
			unsigned n, void *arg)
{
	(void)arg;
	(void)n;
	tux_hold(&m[0]);
	desk.m[0] = m[0];
	tux_abort(c);
}

static void hold__outlives_the_connection(void **state)
{
	struct duet d;

	(void)state;
	up(&d);
	tux_on_message(d.server.s, on_hold_one, NULL);
	tux_on_settled(d.client.s, on_settled, (void *)CLIENT);
	tux_on_open(d.client.s, on_open_send, (void *)CLIENT);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen[SERVER].gone, 1);
	await(&seen[CLIENT].gone, 1);
	assert_int_equal(seen[SERVER].err, ECONNABORTED);
	assert_int_equal(seen[CLIENT].err, ECONNRESET);
	assert_memory_equal(desk.m[0].p, "x", 1);
	assert_int_equal(tux_send(desk.m[0].c, "y", 1, 0), -ENOTCONN);
	tux_release(&desk.m[0]);
	duet_close(&d);
}

/* ---- back-pressure, groups ---- */

static _Atomic unsigned groups, largest, full;

/* Had the sender no room left, and are there messages for a whole group? */
static bool piled_up(struct tux_connection *c, unsigned n)
{
	struct tux_connection_stats st;

	return atomic_load(&full) &&
	       !tux_connection_stats(c, &st, sizeof(st)) &&
	       st.messages_rx >= n + GROUP;
}

static void on_group(struct tux_connection *c, struct tux_message *m, unsigned n,
		     void *arg)
{
	unsigned i;

	(void)arg;
	if (atomic_fetch_add(&groups, 1) == 0)
		while (!piled_up(c, n))
			tux_sleep(10000000);
	for (i = 0; i < n; i++)
		if (m[i].len != 4)
			atomic_fetch_add(&seen[SERVER].wrong, 1);
	if (n > atomic_load(&largest))
		atomic_store(&largest, n);
	atomic_fetch_add(&seen[SERVER].got, n);
}

static void send_until_full(struct tux_connection *c)
{
	int err = 0;

	while (talk.sent < MANY && !(err = tux_send(c, "four", 4, 0)))
		talk.sent++;
	if (err == -EAGAIN)
		atomic_fetch_add(&full, 1);
	else if (err)
		atomic_fetch_add(&seen[CLIENT].wrong, 1);
}

static void on_full_open(struct tux_connection *c, void *arg)
{
	on_open(c, arg);
	send_until_full(c);
}

static void on_full_room(struct tux_connection *c, void *arg)
{
	(void)arg;
	send_until_full(c);
}

static void room__after_a_slow_reader(void **state)
{
	struct duet d;

	(void)state;
	up(&d);
	memset(&talk, 0, sizeof(talk));
	groups = largest = full = 0;
	assert_int_equal(tux_set_group(d.server.s, 0), -EINVAL);
	assert_int_equal(tux_set_group(d.server.s, 513), -EINVAL);
	assert_int_equal(tux_set_group(d.server.s, GROUP), 0);
	tux_on_message(d.server.s, on_group, NULL);
	tux_on_settled(d.client.s, on_settled, (void *)CLIENT);
	tux_on_open(d.client.s, on_full_open, (void *)CLIENT);
	tux_on_room(d.client.s, on_full_room, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen[SERVER].got, MANY);
	await(&seen[CLIENT].settled, MANY);
	assert_true(full > 0);
	assert_in_range(largest, 33, GROUP);
	assert_int_equal(seen[SERVER].wrong + seen[CLIENT].wrong, 0);
	duet_close(&d);
}

/* ---- a stream where none is wanted ---- */

static void stream__is_a_mistake(void **state)
{
	struct duet d;
	char byte;
	int fd;

	(void)state;
	up(&d);
	duet_start(&d);
	fd = plain_connect(d.port);
	assert_int_equal(write(fd, "GET /", 5), 5);
	assert_int_equal(read(fd, &byte, 1), -1);
	assert_int_equal(errno, ECONNRESET);
	await(&seen[SERVER].gone, 1);
	assert_int_equal(seen[SERVER].err, EPROTO);
	close(fd);
	duet_close(&d);
}

static void end__disconnects(void **state)
{
	struct duet d;
	char byte;
	int fd;

	(void)state;
	up(&d);
	duet_start(&d);
	fd = plain_connect(d.port);
	shutdown(fd, SHUT_WR);
	assert_int_equal(read(fd, &byte, 1), 0);
	await(&seen[SERVER].gone, 1);
	assert_int_equal(seen[SERVER].err, 0);
	close(fd);
	duet_close(&d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echo__of_many),
		cmocka_unit_test(echo__of_all_lengths),
		cmocka_unit_test(disconnect__brings_all),
		cmocka_unit_test(send__peer_takes_none),
		cmocka_unit_test(send__over_tcp),
		cmocka_unit_test(send__no_longer_than_asked_for),
		cmocka_unit_test(reserve__commit_and_cancel),
		cmocka_unit_test(hold__for_a_worker),
		cmocka_unit_test(hold__outlives_the_connection),
		cmocka_unit_test(room__after_a_slow_reader),
		cmocka_unit_test(stream__is_a_mistake),
		cmocka_unit_test(end__disconnects),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
