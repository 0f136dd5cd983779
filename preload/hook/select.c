/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * select(2) by way of poll.  A set may be longer than an fd_set: some programs
 * allocate their own.
 */
#include <errno.h>
#include <string.h>

#include "ground/buffer.h"
#include "ground/libc.h"
#include "ground/timeout.h"
#include "sys/clock.h"
#include "wait/pollset.h"

enum {
	FEW = 64,
	IN = POLLIN | POLLRDNORM | POLLRDBAND,
	OUT = POLLOUT | POLLWRNORM | POLLWRBAND,
};

struct sets {
	int n;			/* descriptors below it */
	fd_set *in, *out, *pri;	/* each may be NULL */
};

/* ---- bits ------------------------------------------------------------- */

static unsigned long *word(fd_set *set, int fd)
{
	return &((unsigned long *)(void *)set)[fd / (int)NFDBITS];
}

static unsigned long select_bit(int fd)
{
	return 1ul << (unsigned)fd % (unsigned)NFDBITS;
}

static bool has(fd_set *set, int fd)
{
	return set && (*word(set, fd) & select_bit(fd));
}

static short asked(const struct sets *s, int fd)
{
	return (short)((has(s->in, fd) ? IN : 0) |
		       (has(s->out, fd) ? OUT : 0) |
		       (has(s->pri, fd) ? POLLPRI : 0));
}

/* The first descriptor from @fd on that is asked about; s->n: none. */
static int next(const struct sets *s, int fd)
{
	while (fd < s->n) {
		unsigned long w = (s->in ? *word(s->in, fd) : 0) |
				  (s->out ? *word(s->out, fd) : 0) |
				  (s->pri ? *word(s->pri, fd) : 0);

		w &= -select_bit(fd);
		fd -= fd % (int)NFDBITS;
		if (w)
			return fd + __builtin_ctzl(w) < s->n ?
			       fd + __builtin_ctzl(w) : s->n;
		fd += (int)NFDBITS;
	}
	return s->n;
}

/* Leaves @fd in @set, where it stands, only if @on. */
static int select_keep(fd_set *set, int fd, bool on)
{
	if (!has(set, fd))
		return 0;
	if (!on)
		*word(set, fd) &= ~select_bit(fd);
	return on;
}

/* ---- there and back --------------------------------------------------- */

/* Does one of the descriptors that are asked about concern us? */
static bool select_ours(const struct sets *s, bool sleeps)
{
	if (!pollset_any(sleeps))
		return false;
	for (int fd = next(s, 0); fd < s->n; fd = next(s, fd + 1))
		if (poll_asks(fd, sleeps))
			return true;
	return false;
}

/* How many are asked about. */
static unsigned select_count(const struct sets *s)
{
	unsigned m = 0;

	for (int fd = next(s, 0); fd < s->n; fd = next(s, fd + 1))
		m++;
	return m;
}

static void to_poll(const struct sets *s, struct pollfd *p)
{
	for (int fd = next(s, 0); fd < s->n; fd = next(s, fd + 1))
		*p++ = (struct pollfd){ .fd = fd, .events = asked(s, fd) };
}

/* The sets are written only when nothing can fail any more. */
static int from_poll(struct sets *s, const struct pollfd *p, unsigned m)
{
	int r = 0;

	for (unsigned i = 0; i < m; i++)
		if (p[i].revents & POLLNVAL)
			return -EBADF;
	for (int fd = next(s, 0); fd < s->n; fd = next(s, fd + 1)) {
		int got = p++->revents;

		r += select_keep(s->in, fd, got & (IN | POLLHUP | POLLERR));
		r += select_keep(s->out, fd, got & (OUT | POLLERR));
		r += select_keep(s->pri, fd, got & POLLPRI);
	}
	return r;
}

static int select_run(struct sets *s, struct pollfd *p, unsigned m, tux_time ns,
		      const sigset_t *mask)
{
	int r;

	to_poll(s, p);
	r = pollset_wait(p, m, ns, mask, true);
	return r < 0 ? r : from_poll(s, p, m);
}

static int run_many(struct sets *s, unsigned m, tux_time ns,
		    const sigset_t *mask)
{
	size_t len = m * sizeof(struct pollfd);
	struct pollfd *p = buffer_take(len);
	int r;

	if (!p)
		return -ENOMEM;
	r = select_run(s, p, m, ns, mask);
	buffer_give(p, len);
	return r;
}

static int run_any(struct sets *s, tux_time ns, const sigset_t *mask)
{
	struct pollfd few[FEW];
	unsigned m = select_count(s);

	return m <= FEW ? select_run(s, few, m, ns, mask) :
			  run_many(s, m, ns, mask);
}

/* ---- the calls -------------------------------------------------------- */

static bool select_valid(const struct timeval *t)
{
	return !t || (t->tv_sec >= 0 && t->tv_usec >= 0);
}

/* Linux leaves in it what is left of it. */
static void subtract(struct timeval *t, tux_time ns, tux_time since)
{
	tux_time rest = tux_time_since(tux_time_since(since, tux_clock_read()), ns);

	t->tv_sec = (time_t)(rest / TUX_SEC(1));
	t->tv_usec = (suseconds_t)(rest % TUX_SEC(1) / 1000);
}

HOOK int select(int n, fd_set *in, fd_set *out, fd_set *pri,
		struct timeval *timeout)
{
	struct sets s = { n, in, out, pri };
	tux_time ns = TUX_NEVER, since;
	int r;

	if (timeout && select_valid(timeout))
		ns = timeout_sum(timeout->tv_sec, 0) +
		     TUX_USEC(timeout->tv_usec);
	if (!select_valid(timeout) || !select_ours(&s, ns))
		return libc.select(n, in, out, pri, timeout);
	since = tux_clock_read();
	r = run_any(&s, ns, NULL);
	if (timeout)
		subtract(timeout, ns, since);
	return (int)libc_ret(r);
}

HOOK int pselect(int n, fd_set *in, fd_set *out, fd_set *pri,
		 const struct timespec *timeout, const sigset_t *mask)
{
	struct sets s = { n, in, out, pri };

	if (!timeout_valid(timeout) ||
	    !select_ours(&s, timeout_ts(timeout)))
		return libc.pselect(n, in, out, pri, timeout, mask);
	return (int)libc_ret(run_any(&s, timeout_ts(timeout), mask));
}
