/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The birth and the end of a connection, and what can be seen of it.
 */
#include <errno.h>

#include "duo.h"

/* ---- birth ---- */

static void open__begins_with_nothing(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	bool active = false;

	assert_int_equal(c->life, TUX_LIFE_OPENING);
	assert_int_equal(c->nonce & 1, 1);
	assert_true(c->id != 0);
	assert_true(c->first >= 1ull << 32 && c->first < 1ull << 33);
	assert_true(tux_table_by_id(&d->a.core->table, c->id) == c);
	assert_int_equal(c->peer.port, 6379);
	assert_int_equal(d->b.c->peer.port, 0);
	assert_ptr_equal(tux_conn_user(c), &d->a);
	assert_ptr_equal(tux_conn_duplex(c), d->a.dx);
	assert_int_equal(tux_conn_tuple(c, &active)->active.port, 40000);
	assert_true(active);
	assert_int_equal(tux_conn_tuple(d->b.c, &active)->passive.port, 6379);
	assert_false(active);
	assert_ptr_equal(tux_conn_tuple(c, NULL), &c->tuple);
	assert_int_equal(tux_conn_stats(c)->pkts_tx, 0);
	assert_int_equal(tux_conn_reason(c), TUX_REASON_NONE);
	assert_false(tux_conn_tx_on_tux(c) || tux_conn_rx_on_tux(c));
}

static void open__once(void **state)
{
	struct duo *d = *state;
	struct duo_end o;
	int live = d->mem.live;

	duo_beside(&o, &d->a, false);
	assert_int_equal(duo_end_open(&o, 40000, DUO_MTU), -EEXIST);
	assert_int_equal(d->mem.live, live);
	assert_int_equal(d->a.core->conn_n, 1);
	assert_int_equal(duo_end_open(&o, 40001, DUO_MTU), 0);
	assert_int_equal(d->a.core->conn_n, 2);
	tux_conn_close(o.c, d->now);
	assert_int_equal(d->a.core->conn_n, 1);
	assert_int_equal(duo_end_open(&o, 40001, DUO_MTU), 0);
	duo_close(&o);
}

/* ---- the end ---- */

static void close__leaves_nothing(void **state)
{
	struct duo *d = *state;
	struct tux_core *core = d->a.core;
	uint32_t effects, id = d->a.c->id;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_drop(&d->a);
	tux_conn_do(d->a.c, TUX_DO_PING);
	tux_conn_stall(d->a.c, d->now);
	assert_int_not_equal(d->a.c->effects, 0);
	tux_conn_close(d->a.c, d->now);
	d->a.c = NULL;
	assert_null(tux_table_by_id(&core->table, id));
	assert_true(tux_list_empty(&core->sendq));
	assert_true(tux_list_empty(&core->untimed));
	assert_null(tux_core_effects(core, &effects));
	assert_int_equal(core->conn_n, 0);
	assert_int_equal(core->pairs.n, 0);
	assert_true(tux_core_deadline(core) == TUX_NEVER);
	assert_int_equal(duo_drop(&d->a), 0);
}

/* Its place in the window is free: the next connection of the pair sends. */
static void close__others_of_the_pair_send(void **state)
{
	struct duo *d = *state;
	struct duo_end a, b;
	struct duo_pkt k;

	duo_other(d, &a, &b);
	duo_fill(&d->a, a.c);
	assert_int_equal(duo_out(&d->a, &k), 0);
	tux_conn_close(d->a.c, d->now);
	d->a.c = NULL;
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(k.h.id, b.c->id);
	duo_other_close(&a, &b);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(open__begins_with_nothing, duo_setup),
		T(open__once, duo_setup),
		T(close__leaves_nothing, duo_setup_switched),
		T(close__others_of_the_pair_send, duo_setup_proved),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
