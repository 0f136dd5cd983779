/* SPDX-License-Identifier: BSD-2-Clause */
#include "ground/conf.h"

#include <stdlib.h>
#include <string.h>

#include "stack/mode.h"
#include "transport/cc.h"

struct conf conf;

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

/* Of a mode that is not known, say_init() tells. */
static void set_mode(const char *mode)
{
	int n = mode && *mode ? tux_mode_threads(mode) : 0;

	conf.threads = n > 0 ? (unsigned)n : 0;
	conf.bad_mode = n < 0 ? mode : NULL;
}

static enum tux_io io_of(const char *name)
{
	if (name && !strcmp(name, "udp"))
		return TUX_IO_UDP;
	if (name && !strcmp(name, "xdp"))
		return TUX_IO_XDP;
	return TUX_IO_AUTO;
}

static enum tux_path_mode path_mode(const char *name)
{
	if (name && !strcmp(name, "tux"))
		return TUX_PATH_MODE_TUX;
	if (name && !strcmp(name, "tcp"))
		return TUX_PATH_MODE_TCP;
	return TUX_PATH_MODE_AUTO;
}

void conf_init(void)
{
	const char *attach = getenv("TUX_ATTACH");
	const char *zerocopy = getenv("TUX_ZERO_COPY");
	const char *cc = getenv("TUX_CONGESTION");
	const char *verbose = getenv("TUX_VERBOSE");

	set_iface(getenv("TUX_IFACE"));
	set_mode(getenv("TUX_MODE"));
	conf.io = io_of(getenv("TUX_IO"));
	conf.attach_start = attach && strcmp(attach, "start") == 0;
	if (zerocopy && strcmp(zerocopy, "auto") == 0)
		conf.zerocopy = TUX_ZEROCOPY_AUTO;
	else if (zerocopy && strcmp(zerocopy, "on") == 0)
		conf.zerocopy = TUX_ZEROCOPY_ON;
	conf.cc = cc && strcmp(cc, tux_cc_newreno.name) == 0 ?
		  &tux_cc_newreno : NULL;
	conf.path = path_mode(getenv("TUX_PATH"));
	conf.verbose = verbose && *verbose && strcmp(verbose, "0") != 0;
}
