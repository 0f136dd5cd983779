/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve - the two ways in which tuxkv serves
 *
 * push: callbacks on the network thread run the procedures (pushdown).  They get
 * their requests as messages or on the stream, as the client likes.
 *
 * sockets: the conventional way, which knows nothing of libtux.  A thread reads
 * requests from sockets, and workers run the procedures.  Under tuxrun, the sockets
 * are on Tux.
 */
#ifndef TUXKV_SERVE_H
#define TUXKV_SERVE_H

#include <tux.h>

#include "batch.h"

struct serve_opts {
	const char *host;
	uint16_t port;		/* 0: any; "port N" is printed */
	unsigned workers;	/* threads; push: for long procedures, 0: these run
				 * in callbacks, too */
	struct tux_opts tux;	/* push */
};

/* Until SIGTERM or SIGINT.  0 or -errno. */
int serve_push(struct engine *e, const struct serve_opts *o);
int serve_sockets(struct engine *e, const struct serve_opts *o);

#endif
