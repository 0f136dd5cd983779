/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lone - a duplex without a loop, over a TCP socket that is two arrays
 */
#ifndef TUX_UNIT_CONN_LONE_H
#define TUX_UNIT_CONN_LONE_H

#include <errno.h>

#include "base/sip.h"
#include "conn/duplex.h"
#include "wire/frame.h"
#include "../test.h"

enum { CAP = 4096 };

static const struct tux_key key = { 1, 2 };

struct wire {
	char out[8192], in[8192];
	size_t out_len, in_len, in_at;
	size_t room;			/* TCP takes at most so many bytes */
	unsigned sends;
	bool eof;
	int err;
};

static inline ssize_t wire_send(void *arg, const struct iovec *iov, int n)
{
	struct wire *w = arg;
	size_t took = 0;
	int i;

	w->sends++;
	if (w->err)
		return -w->err;
	if (!w->room && n)
		return -EAGAIN;
	for (i = 0; i < n && w->room; i++) {
		size_t k = iov[i].iov_len < w->room ? iov[i].iov_len : w->room;

		memcpy(w->out + w->out_len, iov[i].iov_base, k);
		w->out_len += k;
		w->room -= k;
		took += k;
	}
	return (ssize_t)took;
}

static inline ssize_t wire_recv(void *arg, const struct iovec *iov, int n, bool peek)
{
	struct wire *w = arg;
	size_t len = w->in_len - w->in_at, took = 0;
	int i;

	if (!len)
		return w->err ? -w->err : w->eof ? 0 : -EAGAIN;
	for (i = 0; i < n && took < len; i++) {
		size_t k = iov[i].iov_len;

		if (k > len - took)
			k = len - took;
		memcpy(iov[i].iov_base, w->in + w->in_at + took, k);
		took += k;
	}
	if (!peek)
		w->in_at += took;
	return (ssize_t)took;
}

struct fixture {
	struct tux_duplex *d;
	struct wire w;
	struct tux_tcp tcp;
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->d = calloc(1, tux_duplex_size(CAP));
	f->w.room = sizeof(f->w.out);
	f->tcp = (struct tux_tcp){ wire_send, wire_recv, &f->w };
	tux_duplex_init(f->d, CAP);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->d);
	free(f);
	return 0;
}

static inline ssize_t put(struct fixture *f, const void *p, size_t len)
{
	struct iovec v = { (void *)(uintptr_t)p, len };

	return tux_duplex_write(f->d, &v, 1, &f->tcp);
}

static inline ssize_t get(struct fixture *f, char *p, size_t len)
{
	struct iovec v = { p, len };

	return tux_duplex_read(f->d, &v, 1, false, &f->tcp);
}

static inline void arrive(struct fixture *f, const void *p, size_t len)
{
	memcpy(f->w.in + f->w.in_len, p, len);
	f->w.in_len += len;
}

/* A DATA frame for @s at @off, of which the first @n bytes of the body are
 * here. */
static inline void arrive_frame(struct fixture *f, uint64_t off, const char *s,
				size_t n)
{
	const struct tux_frame h = { TUX_FRAME_DATA, (uint32_t)strlen(s), off };
	uint8_t hdr[TUX_FRAME_HDR];

	tux_frame_encode(&h, hdr);
	arrive(f, hdr, sizeof(hdr));
	arrive(f, s, n);
}

static inline uint64_t announce(struct fixture *f, uint64_t ahead)
{
	uint64_t at = 0;

	assert_true(tux_duplex_announce(f->d, ahead, &key, true, &at));
	return at;
}

static inline void arm(struct fixture *f, uint32_t gen, uint64_t at)
{
	assert_true(tux_duplex_arm(f->d, gen, at, &key, false));
}

#endif
