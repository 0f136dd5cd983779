/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring - an io_uring for reads and writes that a stack's routines make on files
 *
 * A routine hands a call to the kernel and waits, as for anything else; the
 * network thread takes what is complete once a turn.  The first call opens the
 * ring.  Where there is none, by the configuration or by the kernel, each call
 * says so, and the caller makes it another way.
 *
 * Only the thread that runs the stack touches the rings, between turns and in
 * routines that are not preempted meanwhile.  That may be another thread later:
 * so the kernel is not told that there is one (IORING_SETUP_SINGLE_ISSUER, or a
 * registered descriptor).
 */
#ifndef TUX_API_RING_H
#define TUX_API_RING_H

#include "api/api_in.h"

enum tux_ring_op {
	TUX_RING_READ,
	TUX_RING_WRITE,
	TUX_RING_READV,
	TUX_RING_WRITEV,
};

struct tux_ring_call {
	enum tux_ring_op op;
	int fd;
	const void *p;			/* bytes, or a vector of them, of */
	uint32_t len;			/* so many bytes, or pieces */
	uint64_t at;			/* place in the file, below 2^63 */
};

#ifdef TUX_IO_URING

/* The stack of the caller, a routine, if its ring can be used; NULL. */
struct tux *tux_api_ring_of(void);

/* Makes @x, in a routine of @t, and stores the result, or -errno.  False: it
 * was not made, or the kernel gave it back for a reason of the ring's; the
 * caller makes it another way. */
bool tux_api_ring_make(struct tux *t, const struct tux_ring_call *x,
		       ssize_t *ret);

/* How many calls are under way. */
unsigned tux_api_ring_busy(const struct tux *t);

/* Each turn: how many are complete. */
unsigned tux_api_ring_take(struct tux *t);

/* -ENOMEM. */
int tux_api_ring_init(struct tux *t);

/* None is under way, or the process is a child, in which the ring is the
 * parent's. */
void tux_api_ring_close(struct tux *t);

void tux_api_ring_free(struct tux *t);

#else

static inline struct tux *tux_api_ring_of(void)
{
	return NULL;
}

static inline bool tux_api_ring_make(struct tux *t,
				     const struct tux_ring_call *x,
				     ssize_t *ret)
{
	(void)t, (void)x, (void)ret;
	return false;
}

static inline unsigned tux_api_ring_busy(const struct tux *t)
{
	(void)t;
	return 0;
}

static inline unsigned tux_api_ring_take(struct tux *t)
{
	(void)t;
	return 0;
}

static inline int tux_api_ring_init(struct tux *t)
{
	(void)t;
	return 0;
}

static inline void tux_api_ring_close(struct tux *t)
{
	(void)t;
}

static inline void tux_api_ring_free(struct tux *t)
{
	(void)t;
}

#endif

#endif
