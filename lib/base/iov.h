/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iov - a part of a vector of buffers
 */
#ifndef TUX_BASE_IOV_H
#define TUX_BASE_IOV_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

/* How many bytes the @n buffers have; SIZE_MAX: more than SSIZE_MAX. */
static inline size_t tux_iov_len(const struct iovec *iov, int n)
{
	size_t len = 0;
	int i;

	for (i = 0; i < n; i++) {
		if (iov[i].iov_len > SSIZE_MAX - len)
			return SIZE_MAX;
		len += iov[i].iov_len;
	}
	return len;
}

/* Makes @out, of at most @cap buffers, describe up to @max bytes of @iov behind
 * its first @skip.  Returns how many buffers of @out that took. */
static inline int tux_iov_cut(struct iovec *out, int cap,
			      const struct iovec *iov, int n, uint64_t skip,
			      uint64_t max)
{
	int i, m = 0;

	for (i = 0; i < n && m < cap && max; i++) {
		uint64_t len = iov[i].iov_len;

		if (skip >= len) {
			skip -= len;
			continue;
		}
		len -= skip;
		out[m].iov_base = (char *)iov[i].iov_base + skip;
		out[m].iov_len = len < max ? len : max;
		max -= out[m++].iov_len;
		skip = 0;
	}
	return m;
}

/* The same for all bytes behind the first @skip. */
static inline int tux_iov_skip(struct iovec *out, int cap,
			       const struct iovec *iov, int n, size_t skip)
{
	return tux_iov_cut(out, cap, iov, n, skip, SIZE_MAX);
}

/* Copies up to @max bytes of @iov behind its first @skip to @dst.  Returns how
 * many. */
static inline uint64_t tux_iov_copy(uint8_t *dst, uint64_t max,
				    const struct iovec *iov, int n,
				    uint64_t skip)
{
	uint64_t done = 0;
	int i;

	for (i = 0; i < n && done < max; i++) {
		uint64_t len = iov[i].iov_len;

		if (skip >= len) {
			skip -= len;
			continue;
		}
		len -= skip;
		if (len > max - done)
			len = max - done;
		memcpy(dst + done, (const char *)iov[i].iov_base + skip, len);
		done += len;
		skip = 0;
	}
	return done;
}

#endif
