/* SPDX-License-Identifier: BSD-2-Clause */
#include "young.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "conf.h"
#include "libc.h"
#include "part/past.h"
#include "stack/channel.h"
#include "stack/thread_busy.h"
#include "sys/clock.h"

enum { BEGIN_LOOKS = 4 };	/* at what another process has carried */

/* Asked of the kernel once: the decision is asked for again and again. */
static uint32_t young_packet(struct sock *s, int fd)
{
	uint32_t n = atomic_load_explicit(&s->packet, memory_order_relaxed);

	if (n)
		return n;
	n = tux_end_segment(conf.io, fd);
	atomic_store_explicit(&s->packet, n, memory_order_relaxed);
	return n;
}

bool young_due(struct sock *s, int fd)
{
	if (conf.path != TUX_PATH_MODE_AUTO)
		return true;		/* to be claimed, or refused */
	return tux_young_asks(&s->young) &&
	       tux_young_opens(&s->young, s->active,
			       young_packet(s, fd));
}

/* ---- what the processors show ------------------------------------------ */

__thread struct tux_recent young_recent;

bool young_busy(struct sock *s, const struct tux_stack *stack)
{
	if (conf.path != TUX_PATH_MODE_AUTO || !stack ||
	    !tux_thread_busy(stack, &young_recent))
		return false;
	tux_young_busy(&s->young);
	s->why = TUX_REASON_CPU_BUSY;
	return true;
}

/* ---- what earlier connections have shown ------------------------------ */

static struct tux_past past;

bool young_waits(struct sock *s)
{
	if (conf.path != TUX_PATH_MODE_AUTO || !s->active ||
	    !tux_past_waits(&past, &s->tuple.passive, tux_clock_read()))
		return false;
	tux_young_wait(&s->young);
	s->why = TUX_REASON_PEER_SILENT;
	return true;
}

void young_decided(const struct sock *s, bool tux, enum tux_reason why)
{
	if (s->active)
		tux_past_decided(&past, &s->tuple.passive, tux, why,
				 tux_clock_read());
}

/* With another mode, no connection waits until it is worth Tux. */
static bool learns(void)
{
	return conf.path == TUX_PATH_MODE_AUTO;
}

bool young_brief(const struct tux_addr *peer)
{
	return learns() && tux_past_brief(&past, peer, tux_clock_read());
}

bool young_carried(const struct sock *s)
{
	return tux_talk_total(&s->young.sent) &&
	       tux_talk_total(&s->young.received);
}

/* A connection that has carried nothing, for example because the peer refused
 * it, shows nothing. */
void young_ended(const struct sock *s)
{
	if (s->active && learns() && young_carried(s))
		tux_past_ended(&past, &s->tuple.passive, tux_clock_read());
}

void young_lasted(const struct sock *s)
{
	if (s->active && learns())
		tux_past_lasted(&past, &s->tuple.passive);
}

/* ---- what the kernel has counted -------------------------------------- */

/* Bytes of the application that TCP has taken: the kernel counts the SYN of an
 * active end among those that were acknowledged. */
static bool kernel_sent(const struct sock *s, int fd, const struct tcp_info *i,
			uint64_t *n)
{
	int unacked = 0;

	if (libc.ioctl(fd, SIOCOUTQ, &unacked))
		return false;
	*n = i->tcpi_bytes_acked - (s->active ? 1 : 0) + (uint64_t)unacked;
	return true;
}

static bool kernel_received(int fd, const struct tcp_info *i, uint64_t *n)
{
	int unread = 0;

	if (libc.ioctl(fd, SIOCINQ, &unread))
		return false;
	*n = i->tcpi_bytes_received - (uint64_t)unread;
	return true;
}

static bool kernel_counts(const struct sock *s, int fd, uint64_t *sent,
			  uint64_t *received)
{
	struct tcp_info i;
	socklen_t len = sizeof(i);

	return !libc.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) &&
	       len >= offsetof(struct tcp_info, tcpi_segs_out) &&
	       kernel_sent(s, fd, &i, sent) &&
	       kernel_received(fd, &i, received);
}

/* The kernel answers several questions, so its numbers may be of several
 * moments. */
bool young_begin(struct sock *s, int fd)
{
	uint64_t sent, received, before_sent, before_received;

	if (!kernel_counts(s, fd, &sent, &received))
		return false;
	for (int i = 0; i < BEGIN_LOOKS; i++) {
		before_sent = sent;
		before_received = received;
		if (!kernel_counts(s, fd, &sent, &received))
			return false;
		if (sent == before_sent && received == before_received)
			break;
	}
	tux_young_begin(&s->young, sent, received);
	return true;
}

enum tux_young_counts young_compare(struct sock *s, int fd)
{
	uint64_t sent, received;

	if (!kernel_counts(s, fd, &sent, &received))
		return TUX_YOUNG_MISSED;
	return tux_young_compare(&s->young, sent, received);
}

enum tux_reason young_why(const struct sock *s)
{
	return s->why ? (enum tux_reason)s->why : tux_young_why(&s->young);
}
