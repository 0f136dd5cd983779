/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel.h"

#include <linux/magic.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

bool kernel_since(const char *release, int major, int minor)
{
	int has_major = 0, has_minor = 0;

	if (sscanf(release, "%d.%d", &has_major, &has_minor) != 2)
		return false;
	return has_major > major || (has_major == major && has_minor >= minor);
}

bool kernel_is_since(int major, int minor)
{
	struct utsname u;

	return !uname(&u) && kernel_since(u.release, major, minor);
}

static bool has_magic(const char *path, unsigned long magic)
{
	struct statfs s;

	return !statfs(path, &s) && (unsigned long)s.f_type == magic;
}

bool kernel_is_cgroup(const char *path)
{
	return has_magic(path, CGROUP2_SUPER_MAGIC);
}

bool kernel_is_bpffs(const char *path)
{
	return has_magic(path, BPF_FS_MAGIC);
}
