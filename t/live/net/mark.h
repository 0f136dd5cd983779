/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark - what a router with ECN does to UDP: of packets that may be marked, each
 * n-th gets CE
 */
#ifndef TUX_T_LIVE_MARK_H
#define TUX_T_LIVE_MARK_H

#include <stddef.h>
#include <stdint.h>

struct mark {
	unsigned every;		/* n; 0: none is marked */
	uint64_t ect_n[2];	/* packets that might be, from either side */
	uint64_t ce_n[2];	/* ... that were */
};

/* A frame of @len bytes at @eth came from @side. */
void mark_frame(struct mark *m, unsigned side, uint8_t *eth, size_t len);

#endif
