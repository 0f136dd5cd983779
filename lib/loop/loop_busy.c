/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/loop_busy.h"

#include <fcntl.h>

#include "sys/defer.h"
#include "sys/fd.h"
#include "sys/sys.h"
#include "sys/take.h"

enum {
	LINE = 96,		/* longer than three numbers */
	AGAIN_S = 10,		/* where the kernel does not tell */
};

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

/* How long has this thread been on a processor, and waited for one?
 * proc_pid_schedstat(5), in ns.  False: the kernel does not tell. */
static bool own_times(tux_time *ran, tux_time *waited)
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
	*ran = take_number(&s);
	*waited = take_number(&s);
	return true;
}

bool tux_loop_look_busy(struct tux_loop *l)
{
	struct tux_busy_seen s = {
		.thread = (uintptr_t)&tux_defer,
		.sleeps = l->sleeps,
		.packets = l->packets,
	};

	if (!own_times(&s.ran, &s.waited) && !l->busy.away) {
		l->busy.next = l->now + TUX_SEC(AGAIN_S);
		return false;
	}
	return tux_busy_look(&l->busy, &s, l->now) != TUX_BUSY_STAY;
}
