/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_times - the processor time that the calling thread gets
 */
#include "sys/thread_times.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "sys/fd.h"
#include "sys/sys.h"
#include "sys/take.h"

enum { LINE = 96 };		/* longer than three numbers */

/* A number of @s, which goes on behind it. */
static tux_time take_number(const char **s)
{
	tux_time n = 0;

	while (**s == ' ')
		++*s;
	for (; **s >= '0' && **s <= '9'; ++*s)
		n = n * 10 + (tux_time)(**s - '0');
	return n;
}

/* In ns. */
static bool take_schedstat(struct tux_thread_times *t)
{
	char line[LINE];
	const char *s = line;
	long fd = TUX_SYS(SYS_openat, AT_FDCWD,
			  (long)"/proc/thread-self/schedstat",
			  O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long n;

	if (fd < 0)
		return false;
	n = tux_sys_read((int)fd, line, sizeof(line) - 1);
	tux_fd_close((int)fd);
	if (n <= 0)
		return false;
	line[n] = 0;
	t->ran = take_number(&s);
	t->waited = take_number(&s);
	return true;
}

bool tux_thread_times(struct tux_thread_times *t)
{
	struct rusage u;

	if (!take_schedstat(t) || tux_sys_getrusage(RUSAGE_THREAD, &u) < 0)
		return false;
	t->sleeps = (uint64_t)u.ru_nvcsw;
	return true;
}
