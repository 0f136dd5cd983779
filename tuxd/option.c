/* SPDX-License-Identifier: BSD-2-Clause */
#include "option.h"

#include <ctype.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum option_do what;
} commands[] = {
	{ "load", OPTION_LOAD },
	{ "unload", OPTION_UNLOAD },
	{ "status", OPTION_STATUS },
};

static const struct option longs[] = {
	{ "cgroup", required_argument, NULL, 'c' },
	{ "bpffs", required_argument, NULL, 'b' },
	{ "ports", required_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* A port at the beginning of @text, and what is behind it; 0: there is none. */
static uint16_t port_of(const char *text, const char **end)
{
	char *rest;
	long v;

	if (!isdigit((unsigned char)*text))
		return 0;
	v = strtol(text, &rest, 10);
	*end = rest;
	return v > 0 && v <= UINT16_MAX ? (uint16_t)v : 0;
}

bool option_ports(struct option_args *a, const char *text)
{
	const char *rest;
	uint16_t low, high;

	low = port_of(text, &rest);
	if (!low || *rest != '-')
		return false;
	high = port_of(rest + 1, &rest);
	if (high < low || *rest)
		return false;
	a->low = low;
	a->high = high;
	return true;
}

/* Takes option @c; false: its value is wrong. */
static bool take(struct option_args *a, int c, const char *value)
{
	switch (c) {
	case 'c':
		a->cgroup = value;
		return *value;
	case 'b':
		a->bpffs = value;
		return *value;
	case 'p':
		return option_ports(a, value);
	case 'h':
		a->what = OPTION_HELP;
		return true;
	default:
		a->what = OPTION_VERSION;
		return true;
	}
}

static bool command(struct option_args *a, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (!strcmp(commands[i].name, name)) {
			a->what = commands[i].what;
			return true;
		}
	}
	return false;
}

const char *option_parse(struct option_args *a, int argc, char **argv,
			 const char **bad)
{
	int c;

	*a = (struct option_args){ .bpffs = "/sys/fs/bpf" };
	*bad = "";
	opterr = 0;
	optind = 0;			/* anew, also for a second caller */
	while ((c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		*bad = c == '?' || c == ':' ? argv[optind - 1] : optarg;
		if (c == '?')
			return "unknown option";
		if (c == ':')
			return "a value is missing behind";
		if (!take(a, c, optarg))
			return c == 'p' ? "ports are LO-HI, from 1 to 65535, not" :
			       "an empty name is no directory";
		if (a->what == OPTION_HELP || a->what == OPTION_VERSION)
			return NULL;
	}
	*bad = optind < argc ? argv[optind] : "";
	if (optind == argc)
		return "no command; there are load, unload and status";
	if (!command(a, argv[optind]))
		return "unknown command";
	if (++optind < argc) {
		*bad = argv[optind];
		return "one command is enough, and there is also";
	}
	if (a->low && a->what != OPTION_LOAD) {
		*bad = "--ports";
		return "only load takes";
	}
	return NULL;
}
