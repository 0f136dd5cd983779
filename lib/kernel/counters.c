/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/counters.h"

#include <fcntl.h>
#include <string.h>

#include "sys/fd.h"
#include "sys/sys.h"

enum {
	CHUNK = 1024,			/* lines are shorter */
	TX_BYTES = 8,			/* fields after those received */
};

int tux_counters_open(void)
{
	return tux_fd_lift((int)TUX_SYS(SYS_openat, AT_FDCWD, "/proc/net/dev",
					O_RDONLY | O_CLOEXEC, 0, 0, 0));
}

static const char *skip_blanks(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

static const char *field_read(const char *s, uint64_t *n)
{
	*n = 0;
	for (s = skip_blanks(s); *s >= '0' && *s <= '9'; s++)
		*n = *n * 10 + (uint64_t)(*s - '0');
	return s;
}

/* @line, without its end: "  eth0: BYTES PACKETS ... BYTES PACKETS ..." */
static bool line_read(const char *line, const char *ifname, uint64_t *bytes)
{
	size_t len = strlen(ifname);
	const char *s = skip_blanks(line);
	uint64_t rx, n = 0;
	unsigned i;

	if (strncmp(s, ifname, len) != 0 || s[len] != ':')
		return false;
	s = field_read(s + len + 1, &rx);
	for (i = 0; i < TX_BYTES; i++)
		s = field_read(s, &n);
	*bytes = rx + n;
	return true;
}

/* Reads the whole lines in @buf; how many bytes those are. */
static size_t lines_read(char *buf, const char *ifname, uint64_t *bytes,
			 bool *found)
{
	char *line = buf, *end;

	while (!*found && (end = strchr(line, '\n')) != NULL) {
		*end = 0;
		*found = line_read(line, ifname, bytes);
		line = end + 1;
	}
	return (size_t)(line - buf);
}

bool tux_counters_read(int fd, const char *ifname, uint64_t *bytes)
{
	char buf[CHUNK + 1];
	bool found = false;
	size_t n = 0, done;
	long at = 0, r;

	while (!found && n < CHUNK) {
		r = TUX_SYS(SYS_pread64, fd, buf + n, CHUNK - n, at, 0, 0);
		if (r <= 0)
			return false;
		at += r;
		n += (size_t)r;
		buf[n] = 0;
		done = lines_read(buf, ifname, bytes, &found);
		n -= done;
		memmove(buf, buf + done, n);
	}
	return found;
}
