/* SPDX-License-Identifier: BSD-2-Clause */
#include "handshake/cgroup.h"

#include <string.h>
#include <unistd.h>

#include "../test.h"

static void path__only_of_version_2(void **state)
{
	(void)state;
	assert_string_equal(tux_cgroup_path("0::/"), "/");
	assert_string_equal(tux_cgroup_path("0::/user.slice/a b"),
			    "/user.slice/a b");
	assert_null(tux_cgroup_path("4:memory:/x"));
	assert_null(tux_cgroup_path("0::"));
	assert_null(tux_cgroup_path("10::/"));
	assert_null(tux_cgroup_path(""));
}

static void is(const char *line, const char *path, const char *want)
{
	char dir[40];

	if (!want) {
		assert_false(tux_cgroup_dir(dir, sizeof(dir), line, path));
		return;
	}
	assert_true(tux_cgroup_dir(dir, sizeof(dir), line, path));
	assert_string_equal(dir, want);
}

static void dir__joins_mount_and_path(void **state)
{
	static const char *const whole =
		"36 35 0:31 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 c rw";
	static const char *const part =
		"36 35 0:31 /app /mnt rw - cgroup2 cgroup2 rw";

	(void)state;
	is(whole, "/", "/sys/fs/cgroup/");
	is(whole, "/a/b", "/sys/fs/cgroup/a/b");
	is(part, "/app", "/mnt");
	is(part, "/app/x", "/mnt/x");
	is(part, "/apple", NULL);
	is(part, "/", NULL);
	is("36 35 0:31 / /a\\040b rw - cgroup2 c rw", "/x", "/a b/x");
	/* no room for it */
	is(whole, "/0123456789012345678901234567890", NULL);
}

static void dir__only_of_version_2(void **state)
{
	(void)state;
	is("36 35 0:31 / /sys/fs/cgroup rw - cgroup cgroup2 rw", "/", NULL);
	is("36 35 0:31 / /cgroup2 rw - cgroup2x c rw", "/", NULL);
	is("36 35 0:31 / /cgroup2 rw", "/", NULL);
	is("36 35", "/", NULL);
	is("", "/", NULL);
	is(" - cgroup2 ", "/", NULL);
}

/* Whether there is one depends on the machine; if so, it is a directory. */
static void open__here(void **state)
{
	int fd = tux_cgroup_open();

	(void)state;
	if (fd < 0)
		return;
	assert_int_equal(faccessat(fd, "cgroup.procs", F_OK, 0), 0);
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(path__only_of_version_2),
		cmocka_unit_test(dir__joins_mount_and_path),
		cmocka_unit_test(dir__only_of_version_2),
		cmocka_unit_test(open__here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
