/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../../bench/twin.h"

#include "../test.h"

enum { CAP = 16384, LEN = 100 };

static struct twin t;

static void init__both_directions_on_tux(void **state)
{
	unsigned i;

	(void)state;
	assert_int_equal(twin_init(&t, 3, CAP, 0), 0);
	for (i = 0; i < 2 * 3; i++) {
		const struct duo_end *e = &t.end[i % 2][i / 2];

		assert_true(tux_conn_tx_on_tux(e->c));
		assert_true(tux_conn_rx_on_tux(e->c));
		assert_int_equal(e->in.len, 0);
	}
	twin_fini(&t);
}

static void init__may_come_again(void **state)
{
	(void)state;
	assert_int_equal(twin_init(&t, TWIN_CONNS, CAP, 0), 0);
	twin_fini(&t);
	assert_int_equal(twin_init(&t, 1, CAP, 0), 0);
	twin_fini(&t);
}

static void input__bytes_arrive(void **state)
{
	uint8_t in[LEN], out[LEN];
	unsigned i;

	(void)state;
	assert_int_equal(twin_init(&t, 2, CAP, 0), 0);
	for (i = 0; i < LEN; i++)
		in[i] = (uint8_t)i;
	assert_int_equal(duo_write(&t.end[0][1], in, LEN), LEN);
	assert_int_equal(twin_output(&t, 0), 1);
	twin_input(&t, 1);
	assert_int_equal(duo_read(&t.end[1][1], out, LEN), LEN);
	assert_memory_equal(in, out, LEN);
	assert_true(duo_read(&t.end[1][0], out, LEN) < 0);
	twin_fini(&t);
}

static void input__messages_arrive(void **state)
{
	char hello[] = "hello";
	struct iovec v = { hello, 5 };
	struct tux_msg m;
	uint64_t ref;

	(void)state;
	assert_int_equal(twin_init(&t, 2, CAP, 65536), 0);
	assert_int_equal(tux_msgbox_send(t.end[0][1].box, &v, 1, 0, false,
					 &ref), 0);
	duo_ring(&t.end[0][1], TUX_DOORBELL_MESSAGE);
	assert_int_equal(twin_output(&t, 0), 1);
	twin_input(&t, 1);
	assert_int_equal(tux_msgbox_take(t.end[1][1].box, &m, 1), 1);
	assert_memory_equal(m.p, "hello", 5);
	assert_false(tux_msgbox_any(t.end[1][0].box));
	twin_fini(&t);
}

static void pass__acknowledgments_leave(void **state)
{
	(void)state;
	assert_int_equal(twin_init(&t, 1, CAP, 0), 0);
	twin_pass(&t, TUX_MSEC(10));
	while (twin_output(&t, 0) || twin_output(&t, 1)) {
		twin_input(&t, 1);
		twin_input(&t, 0);
		twin_pass(&t, TUX_MSEC(10));
	}
	duo_write(&t.end[0][0], "x", 1);
	assert_int_equal(twin_output(&t, 0), 1);
	twin_input(&t, 1);
	assert_int_equal(twin_output(&t, 1), 0);
	twin_pass(&t, TUX_MSEC(1));
	assert_int_equal(twin_output(&t, 1), 1);
	twin_fini(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(init__both_directions_on_tux),
		cmocka_unit_test(init__may_come_again),
		cmocka_unit_test(input__bytes_arrive),
		cmocka_unit_test(input__messages_arrive),
		cmocka_unit_test(pass__acknowledgments_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
