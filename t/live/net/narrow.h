/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * narrow - a link that carries less than those before it, whose router tells
 * nobody: UDP in longer packets vanishes, all else passes
 */
#ifndef TUX_T_LIVE_NARROW_H
#define TUX_T_LIVE_NARROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct narrow {
	unsigned longest;	/* bytes of an IP packet; 0: any */
	bool on;		/* the link is in the path; the owner sets it */

	/* Since it is on, from either side: */
	uint64_t too_long_n[2];		/* UDP packets that vanished */
	uint64_t fitting_n[2];		/* ... that passed */
	uint64_t fragment_n[2];		/* ... of either that were fragments */
	uint64_t tcp_bytes[2];		/* of TCP's payload */
};

/* A frame of @len bytes at @eth came from @side.  False: it is to be dropped. */
bool narrow_frame(struct narrow *w, unsigned side, const uint8_t *eth,
		  size_t len);

#endif
