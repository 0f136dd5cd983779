/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup - the directory of this process in the cgroup-v2 tree
 */
#ifndef TUX_HANDSHAKE_CGROUP_H
#define TUX_HANDSHAKE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* A descriptor of it.  -errno: no such tree is mounted where we can see it, or
 * we are in a part of it that is not. */
int tux_cgroup_open(void);

/* Where the root of the tree is mounted, as far as this process sees it, into
 * @size bytes at @dir.  -errno. */
int tux_cgroup_root(char *dir, size_t size);

/* The path in @line of /proc/self/cgroup, if that is about version 2; NULL. */
const char *tux_cgroup_path(const char *line);

/* If @line of /proc/self/mountinfo is of a cgroup-v2 tree with @path in it: where
 * that is, into @size bytes at @dir. */
bool tux_cgroup_dir(char *dir, size_t size, const char *line, const char *path);

#endif
