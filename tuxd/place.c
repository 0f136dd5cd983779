/* SPDX-License-Identifier: BSD-2-Clause */
#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel.h"
#include "handshake/cgroup.h"

/* ---- the cgroup ---- */

static bool cgroup_name(struct place *p, const char *given, struct fault *f)
{
	if (given) {
		if (strlen(given) >= sizeof(p->cgroup))
			return fault_is(f, "the name of the cgroup is too long");
		strcpy(p->cgroup, given);
		return true;
	}
	if (!tux_cgroup_root(p->cgroup, sizeof(p->cgroup)))
		return true;
	return fault_is(f, "no cgroup-v2 tree is mounted; 'mount -t cgroup2 "
			"none DIR' mounts one");
}

static bool cgroup_open(struct place *p, struct fault *f)
{
	struct stat st;

	p->fd = open(p->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->fd < 0 || fstat(p->fd, &st))
		return fault_is(f, "%s: %s; --cgroup names a directory of a "
				"cgroup-v2 tree", p->cgroup, strerror(errno));
	if (!kernel_is_cgroup(p->cgroup))
		return fault_is(f, "%s is not in a cgroup-v2 tree", p->cgroup);
	p->id = st.st_ino;
	return true;
}

/* ---- the pins ---- */

static bool name_pins(struct place *p, const char *bpffs, struct fault *f)
{
	int n;

	if (!kernel_is_bpffs(bpffs))
		return fault_is(f, "there is no file system for BPF objects at "
				"%s; 'mount -t bpf bpf %s' mounts one", bpffs,
				bpffs);
	n = snprintf(p->base, sizeof(p->base), "%s/tux", bpffs);
	if (n < 0 || (size_t)n + 32 >= sizeof(p->pins))
		return fault_is(f, "the name behind --bpffs is too long");
	memcpy(p->pins, p->base, (size_t)n);
	snprintf(p->pins + n, sizeof(p->pins) - (size_t)n, "/cgroup-%" PRIu64,
		 p->id);
	return true;
}

bool place_find(struct place *p, const struct option_args *a, struct fault *f)
{
	memset(p, 0, sizeof(*p));
	p->fd = p->lock = -1;
	return cgroup_name(p, a->cgroup, f) && cgroup_open(p, f) &&
	       name_pins(p, a->bpffs, f);
}

static bool no_way(const char *path, struct fault *f)
{
	int err = errno;

	if (err == EPERM || err == EACCES)
		return fault_is(f, "%s: %s; run tuxd as root", path,
				strerror(err));
	return fault_is(f, "%s: %s", path, strerror(err));
}

static bool make_dir(const char *path, struct fault *f)
{
	return !mkdir(path, 0700) || errno == EEXIST || no_way(path, f);
}

/* In some mounts every user may make a directory, and could take what is in
 * it away. */
static bool is_ours(const struct place *p, struct fault *f)
{
	struct stat st;

	if (fstat(p->lock, &st))
		return no_way(p->base, f);
	if (st.st_uid == geteuid() && !(st.st_mode & 022))
		return true;
	return fault_is(f, "%s belongs to another user; 'rm -r' removes it",
			p->base);
}

static void unlock_base(struct place *p)
{
	close(p->lock);
	p->lock = -1;
}

/* Opens the base, made if need be, and waits until no other tuxd has it. */
static bool lock_base(struct place *p, struct fault *f)
{
	/* Another tuxd may remove it before it is opened. */
	do {
		if (!make_dir(p->base, f))
			return false;
		p->lock = open(p->base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
				       O_CLOEXEC);
	} while (p->lock < 0 && errno == ENOENT);
	if (p->lock < 0 || flock(p->lock, LOCK_EX))
		return no_way(p->base, f);
	if (is_ours(p, f))
		return true;
	unlock_base(p);
	return false;
}

/* The tuxd that we have waited for may have removed it. */
static bool is_removed(const struct place *p)
{
	struct stat st;

	return fstat(p->lock, &st) || !st.st_nlink;
}

bool place_lock(struct place *p, struct fault *f)
{
	while (lock_base(p, f)) {
		if (!is_removed(p))
			return true;
		unlock_base(p);
	}
	return false;
}

bool place_make(const struct place *p, struct fault *f)
{
	return make_dir(p->pins, f);
}

char *place_pin(const struct place *p, const char *name, char *path,
		size_t size)
{
	snprintf(path, size, "%s/%s", p->pins, name);
	return path;
}

bool place_has_pins(const struct place *p, bool *has, struct fault *f)
{
	struct stat st;

	*has = !stat(p->pins, &st);
	return *has || errno == ENOENT || no_way(p->pins, f);
}

bool place_clear(const struct place *p, struct fault *f)
{
	DIR *d = opendir(p->pins);
	struct dirent *e;
	bool ok = true;

	if (!d)
		return errno == ENOENT || no_way(p->pins, f);
	while (ok && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			ok = !unlinkat(dirfd(d), e->d_name, 0) ||
			     no_way(p->pins, f);
	closedir(d);
	return ok && (!rmdir(p->pins) || no_way(p->pins, f));
}

void place_close(struct place *p)
{
	if (p->lock >= 0) {
		rmdir(p->base);		/* unless it has pins */
		unlock_base(p);
	}
	if (p->fd >= 0)
		close(p->fd);
}
