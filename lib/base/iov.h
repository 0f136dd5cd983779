/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iov - a part of a vector of buffers
 */
#ifndef TUX_BASE_IOV_H
#define TUX_BASE_IOV_H

#include <stddef.h>
#include <sys/uio.h>

/* How many bytes the @n buffers have. */
static inline size_t tux_iov_len(const struct iovec *iov, int n)
{
	size_t len = 0;
	int i;

	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	return len;
}

/* Makes @out, of at most @cap buffers, describe @iov behind its first @skip
 * bytes.  Returns how many buffers of @out that took. */
static inline int tux_iov_skip(struct iovec *out, int cap,
			       const struct iovec *iov, int n, size_t skip)
{
	int i, m = 0;

	for (i = 0; i < n && m < cap; i++) {
		if (skip >= iov[i].iov_len) {
			skip -= iov[i].iov_len;
			continue;
		}
		out[m].iov_base = (char *)iov[i].iov_base + skip;
		out[m++].iov_len = iov[i].iov_len - skip;
		skip = 0;
	}
	return m;
}

#endif
