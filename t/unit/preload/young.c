/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a candidate that stays on TCP costs: how often it is asked about, and how
 * often the kernel is.  And whether the kernel's counts agree with its own.
 */
#include "../../../preload/young.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <stdarg.h>

#include "../../../preload/libc.h"
#include "stack/thread_busy.h"
#include "../test.h"

enum { SEGMENT = 1448, TURNS = 1000 };

struct libc libc;
struct conf conf = { .path = TUX_PATH_MODE_AUTO };

static unsigned asked;		/* for the segment */

uint32_t tux_end_segment(enum tux_io io, int fd)
{
	(void)io, (void)fd;
	asked++;
	return SEGMENT;
}

static bool thread_busy;
static uint64_t thread_calls;

bool tux_thread_busy(const struct tux_stack *s, struct tux_recent *r)
{
	assert_non_null(s);
	thread_calls = r->calls;
	return thread_busy;
}

/* ---- the kernel's counts ---- */

static struct tcp_info info;
static int unacked, unread;
static int late;		/* bytes that are acknowledged between two
				 * questions, */
static int late_n;		/* ... so often; 0: always */

static int kernel_getsockopt(int fd, int level, int name,
			     void *restrict value, socklen_t *restrict len)
{
	(void)fd, (void)level, (void)name;
	assert_int_equal(*len, sizeof(info));
	*(struct tcp_info *)value = info;
	return 0;
}

static int kernel_ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	int *n;

	(void)fd;
	va_start(ap, cmd);
	n = va_arg(ap, int *);
	va_end(ap);
	*n = cmd == SIOCOUTQ ? unacked - late : unread;
	if (cmd == SIOCOUTQ && late_n && !--late_n)
		late = 0;
	return 0;
}

static void kernel_has(uint64_t acked, int out, uint64_t received, int in)
{
	info.tcpi_bytes_acked = acked;
	info.tcpi_bytes_received = received;
	unacked = out;
	unread = in;
}

/* ---- a candidate ---- */

/* A request of @n bytes and its answer; then the candidate's next call. */
static bool turn(struct sock *s, size_t n)
{
	young_moved(s, true, n);
	young_moved(s, false, n);
	return young_asks(s) && young_due(s, 3);
}

static void due__asks_for_the_segment_once(void **state)
{
	struct sock s = { .active = true };

	(void)state;
	asked = 0;
	for (int i = 0; i < TURNS; i++)
		assert_false(turn(&s, 16384));
	assert_int_equal(asked, 1);
	assert_int_equal(s.packet, SEGMENT);
}

static void asks__again_when_bulk_becomes_brief(void **state)
{
	struct sock s = { .active = true };
	int i;

	(void)state;
	for (i = 0; i < TURNS; i++)
		assert_false(turn(&s, 16384));
	for (i = 0; i < TURNS && !turn(&s, 100); i++)
		;
	assert_in_range(i, 1, 64);
}

static void asks__always_on_a_chosen_path(void **state)
{
	struct sock s = { .active = true };

	(void)state;
	assert_false(young_asks(&s));
	conf.path = TUX_PATH_MODE_TUX;
	assert_true(young_asks(&s));
	conf.path = TUX_PATH_MODE_AUTO;
}

static void busy__stays_a_candidate(void **state)
{
	const struct tux_stack *stack = (void *)&stack;
	struct sock s = { .active = true };
	unsigned n = 0;

	(void)state;
	young_recent = (struct tux_recent){ .calls = 0 };
	while (!turn(&s, 100))
		n++;
	thread_busy = true;
	assert_true(young_busy(&s, stack));
	assert_int_equal(thread_calls, n + 1);
	assert_int_equal(young_why(&s), TUX_REASON_CPU_BUSY);
	for (n = 0; !turn(&s, 100); n++)
		;
	assert_in_range(n, 60, 70);
	thread_busy = false;
	assert_false(young_busy(&s, stack));
}

