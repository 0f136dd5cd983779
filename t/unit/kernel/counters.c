/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/counters.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../test.h"

#define HEAD \
	"Inter-|   Receive                            |  Transmit\n" \
	" face |bytes    packets errs drop fifo frame compressed multicast" \
	"|bytes    packets errs drop fifo colls carrier compressed\n"

static bool told(const char *text, const char *ifname, uint64_t *bytes)
{
	int fd = memfd_create("dev", 0);
	bool found;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	found = tux_counters_read(fd, ifname, bytes);
	close(fd);
	return found;
}

static void read__both_directions(void **state)
{
	uint64_t n = 0;

	(void)state;
	assert_true(told(HEAD "    lo: 7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n"
			 "  eth0: 40000000000 2 3 4 5 6 7 8 900 10 0 0 0 0 0 0\n",
			 "eth0", &n));
	assert_int_equal(n, 40000000900);
}

static void read__no_such_interface(void **state)
{
	uint64_t n;

	(void)state;
	assert_false(told(HEAD "  eth0: 1 2 3 4 5 6 7 8 9 0 0 0 0 0 0 0\n",
			  "eth", &n));
	assert_false(told(HEAD "  eth0: 1 2 3 4 5 6 7 8 9 0 0 0 0 0 0 0\n",
			  "eth01", &n));
	assert_false(told("", "eth0", &n));
	assert_false(tux_counters_read(-1, "eth0", &n));
}

static void read__among_many(void **state)
{
	static char text[1 << 17] = HEAD;
	size_t len = strlen(text);
	unsigned i;
	uint64_t n;

	(void)state;
	for (i = 0; i < 1000; i++)
		len += (size_t)sprintf(text + len, "  veth%u: %u 0 0 0 0 0 0 0 "
				       "1 0 0 0 0 0 0 0\n", i, i);
	for (i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "veth%u", i);
		assert_true(told(text, name, &n));
		assert_int_equal(n, i + 1);
	}
}

static void read__the_kernel(void **state)
{
	int fd = tux_counters_open();
	uint64_t n;

	(void)state;
	assert_true(fd >= 0);
	assert_true(tux_counters_read(fd, "lo", &n));
	assert_true(tux_counters_read(fd, "lo", &n));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__both_directions),
		cmocka_unit_test(read__no_such_interface),
		cmocka_unit_test(read__among_many),
		cmocka_unit_test(read__the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
