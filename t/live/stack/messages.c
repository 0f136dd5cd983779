/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between two stacks in one process, over 127.0.0.1: sent and read in
 * place by threads outside the loops.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "payload.h"
#include "rig.h"
#include "sys/clock.h"

enum {
	MAX = 8 << 20,
	PAYLOADS = 400,
	LIMIT_S = 20,
};

/* ---- two sides ---- */

static struct tux_stack *stack(unsigned threads, uint32_t max)
{
	const struct tux_stack_opts o = {
		.ifname = "lo", .io = TUX_IO_UDP, .threads = threads,
		.message_max = max,
	};

	return side_stack_as(&o);
}

/* The server has not claimed its end yet: *@fd is for it. */
static void half_up(struct rig *r, unsigned threads, uint32_t client_max,
		    uint32_t server_max, int *fd)
{
	int near;

	memset(r, 0, sizeof(*r));
	r->server = stack(threads, server_max);
	r->client = stack(threads, client_max);
	r->listener = side_listen(r->server, &r->port);
	near = side_connect(r->port);
	*fd = accept(r->listener, NULL, NULL);
	side_open(&r->c, r->client, near, true, NULL, 0);
}

static void up(struct rig *r, unsigned threads, uint32_t client_max,
	       uint32_t server_max)
{
	int fd;

	half_up(r, threads, client_max, server_max, &fd);
	side_open(&r->s, r->server, fd, false, NULL, 0);
}

static void down(struct rig *r)
{
	side_close(&r->c, false);
	side_close(&r->s, false);
	rig_down(r);
}

static tux_time limit(void)
{
	return tux_clock_read() + TUX_SEC(LIMIT_S);
}

/* ---- one message ---- */

static int try_post(struct side *x, const void *p, size_t len, unsigned flags,
		    uint64_t *ref)
{
	struct iovec v = { (void *)(uintptr_t)p, len };

	return tux_post_send(x->end, &v, 1, flags, ref, false);
}

static uint64_t post(struct side *x, const void *p, size_t len, unsigned flags)
{
	tux_time until = limit();
	uint64_t ref = 0;
	int err;

	while ((err = try_post(x, p, len, flags, &ref)) == -EAGAIN) {
		side_wait(x, 0, until);
		side_hear(x);
		assert_true(tux_clock_read() < until);
	}
	assert_int_equal(err, 0);
	return ref;
}

/* The next message; it is to be released. */
static struct tux_msg fetch(struct side *x)
{
	tux_time until = limit();
	struct tux_msg m;

	while (!tux_post_take(x->end, &m, 1)) {
		side_wait(x, 0, until);
		side_hear(x);
		assert_true(tux_clock_read() < until);
	}
	return m;
}

/* What became of the next that is settled. */
static int word(struct side *x, uint64_t *ref)
{
	tux_time until = limit();
	int err = 0;

	while (!tux_post_settled(x->end, ref, &err)) {
		side_wait(x, 0, until);
		side_hear(x);
		assert_true(tux_clock_read() < until);
	}
	return err;
}

static void expect(struct side *x, const char *text)
{
	struct tux_msg m = fetch(x);

	assert_int_equal(m.len, strlen(text));
	assert_memory_equal(m.p, text, m.len);
	tux_post_release(x->end, &m, 1);
}

/* ---- the tests ---- */

struct half {
	struct side *x;
	struct payloads out, in;
};

static void half_init(struct half *h, struct side *x, uint64_t out, uint64_t in)
{
	h->x = x;
	payloads_init(&h->out, out, PAYLOADS, MAX);
	payloads_init(&h->in, in, 0, MAX);
}

static void *exchange(void *arg)
{
	struct half *h = arg;

	return (void *)(uintptr_t)payloads_exchange(h->x, &h->out, &h->in,
						   TUX_NEVER);
}

/* Of 1 byte to 8 MiB, ordered and not, both ways at once. */
static void exchange__of_all_lengths(unsigned threads)
{
	static struct half c, s;
	struct rig r;
	const char *wrong;
	pthread_t t;

	up(&r, threads, MAX, MAX);
	half_init(&c, &r.c, 1, 2);
	half_init(&s, &r.s, 2, 1);
	t = rig_start(exchange, &s);
	wrong = exchange(&c);
	if (wrong)
		fail_msg("%s", wrong);
	assert_int_equal(rig_finish(t), 0);
	assert_int_equal(c.in.got_n, PAYLOADS);
	assert_int_equal(s.in.got_n, PAYLOADS);
	down(&r);
}

