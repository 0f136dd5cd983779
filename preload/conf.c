/* SPDX-License-Identifier: BSD-2-Clause */
#include "conf.h"

#include <stdlib.h>
#include <string.h>

#include "part/cc.h"

struct conf conf;

enum { MAX_THREADS = 64 };

/* The copy outlives what the program does to its environment. */
static void set_iface(const char *name)
{
	static char copy[16];

	if (!name || !*name || strlen(name) >= sizeof(copy))
		return;
	memcpy(copy, name, strlen(name) + 1);
	conf.iface = copy;
	conf.lo = strcmp(copy, "lo") == 0;
}

static unsigned threads(const char *mode)
{
	static const char key[] = "threads=";
	unsigned n = 0;

	if (!mode || strncmp(mode, key, sizeof(key) - 1) != 0)
		return 0;
	for (mode += sizeof(key) - 1; *mode >= '0' && *mode <= '9'; mode++)
		if (n <= MAX_THREADS)
			n = n * 10 + (unsigned)(*mode - '0');
	return n <= MAX_THREADS ? n : MAX_THREADS;
}

void conf_init(void)
{
	const char *io = getenv("TUX_IO");
	const char *attach = getenv("TUX_ATTACH");
	const char *zerocopy = getenv("TUX_ZERO_COPY");
	const char *cc = getenv("TUX_CONGESTION");
	const char *verbose = getenv("TUX_VERBOSE");

	set_iface(getenv("TUX_IFACE"));
	conf.threads = threads(getenv("TUX_MODE"));
	conf.io = io && strcmp(io, "udp") == 0 ? TUX_IO_UDP : TUX_IO_XDP;
	conf.attach_start = attach && strcmp(attach, "start") == 0;
	if (zerocopy && strcmp(zerocopy, "auto") == 0)
		conf.zerocopy = TUX_ZEROCOPY_AUTO;
	else if (zerocopy && strcmp(zerocopy, "on") == 0)
		conf.zerocopy = TUX_ZEROCOPY_ON;
	conf.cc = cc && strcmp(cc, tux_cc_newreno.name) == 0 ?
		  &tux_cc_newreno : NULL;
	conf.verbose = verbose && *verbose && strcmp(verbose, "0") != 0;
}
