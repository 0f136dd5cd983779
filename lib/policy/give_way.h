/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * give_way - whether an interface should be left to the other programs on it
 *
 * An XDP program on an interface takes segmentation offload from every program
 * there.  A bulk transfer over the kernel's TCP then costs the host some 3 us
 * more for each packet of 1500 bytes, 6 us for one of 9000.  The
 * connections on Tux gain some 10 us for each packet that is answered.
 *
 * Each look adds to a debt what the others have lost since the last look, and
 * takes from it what the connections have gained and one in twenty of the time.
 * The interface is given up when the debt reaches 40 ms of a processor and what
 * the connections gain in a second, or 150 ms: the less they gain, the less they
 * lose by that, and the sooner it comes.  Three things give nothing up: a spike of
 * 20 MB in packets of 1500 bytes beside connections that gain nothing; one of
 * 75 MB beside connections that gain much; and any loss below five per cent of a
 * processor, whatever the debt, which may be left from connections that have ended.
 *
 * A bulk transfer beside connections that gain nothing costs a processor or two,
 * and reaches that debt after 20 to 40 ms.  Looks are 25 ms apart, and 10 ms
 * apart once a tenth of the debt has come together, so the debt is seen at most
 * 10 ms after that.
 *
 * While the interface is given up, what the connections carried last, which they
 * now carry over TCP, does not count as the others'.  The interface is taken
 * again when the hold is over and the debt is paid off.  What the connections
 * carry over TCP can have become more in the meantime, and cannot be told from
 * what the others carry.  So the interface is taken for a trial after four holds
 * in any case.
 *
 * These functions are pure.  Counters and the time go in, a decision comes out.
 */
#ifndef TUX_POLICY_GIVE_WAY_H
#define TUX_POLICY_GIVE_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "policy/backoff.h"

/* Counters, which only grow. */
struct tux_give_way_seen {
	uint64_t link;		/* bytes on the interface, both directions */
	uint64_t own;		/* of them, over our AF_XDP sockets */
	uint64_t rx, tx;	/* packets over our AF_XDP sockets */
};

enum tux_give_way_do {
	TUX_GIVE_WAY_STAY,
	TUX_GIVE_WAY_GIVE,		/* give the interface up */
	TUX_GIVE_WAY_TAKE,		/* it may be taken again */
};

struct tux_give_way {
	bool away;		/* the interface is given up */
	bool begun;		/* `seen` is valid */
	struct tux_give_way_seen seen;	/* at the last look */
	tux_time at;			/* ... and its time */
	tux_time debt;		/* of a processor's time */
	tux_time since;		/* `away` since then */
	tux_time hold;		/* ... for so long at least */
	struct tux_backoff holds;
	/* what the last look has found, as time of a processor in a second */
	tux_time cost, gain;
	uint64_t others;	/* bytes in a second */
	uint64_t own;		/* ... over our sockets, before it was given up */
};

void tux_give_way_init(struct tux_give_way *y);

/* The counters begin anew: the next look only notes them. */
void tux_give_way_begin(struct tux_give_way *y);

/* Another interface is used from now on.  The hold stays as long. */
void tux_give_way_leave(struct tux_give_way *y);

/* @s has been counted at @now on an interface with @mtu. */
enum tux_give_way_do tux_give_way_look(struct tux_give_way *y,
				       const struct tux_give_way_seen *s,
				       uint32_t mtu, tux_time now);

/* When the next look is due, after one has been taken. */
tux_time tux_give_way_next(const struct tux_give_way *y);

#endif
