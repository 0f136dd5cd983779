/* SPDX-License-Identifier: BSD-2-Clause */
#include "pins.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct pins_link pins_links[PINS_LINKS] = {
	/* First the handshake: a mark is then never without it. */
	{ "tux_shake", "handshake", BPF_CGROUP_SOCK_OPS },
	{ "tux_option", "setsockopt", BPF_CGROUP_SETSOCKOPT },
};

const struct pins_map pins_maps[PINS_MAPS] = {
	{ "marks", "marks", true },
	{ "listeners", "listeners", true },
	{ "quotas", "quotas", true },
	{ ".rodata.secret", "secret", true },
	{ ".rodata.settings", "settings", false },
	{ ".rodata.layout", "layout", false },
};

int pins_open(const struct place *p, const char *name)
{
	char path[PATH_MAX];

	return bpf_obj_get(place_pin(p, name, path, sizeof(path)));
}

bool pins_describe_fd(int fd, struct bpf_prog_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return !bpf_obj_get_info_by_fd(fd, info, &len);
}

bool pins_describe(const struct place *p, const char *name,
		   struct bpf_prog_info *info)
{
	int fd = pins_open(p, name);
	bool ok = fd >= 0 && pins_describe_fd(fd, info);

	if (fd >= 0)
		close(fd);
	return ok;
}

int pins_open_map(const struct place *p, const char *name, size_t size)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);
	int fd = pins_open(p, name);

	if (fd < 0 || (!bpf_obj_get_info_by_fd(fd, &info, &len) &&
		       info.value_size == size))
		return fd;
	close(fd);
	return -1;
}

int pins_renew(const struct place *p, const char *name, int fd)
{
	char path[PATH_MAX], fresh[PATH_MAX];
	int err;

	place_pin(p, name, path, sizeof(path));
	place_pin(p, "fresh", fresh, sizeof(fresh));
	unlink(fresh);
	err = bpf_obj_pin(fd, fresh);
	if (!err && rename(fresh, path))
		err = -errno;
	return err;
}
