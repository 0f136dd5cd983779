/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/history.h"

#include "../test.h"

static struct tux_history p;
static tux_time now;

static void start(void)
{
	memset(&p, 0, sizeof(p));
	now = TUX_SEC(100);
}

static struct tux_addr peer(uint8_t host, uint16_t port)
{
	struct tux_addr a = { .port = port };

	a.ip[10] = a.ip[11] = 0xff;
	a.ip[12] = 10;
	a.ip[15] = host;
	return a;
}

static bool waits(uint8_t host, uint16_t port)
{
	struct tux_addr a = peer(host, port);

	return tux_history_waits(&p, &a, now);
}

static void silent(uint8_t host, uint16_t port)
{
	struct tux_addr a = peer(host, port);

	tux_history_decided(&p, &a, false, TUX_REASON_PEER_SILENT, now);
}

static void waits__not_for_an_unknown_peer(void **state)
{
	(void)state;
	start();
	assert_false(waits(1, 80));
	silent(1, 80);
	assert_false(waits(1, 81));
	assert_false(waits(2, 80));
}

static void silent__for_five_seconds_and_then_longer(void **state)
{
	unsigned i;

	(void)state;
	start();
	for (i = 0; i < 7; i++) {
		silent(1, 80);
		now += TUX_SEC(5u << i) - 1;
		assert_true(waits(1, 80));
		now++;
		assert_false(waits(1, 80));
	}
}

static void silent__ten_minutes_at_most(void **state)
{
	unsigned i;

	(void)state;
	start();
	for (i = 0; i < 100; i++)
		silent(1, 80);
	now += TUX_SEC(600);
	assert_false(waits(1, 80));
}

static void answered__forgets_it(void **state)
{
	struct tux_addr a = peer(1, 80);
	unsigned i;

	(void)state;
	start();
	for (i = 0; i < 5; i++)
		silent(1, 80);
	tux_history_decided(&p, &a, true, TUX_REASON_NONE, now);
	assert_false(waits(1, 80));
	silent(1, 80);
	now += TUX_SEC(5);
	assert_false(waits(1, 80));
}

static void silent__many_peers_keep_within_the_table(void **state)
{
	unsigned i, n = 0;

	(void)state;
	start();
	for (i = 0; i < 60000; i++)
		silent((uint8_t)(i % 251), (uint16_t)i);
	for (i = 0; i < 60000; i++)
		n += waits((uint8_t)(i % 251), (uint16_t)i);
	assert_in_range(n, 1, TUX_HISTORY_PEERS);
}

/* What else keeps a connection on TCP says nothing about its peer. */
static void decided__other_reasons_do_not_count(void **state)
{
	struct tux_addr a = peer(1, 80);

	(void)state;
	start();
	tux_history_decided(&p, &a, false, TUX_REASON_BULK, now);
	assert_false(waits(1, 80));
	silent(1, 80);
	tux_history_decided(&p, &a, false, TUX_REASON_NO_FD, now);
	assert_true(waits(1, 80));
}

/* Another thread is at it: nothing waits for it. */
static void waits__not_for_another_thread(void **state)
{
	struct tux_addr a = peer(1, 80);

	(void)state;
	start();
	silent(1, 80);
	assert_true(tux_latch_try(&p.latch));
	assert_false(waits(1, 80));
	tux_history_decided(&p, &a, true, TUX_REASON_NONE, now);
	tux_latch_drop(&p.latch);
	assert_true(waits(1, 80));
}

static void ended(uint8_t host, uint16_t port, unsigned n)
{
	struct tux_addr a = peer(host, port);

	for (; n; n--)
		tux_history_ended(&p, &a, now);
}

static bool brief(uint8_t host, uint16_t port)
{
	struct tux_addr a = peer(host, port);

	return tux_history_brief(&p, &a, now);
}

static void brief__after_a_row(void **state)
{
	(void)state;
	start();
	assert_false(brief(1, 80));
	ended(1, 80, TUX_HISTORY_BRIEF - 1);
	assert_false(brief(1, 80));
	ended(1, 80, 1);
	assert_true(brief(1, 80));
	ended(1, 80, 100000);
	assert_true(brief(1, 80));
	assert_false(brief(1, 81));
	assert_false(brief(2, 80));
}

