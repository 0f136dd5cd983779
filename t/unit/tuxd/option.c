/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../../tuxd/option.h"

#include <string.h>

#include "../test.h"

/* Parses the words of @line, and says what is wrong, or NULL. */
static const char *parse(struct option_args *a, const char *line,
			 const char **bad)
{
	static char text[256];
	char *argv[16] = { (char[]){ "tuxd" } }, *word;
	int argc = 1;

	strcpy(text, line);
	for (word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	return option_parse(a, argc, argv, bad);
}

static void parse__commands(void **state)
{
	struct option_args a;
	const char *bad;

	(void)state;
	assert_null(parse(&a, "load", &bad));
	assert_int_equal(a.what, OPTION_LOAD);
	assert_null(a.cgroup);
	assert_string_equal(a.bpffs, "/sys/fs/bpf");
	assert_int_equal(a.low, 0);
	assert_null(parse(&a, "--cgroup /c unload", &bad));
	assert_int_equal(a.what, OPTION_UNLOAD);
	assert_string_equal(a.cgroup, "/c");
	assert_null(parse(&a, "status --bpffs=/b", &bad));
	assert_int_equal(a.what, OPTION_STATUS);
	assert_string_equal(a.bpffs, "/b");
	assert_null(parse(&a, "load --ports 4000-4999", &bad));
	assert_int_equal(a.low, 4000);
	assert_int_equal(a.high, 4999);
	assert_null(parse(&a, "--help", &bad));
	assert_int_equal(a.what, OPTION_HELP);
	assert_null(parse(&a, "--version", &bad));
	assert_int_equal(a.what, OPTION_VERSION);
}

static void parse__says_what_is_wrong(void **state)
{
	static const char *const lines[][2] = {
		{ "", "" },
		{ "start", "start" },
		{ "load status", "status" },
		{ "load --port 1-2x", "1-2x" },
		{ "load --cgroup", "--cgroup" },
		{ "load --unknown", "--unknown" },
		{ "status --ports 1-2", "--ports" },
	};
	struct option_args a;
	const char *bad;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		assert_non_null(parse(&a, lines[i][0], &bad));
		assert_string_equal(bad, lines[i][1]);
	}
}

static void ports__are_two_numbers(void **state)
{
	static const char *const wrong[] = {
		"", "1", "1-", "-1", "0-1", "2-1", "1-65536", "1-2-3", "a-b",
		" 1-2", "1- 2", "99999999999999999999-3",
	};
	struct option_args a = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(option_ports(&a, wrong[i]));
	assert_int_equal(a.low, 0);
	assert_true(option_ports(&a, "1-65535"));
	assert_int_equal(a.high, 65535);
	assert_true(option_ports(&a, "7-7"));
	assert_int_equal(a.low, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse__commands),
		cmocka_unit_test(parse__says_what_is_wrong),
		cmocka_unit_test(ports__are_two_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
