/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins - the objects of tuxd's programs that have names in a file system for BPF
 */
#ifndef TUXD_PINS_H
#define TUXD_PINS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "place.h"

enum { PINS_LINKS = 2, PINS_MAPS = 6 };

extern const struct pins_link {
	const char *program, *pin;	/* the pin is the link's; the program's has
					 * its own name */
	uint32_t attach;
} pins_links[PINS_LINKS];

extern const struct pins_map {
	const char *map, *pin;
	bool stays;			/* when newer programs take over */
} pins_maps[PINS_MAPS];

/* What has the name at @p; negative: nothing. */
int pins_open(const struct place *p, const char *name);

/* The same, of a map whose values have @size bytes. */
int pins_open_map(const struct place *p, const char *name, size_t size);

/* The program that is pinned as @name.  To open it by its number would take more
 * privilege than to load it. */
bool pins_describe(const struct place *p, const char *name,
		   struct bpf_prog_info *info);
bool pins_describe_fd(int fd, struct bpf_prog_info *info);

/* From now on @name is that of @fd; in one step.  0 or -errno. */
int pins_renew(const struct place *p, const char *name, int fd);

#endif
