/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll - the calls of poll(2)
 */
#include "ground/libc.h"
#include "ground/timeout.h"
#include "wait/pollset.h"

/* May one of them be an instance of ours?  Where there is no connection, that
 * is all there is to ask. */
static bool any_near(struct pollfd *fds, nfds_t n)
{
	uint64_t range = atomic_load(&ep_range);
	uint32_t low = (uint32_t)range, span = (uint32_t)(range >> 32) - low;

	for (nfds_t i = 0; i < n; i++)
		if ((uint32_t)fds[i].fd - low < span)
			return true;
	return false;
}

static bool any_ours(struct pollfd *fds, nfds_t n, bool sleeps)
{
	if (!pollset_any(sleeps) || (!fd_live && !any_near(fds, n)))
		return false;
	for (nfds_t i = 0; i < n; i++)
		if (poll_asks(fds[i].fd, sleeps))
			return true;
	return false;
}

static int poll_ns(struct pollfd *fds, nfds_t n, tux_time ns,
		   const sigset_t *mask)
{
	return (int)libc_ret(pollset_wait(fds, (unsigned)n, ns, mask, false));
}

HOOK int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (!any_ours(fds, n, timeout))
		return libc.poll(fds, n, timeout);
	return poll_ns(fds, n, timeout_ms(timeout), NULL);
}

HOOK int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	       const sigset_t *mask)
{
	if (!timeout_valid(timeout) || !any_ours(fds, n, timeout_ts(timeout)))
		return libc.ppoll(fds, n, timeout, mask);
	return poll_ns(fds, n, timeout_ts(timeout), mask);
}

/* A set longer than its array is for libc to complain about. */
HOOK int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size)
{
	if (size / sizeof(*fds) < n || !any_ours(fds, n, timeout))
		return libc.__poll_chk(fds, n, timeout, size);
	return poll_ns(fds, n, timeout_ms(timeout), NULL);
}

HOOK int __ppoll_chk(struct pollfd *fds, nfds_t n,
		     const struct timespec *timeout, const sigset_t *mask,
		     size_t size)
{
	if (size / sizeof(*fds) < n || !timeout_valid(timeout) ||
	    !any_ours(fds, n, timeout_ts(timeout)))
		return libc.__ppoll_chk(fds, n, timeout, mask, size);
	return poll_ns(fds, n, timeout_ts(timeout), mask);
}
