/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carried - what the kernel says that a TCP socket has carried
 *
 * It answers several questions, between which bytes may be acknowledged or
 * arrive.  So the first question is asked once more behind the others, and all
 * are asked again until its answer is the same.  Then the answers are of one
 * moment, if no thread of the program reads or writes meanwhile.
 */
#ifndef TUX_SYS_CARRIED_H
#define TUX_SYS_CARRIED_H

#include <stdbool.h>
#include <stdint.h>

struct tux_carried {		/* bytes of the application */
	uint64_t sent;		/* that TCP has taken from it, */
	uint64_t received;	/* and that it has read */
};

/* Of socket @fd; @active: it called connect().  0, or -errno; -EAGAIN: the
 * answers never were of one moment. */
int tux_carried_look(int fd, bool active, struct tux_carried *c);

/* Did socket @fd, established, call connect()?  1, or 0: it was accepted; or
 * -errno; -EAGAIN: as above, or the kernel's numbers do not tell. */
int tux_carried_active(int fd);

/* Is socket @fd established, so that neither direction was shut down here? */
bool tux_carried_open(int fd);

#endif
