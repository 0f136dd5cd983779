/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intrusion - frames that somebody on the link makes up who is neither end of a
 * connection
 *
 * Each kind knows so much and no more: addresses and ports; or ids and numbers
 * as well; or all that was ever sent.  None knows a key.
 */
#ifndef TUX_T_LIVE_INTRUSION_H
#define TUX_T_LIVE_INTRUSION_H

#include "capture.h"

enum { INTRUSION_ROOM = 2048 };

struct intrusion {
	const char *name;
	bool tcp_or_icmp;		/* answers are the kernel's */

	/* A frame in the INTRUSION_ROOM bytes at @buf, in the name of who sends
	 * on @w; its length, and where it begins in *@frame.  0: nothing to make
	 * it of. */
	size_t (*make)(const struct capture_way *w, uint8_t *buf,
		       uint8_t **frame, tux_time now);
};

/* The last has no name. */
extern const struct intrusion intrusions[];

#endif