static void exchange__inline(void **state)
{
	(void)state;
	exchange__of_all_lengths(0);
}

static void exchange__threads(void **state)
{
	(void)state;
	exchange__of_all_lengths(1);
}

static void send__empty(void **state)
{
	struct rig r;

	(void)state;
	up(&r, 0, MAX, MAX);
	post(&r.c, "", 0, 0);
	post(&r.c, "", 0, TUX_MSG_ORDERED);
	expect(&r.s, "");
	expect(&r.s, "");
	down(&r);
}

/* Nobody answers yet: as many wait as there is room for, and all arrive. */
static void send__waits_until_proved(void **state)
{
	static char p[16384];
	uint64_t ref;
	unsigned n = 0;
	struct rig r;
	int fd, err;

	(void)state;
	half_up(&r, 0, MAX, MAX, &fd);
	while (!(err = try_post(&r.c, p, sizeof(p), TUX_MSG_ORDERED, &ref)))
		n++;
	assert_int_equal(err, -EAGAIN);
	assert_true(n >= 8);
	side_open(&r.s, r.server, fd, false, NULL, 0);
	for (; n; n--) {
		struct tux_msg m = fetch(&r.s);

		assert_int_equal(m.len, sizeof(p));
		tux_post_release(r.s.end, &m, 1);
	}
	down(&r);
}

/* What waits fails, and so does what comes. */
static void is_refused(struct rig *r)
{
	uint64_t ref, told;

	ref = post(&r->c, "x", 1, 0);
	assert_int_equal(word(&r->c, &told), EPROTONOSUPPORT);
	assert_int_equal(told, ref);
	assert_int_equal(try_post(&r->c, "x", 1, 0, &ref), -EPROTONOSUPPORT);
}

static void send__peer_takes_none(void **state)
{
	struct rig r;

	(void)state;
	up(&r, 0, MAX, 0);
	is_refused(&r);
	assert_int_equal(tux_post_longest(r.s.end), 0);
	assert_int_equal(try_post(&r.s, "x", 1, 0, &(uint64_t){ 0 }),
			 -EPROTONOSUPPORT);
	down(&r);
}

static void send__peer_has_no_tux(void **state)
{
	struct rig r;
	int fd;

	(void)state;
	half_up(&r, 0, MAX, MAX, &fd);
	is_refused(&r);
	close(fd);
	side_close(&r.c, false);
	side_free(&r.c);
	close(r.listener);
	tux_stack_free(r.client);
	tux_stack_free(r.server);
}

static void send__too_long(void **state)
{
	struct rig r;
	uint64_t ref;
	void *p;

	(void)state;
	up(&r, 0, MAX, 1 << 20);
	post(&r.c, "x", 1, 0);
	expect(&r.s, "x");
	assert_int_equal(word(&r.c, &ref), 0);
	assert_int_equal(tux_post_longest(r.c.end), 1 << 20);
	assert_int_equal(tux_post_reserve(r.c.end, MAX, 0, &p, &ref),
			 -EMSGSIZE);
	down(&r);
}

/* Sends as many as find room, and counts them. */
static bool fill(struct side *x, const char *p, size_t len, unsigned *n)
{
	unsigned before = *n;
	uint64_t ref;

	while (!try_post(x, p, len, 0, &ref))
		++*n;
	return *n != before;
}

/* The reader keeps what it has: there is room for so many, and as soon as it
 * gives them back, the sender hears of room. */
static void send__waits_for_the_reader(void **state)
{
	static char p[16384];
	struct tux_msg m[64];
	unsigned n = 0, sent = 0;
	struct rig r;
	bool more;

	(void)state;
	up(&r, 1, MAX, MAX);
	/* What is on the way makes room for a while. */
	do {
		more = fill(&r.c, p, sizeof(p), &sent);
		rig_sleep(20);
		n += tux_post_take(r.s.end, m + n, (unsigned)N_OF(m) - n);
		more |= fill(&r.c, p, sizeof(p), &sent);
	} while (!n || sent < 2 * n || more);
	tux_post_release(r.s.end, m, n);
	post(&r.c, p, sizeof(p), 0);
	for (sent++; n < sent; n++) {
		m[0] = fetch(&r.s);
		tux_post_release(r.s.end, m, 1);
	}
	down(&r);
}