/* Two connections may share a bit; ten have several. */
static void recent__tells_connections_apart(void **state)
{
	static struct sock s[10];

	(void)state;
	young_recent = (struct tux_recent){ .calls = 0 };
	for (unsigned i = 0; i < 10; i++)
		turn(&s[0], 100);
	assert_int_equal(tux_recent_count(&young_recent, TUX_SEC(1)), 1);
	for (unsigned i = 0; i < 10; i++)
		turn(&s[i], 100);
	assert_in_range(tux_recent_count(&young_recent, TUX_SEC(1)), 4, 10);
}

static void busy__not_on_a_chosen_path(void **state)
{
	const struct tux_stack *stack = (void *)&stack;
	struct sock s = { .active = true };

	(void)state;
	thread_busy = true;
	assert_false(young_busy(&s, NULL));
	conf.path = TUX_PATH_MODE_TUX;
	assert_false(young_busy(&s, stack));
	conf.path = TUX_PATH_MODE_AUTO;
}

/* The SYN of the active end is acknowledged like a byte. */
static void compare__counts_what_the_kernel_has(void **state)
{
	struct sock a = { .active = true }, p = { .active = false };

	(void)state;
	young_moved(&a, true, 100);
	young_moved(&a, false, 30);
	young_moved(&p, true, 100);
	young_moved(&p, false, 30);
	kernel_has(61, 40, 35, 5);
	assert_int_equal(young_compare(&a, 3), TUX_YOUNG_AGREE);
	assert_int_equal(young_compare(&p, 3), TUX_YOUNG_UNSURE);
	kernel_has(60, 40, 35, 5);
	assert_int_equal(young_compare(&p, 3), TUX_YOUNG_AGREE);
}

static void compare__not_pinned_by_an_acknowledgment(void **state)
{
	struct sock s = { .active = true };

	(void)state;
	young_moved(&s, true, 100);
	kernel_has(61, 40, 0, 0);
	late = 40;
	for (int i = 0; i < 4; i++)
		assert_int_equal(young_compare(&s, 3), TUX_YOUNG_UNSURE);
	late = 0;
	assert_int_equal(young_compare(&s, 3), TUX_YOUNG_AGREE);
}

/* What another process has carried, of which some is not acknowledged and some
 * not read. */
static void begin__with_what_the_kernel_has(void **state)
{
	struct sock s = { .active = false };

	(void)state;
	kernel_has(60, 40, 35, 5);
	assert_true(young_begin(&s, 3));
	assert_int_equal(young_compare(&s, 3), TUX_YOUNG_AGREE);
	young_moved(&s, false, 5);
	kernel_has(100, 0, 35, 0);
	assert_int_equal(young_compare(&s, 3), TUX_YOUNG_AGREE);
}

static void begin__not_with_numbers_of_two_moments(void **state)
{
	struct sock s = { .active = false };

	(void)state;
	kernel_has(60, 40, 0, 0);
	late_n = 1;
	late = 40;
	assert_true(young_begin(&s, 3));
	assert_int_equal(young_compare(&s, 3), TUX_YOUNG_AGREE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(due__asks_for_the_segment_once),
		cmocka_unit_test(asks__again_when_bulk_becomes_brief),
		cmocka_unit_test(asks__always_on_a_chosen_path),
		cmocka_unit_test(busy__stays_a_candidate),
		cmocka_unit_test(recent__tells_connections_apart),
		cmocka_unit_test(busy__not_on_a_chosen_path),
		cmocka_unit_test(compare__counts_what_the_kernel_has),
		cmocka_unit_test(compare__not_pinned_by_an_acknowledgment),
		cmocka_unit_test(begin__with_what_the_kernel_has),
		cmocka_unit_test(begin__not_with_numbers_of_two_moments),
	};

	libc.getsockopt = kernel_getsockopt;
	libc.ioctl = kernel_ioctl;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
