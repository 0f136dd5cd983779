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
#include "sys/clock.h"

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

/* Announcements are only for AF_XDP. */
static bool learns(void)
{
	return conf.path == TUX_PATH_MODE_AUTO && conf.io != TUX_IO_UDP;
}

bool young_brief(const struct tux_addr *peer)
{
	return learns() && tux_past_brief(&past, peer, tux_clock_read());
}

/* A connection that has carried nothing, for example because the peer refused
 * it, shows nothing. */
void young_ended(const struct sock *s)
{
	if (s->active && learns() && tux_talk_total(&s->young.sent) &&
	    tux_talk_total(&s->young.received))
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
static bool sent_agrees(const struct sock *s, int fd, const struct tcp_info *i)
{
	uint64_t n = i->tcpi_bytes_acked - (s->active ? 1 : 0);
	int unacked = 0;

	return !libc.ioctl(fd, SIOCOUTQ, &unacked) &&
	       n + (uint64_t)unacked == tux_talk_total(&s->young.sent);
}

static bool received_agrees(const struct sock *s, int fd,
			    const struct tcp_info *i)
{
	int unread = 0;

	return !libc.ioctl(fd, SIOCINQ, &unread) &&
	       i->tcpi_bytes_received - (uint64_t)unread ==
	       tux_talk_total(&s->young.received);
}

bool young_complete(const struct sock *s, int fd)
{
	struct tcp_info i;
	socklen_t len = sizeof(i);

	if (libc.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) ||
	    len < offsetof(struct tcp_info, tcpi_segs_out))
		return false;
	/* Bytes may be acknowledged, or arrive, between two of the questions:
	 * a difference is believed only if it is there twice. */
	if (sent_agrees(s, fd, &i) && received_agrees(s, fd, &i))
		return true;
	len = sizeof(i);
	return !libc.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) &&
	       sent_agrees(s, fd, &i) && received_agrees(s, fd, &i);
}

enum tux_reason young_why(const struct sock *s)
{
	return s->why ? (enum tux_reason)s->why : tux_young_why(&s->young);
}
