/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which watches of a sock ring.  Its references are in t/unit/sock/fd.
 */
#include "sock/sock.h"

#include "ground/process.h"
#include "../test.h"

enum { READER, WRITER, ANY, EVERY, WATCHES };

static struct sock s;
static struct tux_duplex dx;
static unsigned can;			/* what the duplex allows */
static struct watch watches[WATCHES];
static _Atomic uint32_t queued[WATCHES];

/* ---- what sock.c calls ---- */

struct process_here process_here = { .epoch = 1 };

void process_init(void)
{
}

void tux_stack_unlisten(struct tux_stack *stack, const struct tux_addr *a)
{
	(void)stack, (void)a;
}

void tux_end_free(struct tux_end *e)
{
	(void)e;
}

unsigned tux_duplex_poll(const struct tux_duplex *d)
{
	assert_ptr_equal(d, &dx);
	return can;
}

void tux_waiter_ring_later(struct tux_waiter *w, uint32_t i,
			   struct tux_wakes *k)
{
	(void)w, (void)k;
	assert_int_equal(queued[i], 1);
}

/* ---- cases ---- */

static int setup(void **state)
{
	static const unsigned wants[WATCHES] = {
		[READER] = TUX_CAN_READ | TUX_IS_ERR | TUX_IS_EOF,
		[WRITER] = TUX_CAN_WRITE | TUX_IS_ERR | TUX_IS_EOF,
	};

	(void)state;
	s = (struct sock){ .stage = SOCK_CLAIMED, .dx = &dx };
	tux_list_init(&s.watches);
	for (uint32_t i = 0; i < WATCHES; i++) {
		queued[i] = 0;
		watches[i] = (struct watch){ .index = i, .wants = wants[i],
					     .queued = &queued[i] };
		if (i == EVERY)
			sock_watch_all(&watches[i]);
		else
			sock_watch(&s, &watches[i]);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sock_unwatch_all(&watches[EVERY]);
	return 0;
}

/* Did these ring, and no others? */
static bool rung(bool reader, bool writer, bool any, bool every)
{
	bool r = queued[READER] == reader && queued[WRITER] == writer &&
		 queued[ANY] == any && queued[EVERY] == every;

	for (int i = 0; i < WATCHES; i++)
		queued[i] = 0;
	return r;
}

static void ready__rings_who_wants_it(void **state)
{
	(void)state;
	can = TUX_CAN_WRITE;		/* an acknowledgment */
	sock_ready(&s, NULL);
	assert_true(rung(false, true, true, false));
	can = TUX_CAN_READ;
	sock_ready(&s, NULL);
	assert_true(rung(true, false, true, false));
	can = 0;
	sock_ready(&s, NULL);
	assert_true(rung(false, false, true, false));
	can = TUX_CAN_READ | TUX_IS_EOF;
	sock_ready(&s, NULL);
	assert_true(rung(true, true, true, false));
	can = TUX_IS_ERR;
	sock_ready(&s, NULL);
	assert_true(rung(true, true, true, false));
}

/* An error that a call left for the next one. */
static void ready__rings_all_for_an_error(void **state)
{
	(void)state;
	can = 0;
	s.err = 1;
	sock_ready(&s, NULL);
	assert_true(rung(true, true, true, false));
}

/* What the kernel must be asked, and what not, has changed: each wait begins
 * again. */
static void ready__rings_all_if_a_direction_moved(void **state)
{
	(void)state;
	can = TUX_RX_ON_RING;
	sock_ready(&s, NULL);
	assert_true(rung(true, true, true, true));
	sock_ready(&s, NULL);
	assert_true(rung(false, false, true, false));
	can = 0;
	sock_ready(&s, NULL);
	assert_true(rung(true, true, true, true));
}

static void ring__rings_all(void **state)
{
	(void)state;
	can = 0;
	sock_ring(&s);
	assert_true(rung(true, true, true, true));
}

static void ring__once_until_it_is_taken_out(void **state)
{
	(void)state;
	can = TUX_CAN_READ;
	queued[READER] = 1;		/* the stub would fail for a second one */
	sock_ready(&s, NULL);
	assert_int_equal(queued[READER], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ready__rings_who_wants_it,
						setup, teardown),
		cmocka_unit_test_setup_teardown(ready__rings_all_for_an_error,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			ready__rings_all_if_a_direction_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(ring__rings_all, setup, teardown),
		cmocka_unit_test_setup_teardown(ring__once_until_it_is_taken_out,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
