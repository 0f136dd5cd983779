/* SPDX-License-Identifier: BSD-2-Clause */
#include "udp/udp_rx.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"

enum { LEN = 1000, TAIL = 300, WAIT_MS = 1000 };

struct rig {
	struct tux_udp_rx rx;
	int out, in;		/* connected to `in` */
};

static void set(int fd, int level, int name, int v)
{
	assert_int_equal(setsockopt(fd, level, name, &v, sizeof(v)), 0);
}

static int rig_up(void **state)
{
	struct rig *r = test_calloc(1, sizeof(*r));
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(sin);

	assert_int_equal(tux_udp_rx_init(&r->rx), 0);
	r->out = socket(AF_INET, SOCK_DGRAM, 0);
	r->in = socket(AF_INET, SOCK_DGRAM, 0);
	set(r->in, IPPROTO_IP, IP_RECVTOS, 1);
	assert_int_equal(bind(r->in, (struct sockaddr *)&sin, len), 0);
	assert_int_equal(getsockname(r->in, (struct sockaddr *)&sin, &len), 0);
	assert_int_equal(connect(r->out, (struct sockaddr *)&sin, len), 0);
	*state = r;
	return 0;
}

static int rig_down(void **state)
{
	struct rig *r = *state;

	close(r->out);
	close(r->in);
	tux_udp_rx_fini(&r->rx);
	test_free(r);
	return 0;
}

/* Sends @len bytes, cut by the kernel into segments of @seg; 0: not cut.  The
 * bytes of each segment are its number. */
static void post(struct rig *r, size_t len, unsigned seg, int tos)
{
	uint8_t p[8 * LEN];
	size_t i;

	assert_true(len <= sizeof(p));
	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(seg ? i / seg : 0);
	set(r->out, SOL_UDP, UDP_SEGMENT, (int)seg);
	set(r->out, IPPROTO_IP, IP_TOS, tos);
	assert_int_equal(send(r->out, p, len, 0), len);
}

static unsigned take(struct rig *r, const struct tux_dgram **d)
{
	struct pollfd wait = { r->in, POLLIN, 0 };

	if (poll(&wait, 1, WAIT_MS) != 1)
		return 0;
	return tux_udp_rx_take(&r->rx, r->in, d);
}

static void take__one_after_the_other(void **state)
{
	struct rig *r = *state;
	const struct tux_dgram *d;

	post(r, LEN, 0, TUX_ECN_ECT0);
	post(r, TAIL, 0, TUX_ECN_NONE);
	assert_int_equal(take(r, &d), 2);
	assert_int_equal(d[0].len, LEN);
	assert_int_equal(d[0].ecn, TUX_ECN_ECT0);
	assert_int_equal(d[1].len, TAIL);
	assert_int_equal(d[1].ecn, TUX_ECN_NONE);
	assert_int_equal(tux_udp_rx_take(&r->rx, r->in, &d), 0);
}

static void take__cuts_what_came_joined(void **state)
{
	struct rig *r = *state;
	const struct tux_dgram *d;
	unsigned i;

	assert_true(tux_udp_rx_join(r->in));
	post(r, 3 * LEN + TAIL, LEN, TUX_ECN_ECT0);
	assert_int_equal(take(r, &d), 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(d[i].len, i < 3 ? LEN : TAIL);
		assert_int_equal(d[i].p[0], i);
		assert_int_equal(d[i].p[d[i].len - 1], i);
		assert_int_equal(d[i].ecn, TUX_ECN_ECT0);
		assert_true(tux_addr_same(&d[i].from, &d[0].from));
		assert_int_not_equal(d[i].from.port, 0);
	}
}

/* What came before leaves no trace in the same buffers. */
static void take__of_joined_and_lone_in_turns(void **state)
{
	struct rig *r = *state;
	const struct tux_dgram *d;
	unsigned i;

	assert_true(tux_udp_rx_join(r->in));
	for (i = 0; i < 3; i++) {
		post(r, 2 * LEN, LEN, TUX_ECN_ECT0);
		post(r, TAIL, 0, TUX_ECN_NONE);
		post(r, 2 * TAIL, TAIL, TUX_ECN_CE);
		assert_int_equal(take(r, &d), 5);
		assert_int_equal(d[1].len, LEN);
		assert_int_equal(d[1].ecn, TUX_ECN_ECT0);
		assert_int_equal(d[2].len, TAIL);
		assert_int_equal(d[2].ecn, TUX_ECN_NONE);
		assert_int_equal(d[3].len, TAIL);
		assert_int_equal(d[3].ecn, TUX_ECN_CE);
	}
}

static void cut__refuses_wrong_sizes(void **state)
{
	(void)state;
	assert_int_equal(tux_udp_rx_cut(LEN, 0), 1);	/* came alone */
	assert_int_equal(tux_udp_rx_cut(0, 0), 1);
	assert_int_equal(tux_udp_rx_cut(2 * LEN, LEN), 2);
	assert_int_equal(tux_udp_rx_cut(2 * LEN + 1, LEN), 3);
	assert_int_equal(tux_udp_rx_cut(LEN, LEN), 1);
	assert_int_equal(tux_udp_rx_cut(128, 1), 128);
	assert_int_equal(tux_udp_rx_cut(129, 1), 0);
	assert_int_equal(tux_udp_rx_cut(LEN, LEN + 1), 0);
	assert_int_equal(tux_udp_rx_cut(0, LEN), 0);
	assert_int_equal(tux_udp_rx_cut(LEN, -1), 0);
}

static void bulk__is_many_long_ones(void **state)
{
	struct rig *r = *state;
	const struct tux_dgram *d;
	unsigned i;

	for (i = 0; i < 20; i++)
		post(r, 100, 0, 0);
	assert_int_equal(take(r, &d), 20);
	assert_false(tux_udp_rx_bulk(&r->rx));
	post(r, 3 * LEN, LEN, 0);
	assert_int_equal(take(r, &d), 3);
	assert_false(tux_udp_rx_bulk(&r->rx));
	for (i = 0; i < 3; i++)
		post(r, 8 * LEN, LEN, 0);
	assert_int_equal(take(r, &d), 24);
	assert_true(tux_udp_rx_bulk(&r->rx));
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, rig_up, rig_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(take__one_after_the_other),
		RIG_TEST(take__cuts_what_came_joined),
		RIG_TEST(take__of_joined_and_lone_in_turns),
		RIG_TEST(cut__refuses_wrong_sizes),
		RIG_TEST(bulk__is_many_long_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
