/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes that a connection sends.  They go through its duplex, or, without
 * one, straight to TCP; the caller cannot tell.
 */
#include "api/api_in.h"

#include "api/ask.h"
#include "api/connection.h"
#include "api/wait.h"
#include "base/iov.h"

enum { PIECES = 64 };		/* of a vector, at once */

static ssize_t write_some(struct tux_connection *c, const struct iovec *iov,
			  int n)
{
	struct tux_tcp tcp = tux_api_tcp(c);
	ssize_t k;

	if (c->end)
		return tux_duplex_write(c->dx, iov, n, &tcp);
	k = tcp.send(tcp.arg, iov, n);
	if (k > 0)
		tux_candidate_moved(&c->candidate, true, (uint64_t)k);
	return k;
}

/* The latch is held.  0 if all is done; -errno. */
static ssize_t stream_give(struct tux_connection *c, const struct iovec *iov,
			   int n, size_t len, size_t *done)
{
	if (atomic_load(&c->closed))
		return -ENOTCONN;
	while (*done < len) {
		struct iovec v[PIECES];
		int m = tux_iov_skip(v, PIECES, iov, n, *done);
		ssize_t k = write_some(c, v, m);

		if (k < 0)
			return k;
		*done += (size_t)k;
	}
	return 0;
}

/* What was given counts. */
static ssize_t give_and_count(struct tux_connection *c, const struct iovec *iov,
			      int n, size_t len, size_t *done)
{
	size_t before = *done;
	ssize_t err = stream_give(c, iov, n, len, done);

	atomic_store_explicit(&c->stream_tx,
			      atomic_load_explicit(&c->stream_tx,
						   memory_order_relaxed) +
			      *done - before, memory_order_relaxed);
	return err == -EINTR ? -EAGAIN : err;
}

/* 0, or why nothing can be written to @c. */
static ssize_t unwritable(struct tux_connection *c)
{
	ssize_t err = tux_api_unusable(c);

	return err ? err : -(ssize_t)atomic_load(&c->err);
}

/* The latch is not held any more.  @err ends the connection, if it is one. */
static ssize_t write_over(struct tux_connection *c, ssize_t err)
{
	if (c->end)
		tux_end_flush(c->end, false);
	if (err && err != -EAGAIN && err != -EPIPE && err != -ENOTCONN)
		tux_api_broke(c, (int)-err);
	return err;
}

/* The latch is held all the while: no other bytes come between.  What makes room
 * after the second try, tells; what did before, is seen by it. */
static ssize_t write_what_goes(struct tux_connection *c,
			       const struct iovec *iov, int n, size_t len,
			       size_t *done)
{
	struct tux_latch *latch = tux_api_take_tx(c);
	ssize_t err = -EAGAIN;
	int tries;

	for (tries = 0; tries < 2 && err == -EAGAIN; tries++) {
		if (tries)
			atomic_fetch_or(&c->wants, TUX_WANTS_STREAM);
		/* Behind calls that wait to write. */
		if (!tux_api_writes(c))
			err = give_and_count(c, iov, n, len, done);
	}
	tux_latch_drop(latch);
	return write_over(c, err);
}

static ssize_t try_write(struct tux_connection *c, const struct iovec *iov,
			 int n)
{
	size_t len = tux_iov_len(iov, n), done = 0;
	ssize_t err = unwritable(c);

	/* What opens it after this, tells. */
	if (err == -EAGAIN) {
		atomic_fetch_or(&c->wants, TUX_WANTS_STREAM);
		err = unwritable(c);
	}
	if (!err)
		err = write_what_goes(c, iov, n, len, &done);
	return done ? (ssize_t)done : err;
}

ssize_t tux_writev(struct tux_connection *c, const struct iovec *iov, int n)
{
	ssize_t k;

	tux_sched_enter();
	k = try_write(c, iov, n);
	tux_sched_leave();
	return k;
}

ssize_t tux_write(struct tux_connection *c, const void *p, size_t n)
{
	struct iovec v = { (void *)(uintptr_t)p, n };

	return tux_writev(c, &v, 1);
}

/* One try of a call that waits. */
static ssize_t write_in_turn(struct tux_connection *c, const struct iovec *iov,
			     int n, size_t len, size_t *done, struct tux_wait *w)
{
	struct tux_latch *latch;
	ssize_t err = unwritable(c);

	if (err)
		return err;
	latch = tux_api_take_tx(c);
	err = tux_api_wait_leads(w) ? give_and_count(c, iov, n, len, done) :
				      -EAGAIN;
	tux_latch_drop(latch);
	return write_over(c, err);
}

/* Entered before it tries, so that no other bytes come between its own. */
static ssize_t write_within(struct tux_connection *c, const struct iovec *iov,
			    int n, tux_time ns)
{
	size_t len = tux_iov_len(iov, n), done = 0;
	struct tux_wait w;
	ssize_t err, lock = tux_api_wait_begin(&w, c, ns, TUX_WAIT_STREAM);

	while ((err = write_in_turn(c, iov, n, len, &done, &w)) == -EAGAIN) {
		err = lock ? lock : tux_api_wait(&w);
		if (err)
			break;
	}
	tux_api_wait_end(&w);
	/* The room callback is due, as after any call that took fewer bytes. */
	if (err == -ETIMEDOUT || err == -EDEADLK)
		atomic_fetch_or(&c->wants, TUX_WANTS_STREAM);
	/* And a call that does not wait may have found us in its way. */
	if (atomic_load(&c->wants) & TUX_WANTS_STREAM)
		tux_api_raise(c, TUX_EVENT_READY);
	return done ? (ssize_t)done : err;
}

ssize_t tux_writev_wait(struct tux_connection *c, const struct iovec *iov,
			int n, uint64_t ns)
{
	ssize_t k;

	tux_sched_enter();
	k = write_within(c, iov, n, ns);
	tux_sched_leave();
	return k;
}

ssize_t tux_write_wait(struct tux_connection *c, const void *p, size_t n,
		       uint64_t ns)
{
	struct iovec v = { (void *)(uintptr_t)p, n };

	return tux_writev_wait(c, &v, 1, ns);
}

int tux_shut(struct tux_connection *c)
{
	bool usable;

	tux_sched_enter();
	usable = tux_api_usable(c);
	if (usable)
		tux_api_shut(c);
	tux_sched_leave();
	return usable ? 0 : -ENOTCONN;
}
