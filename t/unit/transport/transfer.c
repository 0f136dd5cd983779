/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transfer - a sendbuf sends to a recvbuf over a network that loses, duplicates
 * and reorders packets, while both applications write and read at random times
 */
#include "transport/recvbuf.h"
#include "transport/sendbuf.h"

#include <pthread.h>
#include <sched.h>

#include "stream.h"

enum { BYTES = 30000, FLIGHT = 100 };

static struct packet {
	struct tux_extent e;
	uint8_t data[100];
} flight[FLIGHT];
static unsigned flight_n;

struct end_to_end {
	struct stream out, in;
	struct tux_sendbuf send;
	struct tux_recvbuf recv;
	uint64_t rnd, last;	/* random seed; where the stream ends */
	unsigned loss;		/* one packet in so many is lost */
};

static void start(struct end_to_end *t, uint64_t seed, uint64_t first)
{
	t->rnd = seed;
	t->loss = 2 + test_below(&t->rnd, 30);
	t->last = first + BYTES + test_below(&t->rnd, 100);
	stream_init(&t->out, first);
	stream_init(&t->in, first);
	tux_recvbuf_init(&t->recv, &t->in.p);
	tux_sendbuf_init(&t->send, &t->out.p, first,
			 tux_recvbuf_window(&t->recv));
	flight_n = 0;
}

static void write_some(struct end_to_end *t)
{
	uint64_t left = t->last - tux_pipe_head(&t->out.p);
	uint32_t len = test_below(&t->rnd, tux_pipe_room(&t->out.p) + 1);

	if (len > left)
		len = (uint32_t)left;
	stream_write(&t->out, len);
	if (len == left)
		tux_sendbuf_finish(&t->send, t->last);
}

static void send_some(struct end_to_end *t)
{
	uint32_t max = test_below(&t->rnd, sizeof(flight->data) + 1);
	struct packet *p = &flight[flight_n];

	if (flight_n == FLIGHT || !tux_sendbuf_peek(&t->send, max, &p->e))
		return;
	tux_pipe_copy(&t->out.p, p->e.off, p->data, p->e.len);
	tux_sendbuf_take(&t->send, &p->e);
	flight_n++;
}

/* A random packet arrives, is lost, or arrives and is declared lost as well. */
static void carry_one(struct end_to_end *t)
{
	unsigned at, fate = test_below(&t->rnd, t->loss);
	struct packet *p;

	if (!flight_n)
		return;
	at = test_below(&t->rnd, test_below(&t->rnd, 4) ? 1 : flight_n);
	p = &flight[at];
	if (fate) {
		int got = tux_recvbuf_put(&t->recv, p->e.off, p->data,
					  p->e.len, p->e.fin);

		/* The receiver may drop it because it has no range left. */
		if (got < 0) {
			assert_int_equal(t->recv.ahead.n, TUX_RANGE_MAX);
			fate = 0;
		}
	}
	if (fate <= 1)
		tux_sendbuf_lost(&t->send, p->e.off, p->e.len, p->e.fin);
	memmove(p, p + 1, (--flight_n - at) * sizeof(*p));
}

/* An acknowledgment arrives. */
static void acknowledge(struct end_to_end *t)
{
	uint32_t window = tux_recvbuf_window(&t->recv);
	uint64_t got = tux_recvbuf_got(&t->recv);

	assert_true(tux_sendbuf_got(&t->send, got, got + window) >= 0);
}

static void turn(struct end_to_end *t)
{
	unsigned i;

	if (!test_below(&t->rnd, 3))
		write_some(t);
	for (i = test_below(&t->rnd, 20); i; i--)
		send_some(t);
	for (i = test_below(&t->rnd, 20); i; i--)
		carry_one(t);
	if (!test_below(&t->rnd, 3))
		acknowledge(t);
	if (!test_below(&t->rnd, 3))
		stream_read(&t->in, test_below(&t->rnd,
					       tux_pipe_len(&t->in.p) + 1));
}

static void random__all_bytes_arrive_once_and_in_order(void **state)
{
	static const uint64_t first[] = { 0, 12345, UINT32_MAX - 20000,
					  (uint64_t)1 << 62 };
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		struct end_to_end t;
		unsigned turns = 0;

		start(&t, seed, first[seed % N_OF(first)]);
		while (!tux_sendbuf_done(&t.send)) {
			turn(&t);
			assert_true(++turns < 100000);
		}
		stream_read(&t.in, tux_pipe_len(&t.in.p));
		assert_true(tux_pipe_tail(&t.in.p) == t.last);
		assert_true(tux_pipe_tail(&t.out.p) == t.last);
		assert_true(t.recv.end == t.last);
		assert_int_equal(t.send.lost.n, 0);
	}
}

static struct end_to_end shared;
static unsigned wrong;

/* The sending application; it uses nothing but its pipe. */
static void *writer(void *arg)
{
	struct tux_pipe *p = &shared.out.p;
	uint64_t rnd = 1, head;

	while ((head = tux_pipe_head(p)) < shared.last) {
		uint32_t len = test_below(&rnd, tux_pipe_room(p) + 1);

		if (len > shared.last - head)
			len = (uint32_t)(shared.last - head);
		stream_write(&shared.out, len);
		sched_yield();
	}
	return arg;
}

/* The receiving application. */
static void *reader(void *arg)
{
	struct tux_pipe *p = &shared.in.p;
	uint64_t rnd = 2, tail;

	while ((tail = tux_pipe_tail(p)) < shared.last) {
		uint32_t len = test_below(&rnd, tux_pipe_len(p) + 1);
		uint8_t b[STREAM_CAP], want[STREAM_CAP];

		stream_fill(want, tail, len);
		tux_pipe_copy(p, tail, b, len);
		tux_pipe_consume(p, tail + len);
		wrong += memcmp(b, want, len) != 0;
		sched_yield();
	}
	return arg;
}

static void threads__two_applications_and_the_network(void **state)
{
	pthread_t w, r;
	unsigned i;

	(void)state;
	start(&shared, 7, UINT32_MAX - 10000);
	assert_int_equal(pthread_create(&w, NULL, writer, NULL), 0);
	assert_int_equal(pthread_create(&r, NULL, reader, NULL), 0);
	while (!tux_sendbuf_done(&shared.send)) {
		if (tux_pipe_head(&shared.out.p) == shared.last)
			tux_sendbuf_finish(&shared.send, shared.last);
		for (i = 0; i < 10; i++)
			send_some(&shared);
		for (i = 0; i < 10; i++)
			carry_one(&shared);
		acknowledge(&shared);
	}
	pthread_join(w, NULL);
	pthread_join(r, NULL);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random__all_bytes_arrive_once_and_in_order),
		cmocka_unit_test(threads__two_applications_and_the_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