static void brief__not_after_a_pause(void **state)
{
	(void)state;
	start();
	ended(1, 80, TUX_HISTORY_BRIEF);
	now += TUX_SEC(1);
	assert_true(brief(1, 80));
	now += TUX_SEC(1);
	assert_true(brief(1, 80));
	now += TUX_SEC(1) + 1;
	assert_false(brief(1, 80));
	ended(1, 80, TUX_HISTORY_BRIEF - 1);
	assert_false(brief(1, 80));
	ended(1, 80, 1);
	assert_true(brief(1, 80));
}

static void brief__not_of_connections_far_apart(void **state)
{
	unsigned i;

	(void)state;
	start();
	for (i = 0; i < 1000; i++) {
		ended(1, 80, 1);
		now += TUX_MSEC(1001);
		assert_false(brief(1, 80));
	}
}

/* Connections that are not looked at end unseen. */
static void brief__one_in_a_few_is_looked_at(void **state)
{
	unsigned i, looked = 0;

	(void)state;
	start();
	ended(1, 80, TUX_HISTORY_BRIEF);
	for (i = 1; i <= 10 * TUX_HISTORY_PROBE; i++) {
		now += TUX_MSEC(10);
		if (brief(1, 80))
			continue;
		assert_int_equal(i % TUX_HISTORY_PROBE, 0);
		looked++;
		ended(1, 80, 1);
	}
	assert_int_equal(looked, 10);
}

/* However many there are. */
static void brief__looks_at_one_in_a_while(void **state)
{
	unsigned looked = 0;
	tux_time last = 0;

	(void)state;
	start();
	ended(1, 80, TUX_HISTORY_BRIEF);
	for (unsigned i = 0; i < 10000; i++) {
		now += TUX_USEC(100);
		if (brief(1, 80))
			continue;
		assert_true(now >= last + TUX_MSEC(TUX_HISTORY_PROBE_MS));
		last = now;
		looked++;
		ended(1, 80, 1);
	}
	assert_in_range(looked, 98, 101);
}

static void brief__not_once_a_probe_lasts(void **state)
{
	struct tux_addr a = peer(1, 80);

	(void)state;
	start();
	ended(1, 80, TUX_HISTORY_BRIEF);
	while (brief(1, 80))
		;
	tux_history_lasted(&p, &a);
	for (unsigned i = 0; i < 10 * TUX_HISTORY_PROBE; i++)
		assert_false(brief(1, 80));
}

static void lasted__ends_the_row(void **state)
{
	struct tux_addr a = peer(1, 80), other = peer(1, 81);

	(void)state;
	start();
	ended(1, 80, TUX_HISTORY_BRIEF);
	tux_history_lasted(&p, &other);
	assert_true(brief(1, 80));
	tux_history_lasted(&p, &a);
	assert_false(brief(1, 80));
	ended(1, 80, TUX_HISTORY_BRIEF - 1);
	assert_false(brief(1, 80));
}

static void ended__many_peers_keep_within_the_table(void **state)
{
	unsigned i, n = 0;

	(void)state;
	start();
	for (i = 0; i < 6000; i++)
		ended((uint8_t)(i % 251), (uint16_t)i, TUX_HISTORY_BRIEF);
	for (i = 0; i < 6000; i++)
		n += brief((uint8_t)(i % 251), (uint16_t)i);
	assert_in_range(n, 1, TUX_HISTORY_PEERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits__not_for_an_unknown_peer),
		cmocka_unit_test(silent__for_five_seconds_and_then_longer),
		cmocka_unit_test(silent__ten_minutes_at_most),
		cmocka_unit_test(answered__forgets_it),
		cmocka_unit_test(decided__other_reasons_do_not_count),
		cmocka_unit_test(waits__not_for_another_thread),
		cmocka_unit_test(silent__many_peers_keep_within_the_table),
		cmocka_unit_test(brief__after_a_row),
		cmocka_unit_test(brief__not_after_a_pause),
		cmocka_unit_test(brief__not_of_connections_far_apart),
		cmocka_unit_test(brief__one_in_a_few_is_looked_at),
		cmocka_unit_test(brief__looks_at_one_in_a_while),
		cmocka_unit_test(brief__not_once_a_probe_lasts),
		cmocka_unit_test(lasted__ends_the_row),
		cmocka_unit_test(ended__many_peers_keep_within_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
