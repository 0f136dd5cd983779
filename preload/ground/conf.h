/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conf - what tuxrun told us, in the environment
 *
 * TUX_IFACE    the interface whose connections are taken; unset: any but lo
 * TUX_MODE     inline (the default) or threads=N, as in stack/mode.h
 * TUX_IO       xdp (the default) or udp
 * TUX_ATTACH   start: take the interface at once; or demand (the default)
 * TUX_ZERO_COPY  auto or on: try zero copy; or off (the default)
 * TUX_PATH     auto (the default), tux or tcp: which path connections take
 * TUX_VERBOSE  1: a line on standard error for each connection
 */
#ifndef TUX_PRELOAD_CONF_H
#define TUX_PRELOAD_CONF_H

#include <stdbool.h>

#include "stack/channel.h"

struct conf {
	const char *iface;	/* NULL: any but lo */
	bool lo;		/* ... is lo */
	unsigned threads;	/* 0: inline */
	const char *bad_mode;	/* what TUX_MODE said instead; or NULL */
	enum tux_io io;
	bool attach_start;
	enum tux_zerocopy zerocopy;
	const struct tux_cc_ops *cc;	/* NULL: the usual */
	enum tux_path_mode path;
	bool verbose;
};

extern struct conf conf;

/* Reads the environment. */
void conf_init(void);

#endif
