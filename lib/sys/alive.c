/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "sys/sys.h"

enum { PATH_LEN = 32, STAT_LEN = 128 };

/* "/proc/@pid/stat", without stdio. */
static void alive_path(char *path, int pid)
{
	char digits[12];
	unsigned n = 0;

	do
		digits[n++] = (char)('0' + pid % 10);
	while ((pid /= 10) > 0);
	memcpy(path, "/proc/", 6);
	path += 6;
	while (n > 0)
		*path++ = digits[--n];
	memcpy(path, "/stat", 6);
}

/* The state follows the name, which is in parentheses and may have some. */
static char alive_state(const char *line)
{
	const char *end = strrchr(line, ')');

	return end && end[1] ? end[2] : 0;
}

enum tux_alive tux_alive_look(int pid)
{
	char path[PATH_LEN], line[STAT_LEN];
	long fd, n;

	alive_path(path, pid);
	fd = TUX_SYS(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0,
		     0, 0);
	if (fd == -ENOENT && TUX_SYS(SYS_kill, pid, 0, 0, 0, 0, 0) == -ESRCH)
		return TUX_ALIVE_GONE;
	if (fd < 0)
		return TUX_ALIVE_RUNS;
	n = tux_sys_read((int)fd, line, sizeof(line) - 1);
	tux_sys_close((int)fd);
	line[n > 0 ? n : 0] = 0;
	switch (alive_state(line)) {
	case 'Z': case 'X': case 'x':
		return TUX_ALIVE_GONE;
	case 'T': case 't':
		return TUX_ALIVE_STOPPED;
	default:
		return n == -ESRCH ? TUX_ALIVE_GONE : TUX_ALIVE_RUNS;
	}
}
