/* SPDX-License-Identifier: BSD-2-Clause */
#include "handshake/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "sys/sys.h"

/* ---- lines ---- */

struct lines {			/* of a file; too long ones are cut */
	int fd;
	char buf[2 * PATH_MAX];
	size_t at, len;
};

static int open_lines(struct lines *l, const char *name)
{
	l->fd = (int)TUX_SYS(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC,
			     0, 0, 0);
	l->at = l->len = 0;
	return l->fd < 0 ? l->fd : 0;
}

/* The next line, until the call after this; NULL at the end. */
static char *next_line(struct lines *l)
{
	size_t rest = l->len - l->at;
	char *end;
	long n;

	memmove(l->buf, l->buf + l->at, rest);
	l->at = 0;
	l->len = rest;
	while (!(end = memchr(l->buf, '\n', l->len)) &&
	       l->len < sizeof(l->buf) - 1) {
		n = tux_sys_read(l->fd, l->buf + l->len,
				 sizeof(l->buf) - 1 - l->len);
		if (n <= 0)
			break;
		l->len += (size_t)n;
	}
	if (!l->len)
		return NULL;
	if (!end)
		end = l->buf + l->len;
	*end = 0;
	l->at = (size_t)(end - l->buf) + 1;
	if (l->at > l->len)
		l->at = l->len;
	return l->buf;
}

/* ---- what they say ---- */

const char *tux_cgroup_path(const char *line)
{
	return !strncmp(line, "0::/", 4) ? line + 3 : NULL;
}

/* Field @n of @line, from 0 on, and its length. */
static const char *field(const char *line, unsigned n, size_t *len)
{
	while (n-- && line)
		line = (line = strchr(line, ' ')) ? line + 1 : NULL;
	*len = line ? strcspn(line, " ") : 0;
	return line;
}

/* What is left of @path below @root; NULL: it is not below it. */
static const char *below(const char *path, const char *root, size_t len)
{
	if (len == 1)
		len = 0;		/* "/" */
	if (strncmp(path, root, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path + len;
}

/* Spaces and the like are written as three octal digits behind a backslash. */
static size_t unescape(char *to, const char *from, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++) {
		if (from[i] == '\\' && i + 3 < len) {
			to[n++] = (char)((from[i + 1] - '0') << 6 |
					 (from[i + 2] - '0') << 3 |
					 (from[i + 3] - '0'));
			i += 3;
		} else {
			to[n++] = from[i];
		}
	}
	return n;
}

bool tux_cgroup_dir(char *dir, size_t size, const char *line, const char *path)
{
	size_t root_len, at_len, type_len, n;
	const char *root = field(line, 3, &root_len);
	const char *at = field(line, 4, &at_len);
	const char *type = strstr(line, " - ");
	const char *rest;

	if (!root || !at || !type)
		return false;
	type = field(type, 2, &type_len);
	if (!type || type_len != 7 || strncmp(type, "cgroup2", 7))
		return false;
	rest = below(path, root, root_len);
	if (!rest || at_len + strlen(rest) >= size)
		return false;
	n = unescape(dir, at, at_len);
	memcpy(dir + n, rest, strlen(rest) + 1);
	return true;
}

/* ---- ours ---- */

static int own_path(char *path, size_t size)
{
	struct lines l;
	const char *at = NULL;
	const char *line;
	int err = open_lines(&l, "/proc/self/cgroup");

	if (err)
		return err;
	err = -ENOENT;
	while (err && (line = next_line(&l))) {
		at = tux_cgroup_path(line);
		if (at && strlen(at) < size) {
			memcpy(path, at, strlen(at) + 1);
			err = 0;
		}
	}
	tux_sys_close(l.fd);
	return err;
}

static int open_dir(const char *name)
{
	return (int)TUX_SYS(SYS_openat, AT_FDCWD, name,
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
}

/* Where @path of the tree is mounted, into @size bytes at @dir. */
static int find_dir(char *dir, size_t size, const char *path)
{
	const char *line;
	struct lines l;
	int err = open_lines(&l, "/proc/self/mountinfo");

	if (err)
		return err;
	err = -ENOENT;
	while (err && (line = next_line(&l)))
		if (tux_cgroup_dir(dir, size, line, path))
			err = 0;
	tux_sys_close(l.fd);
	return err;
}

int tux_cgroup_open(void)
{
	char path[PATH_MAX], dir[PATH_MAX];
	int err = own_path(path, sizeof(path));

	if (!err)
		err = find_dir(dir, sizeof(dir), path);
	return err ? err : open_dir(dir);
}

int tux_cgroup_root(char *dir, size_t size)
{
	int err = find_dir(dir, size, "/");
	size_t n = err ? 0 : strlen(dir);

	if (n > 1)
		dir[n - 1] = 0;		/* the slash at its end */
	return err;
}