/* All wait until the path is proved; the last one comes first. */
static void send__small_overtakes_bulk(void **state)
{
	char *p = calloc(1, MAX);
	struct tux_msg m;
	struct rig r;
	int i, fd;

	(void)state;
	half_up(&r, 0, MAX, MAX, &fd);
	for (i = 0; i < 2; i++)
		post(&r.c, p, MAX, 0);
	post(&r.c, "small", 5, 0);
	side_open(&r.s, r.server, fd, false, NULL, 0);
	expect(&r.s, "small");
	for (i = 0; i < 2; i++) {
		m = fetch(&r.s);
		assert_int_equal(m.len, MAX);
		tux_post_release(r.s.end, &m, 1);
	}
	down(&r);
	free(p);
}

/* Taken back before the path is proved; the one behind it arrives. */
static void cancel__is_never_seen(void **state)
{
	uint64_t ref, told;
	struct rig r;
	void *p;
	int fd;

	(void)state;
	half_up(&r, 0, MAX, MAX, &fd);
	ref = post(&r.c, "never", 5, TUX_MSG_ORDERED);
	assert_true(tux_post_cancel(r.c.end, ref));
	assert_int_equal(tux_post_reserve(r.c.end, 5, 0, &p, &told), 0);
	assert_true(tux_post_cancel(r.c.end, told));
	post(&r.c, "always", 6, TUX_MSG_ORDERED);
	side_open(&r.s, r.server, fd, false, NULL, 0);
	expect(&r.s, "always");
	assert_int_equal(word(&r.c, &told), ECANCELED);
	assert_int_equal(told, ref);
	assert_int_equal(word(&r.c, &told), ECANCELED);
	assert_int_equal(word(&r.c, &told), 0);
	assert_false(tux_post_cancel(r.c.end, ref));
	down(&r);
}

/* Closed at once behind them, as after the last word of a conversation. */
static void close__brings_all(void **state)
{
	struct rig r;

	(void)state;
	up(&r, 0, MAX, MAX);
	post(&r.s, "zero", 4, 0);
	expect(&r.c, "zero");
	post(&r.c, "one", 3, TUX_MSG_ORDERED);
	post(&r.c, "two", 3, TUX_MSG_ORDERED);
	side_close(&r.c, false);
	expect(&r.s, "one");
	expect(&r.s, "two");
	side_close(&r.s, false);
	rig_down(&r);
}

/* The peer resets: what waits fails, what has come can be read. */
static void abort__fails_what_waits(void **state)
{
	char *p = calloc(1, MAX);
	uint64_t ref, told;
	struct tux_msg m;
	struct rig r;
	char c;
	int i;

	(void)state;
	up(&r, 0, MAX, MAX);
	post(&r.s, "last", 4, 0);
	post(&r.c, "first", 5, 0);
	expect(&r.s, "first");
	assert_int_equal(word(&r.c, &ref), 0);
	do {
		assert_int_equal(side_write(&r.s, "?", 1), 1);
		assert_int_equal(side_read(&r.c, &c, 1), 1);
		assert_int_equal(side_write(&r.c, "!", 1), 1);
		assert_int_equal(side_read(&r.s, &c, 1), 1);
	} while (!side_on_rings(&r.c) || !side_on_rings(&r.s));
	for (i = 0; i < 4; i++)		/* the reader has room for two */
		post(&r.c, p, MAX, 0);
	side_close(&r.s, true);
	assert_int_equal(word(&r.c, &told), ECONNRESET);
	assert_int_equal(try_post(&r.c, "x", 1, 0, &ref), -ECONNRESET);
	assert_int_equal(tux_post_take(r.c.end, &m, 1), 1);
	assert_memory_equal(m.p, "last", 4);
	side_close(&r.c, false);
	rig_down(&r);
	free(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchange__inline),
		cmocka_unit_test(exchange__threads),
		cmocka_unit_test(send__empty),
		cmocka_unit_test(send__waits_until_proved),
		cmocka_unit_test(send__peer_takes_none),
		cmocka_unit_test(send__peer_has_no_tux),
		cmocka_unit_test(send__too_long),
		cmocka_unit_test(send__waits_for_the_reader),
		cmocka_unit_test(send__small_overtakes_bulk),
		cmocka_unit_test(cancel__is_never_seen),
		cmocka_unit_test(close__brings_all),
		cmocka_unit_test(abort__fails_what_waits),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
