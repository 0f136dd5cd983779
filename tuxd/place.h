/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place - the cgroup that the programs are on, and where their pins are
 *
 * The pins of a cgroup have a directory of their own, named by the cgroup's
 * number: BPFFS/tux/cgroup-N.  Only root can look into it.
 */
#ifndef TUXD_PLACE_H
#define TUXD_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "fault.h"
#include "option.h"

struct place {
	char cgroup[PATH_MAX];
	uint64_t id;			/* of the cgroup */
	int fd;				/* its directory; -1 */
	char base[PATH_MAX];		/* BPFFS/tux */
	char pins[PATH_MAX];		/* ... /cgroup-N */
	int lock;			/* on base; -1 */
};

/* Finds both as @a says; the pins need not be there. */
bool place_find(struct place *p, const struct option_args *a, struct fault *f);

/* Keeps other tuxds out until place_close(). */
bool place_lock(struct place *p, struct fault *f);

/* Makes the directory of the pins. */
bool place_make(const struct place *p, struct fault *f);

/* The name of pin @name, in @size bytes at @path.  Returns @path. */
char *place_pin(const struct place *p, const char *name, char *path,
		size_t size);

/* Is the directory there? */
bool place_has_pins(const struct place *p, bool *has, struct fault *f);

/* Removes all pins and their directory. */
bool place_clear(const struct place *p, struct fault *f);

/* Removes the base as well, if it is locked and empty. */
void place_close(struct place *p);

#endif
