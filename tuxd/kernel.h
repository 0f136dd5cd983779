/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel - what the kernel of this host has, and says
 */
#ifndef TUXD_KERNEL_H
#define TUXD_KERNEL_H

#include <stdbool.h>

/* Is @release, as uname(2) has it, version @major.@minor or newer? */
bool kernel_since(const char *release, int major, int minor);

/* ... the running one? */
bool kernel_is_since(int major, int minor);

/* Is the file system of directory @path a cgroup-v2 tree, or for BPF objects? */
bool kernel_is_cgroup(const char *path);
bool kernel_is_bpffs(const char *path);

#endif
