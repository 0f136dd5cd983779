/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/sys.h"

enum {
	PATH_LEN = 32,
	STAT_LEN = 512,
	/* Numbers behind the state, which is the third field of proc(5) */
	THREADS = 17,
	START = 19,
};

struct alive_stat {
	uint64_t pid;
	char state;
	uint64_t threads, start;
};

/* "/proc/@pid/stat", without stdio; 0: this process's own. */
static void alive_path(char *path, int pid)
{
	char digits[12];
	unsigned n = 0;

	for (; pid > 0; pid /= 10)
		digits[n++] = (char)('0' + pid % 10);
	memcpy(path, "/proc/self", 11);
	path += n ? 6 : 10;
	while (n > 0)
		*path++ = digits[--n];
	memcpy(path, "/stat", 6);
}

/* The number that is @n fields behind @p. */
static uint64_t alive_number(const char *p, unsigned n)
{
	uint64_t v = 0;

	for (; n && p; n--) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	for (; p && *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	return v;
}

/* The state follows the name, which is in parentheses and may have some.  0 or
 * -errno. */
static int alive_read(int pid, struct alive_stat *st)
{
	char path[PATH_LEN], line[STAT_LEN];
	const char *end;
	long fd, n;

	*st = (struct alive_stat){ .pid = 0 };
	alive_path(path, pid);
	fd = TUX_SYS(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0,
		     0, 0);
	if (fd < 0)
		return (int)fd;
	n = tux_sys_read((int)fd, line, sizeof(line) - 1);
	tux_sys_close((int)fd);
	if (n < 0)
		return (int)n;
	line[n] = 0;
	st->pid = alive_number(line, 0);
	end = strrchr(line, ')');
	if (!end || !end[1])
		return 0;
	st->state = end[2];
	st->threads = alive_number(end + 2, THREADS);
	st->start = alive_number(end + 2, START);
	return 0;
}

static uint64_t alive_space(void)
{
	struct stat st;

	return TUX_SYS(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/ns/pid", &st,
		       0, 0, 0) < 0 ? 0 : st.st_ino;
}

void tux_alive_self(struct tux_alive_who *who)
{
	struct alive_stat st;

	who->pid = (int)TUX_SYS(SYS_getpid, 0, 0, 0, 0, 0, 0);
	who->space = alive_space();
	who->start = alive_read(0, &st) < 0 || st.pid != (uint64_t)who->pid ?
		     0 : st.start;
}

/* /proc has no entry for @who, or there is no /proc.  Has the process ended? */
static bool alive_missed(const struct tux_alive_who *who)
{
	uint64_t here = alive_space();

	return TUX_SYS(SYS_kill, who->pid, 0, 0, 0, 0, 0) == -ESRCH &&
	       (!here || !who->space || here == who->space);
}

/* The first thread of a process may have ended, and others run. */
enum tux_alive tux_alive_look(const struct tux_alive_who *who)
{
	struct alive_stat st;
	int err = alive_read(who->pid, &st);

	if (err == -ENOENT || err == -ESRCH)
		return alive_missed(who) ? TUX_ALIVE_GONE : TUX_ALIVE_RUNS;
	if (err || !who->start || st.start != who->start)
		return TUX_ALIVE_RUNS;
	switch (st.state) {
	case 'Z': case 'X': case 'x':
		return st.threads > 1 ? TUX_ALIVE_RUNS : TUX_ALIVE_GONE;
	case 'T': case 't':
		return TUX_ALIVE_STOPPED;
	default:
		return TUX_ALIVE_RUNS;
	}
}
