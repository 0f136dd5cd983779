/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option - what the command line of tuxd says
 */
#ifndef TUXD_OPTION_H
#define TUXD_OPTION_H

#include <stdbool.h>
#include <stdint.h>

enum option_do {
	OPTION_LOAD,
	OPTION_UNLOAD,
	OPTION_STATUS,
	OPTION_HELP,
	OPTION_VERSION,
};

struct option_args {
	enum option_do what;
	const char *cgroup;		/* NULL: the root of the tree */
	const char *bpffs;
	uint16_t low, high;		/* UDP ports; 0, 0: any */
};

/* Parses @argv.  NULL, or what is wrong with *@bad. */
const char *option_parse(struct option_args *a, int argc, char **argv,
			 const char **bad);

/* "LO-HI" into @a. */
bool option_ports(struct option_args *a, const char *text);

#endif
