/* SPDX-License-Identifier: BSD-2-Clause */
#include "young.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "base/latch.h"
#include "conf.h"
#include "libc.h"
#include "link/nic.h"
#include "part/past.h"
#include "sys/clock.h"
#include "wire/wire.h"

enum {
	MSS_MIN = 536,		/* RFC 9293, 3.7.1 */
	LOOK_EVERY = 8,		/* turn-arounds, after an answer of "no" */
	WAIT = 1024,		/* ... while the peer is known to be silent */
	LONG = 65536,		/* a burst for which TCP is faster on any link */
};

void young_moved(struct sock *s, bool out, size_t n)
{
	if (out)
		tux_talk_moved(&s->sent, &s->received, n);
	else
		tux_talk_moved(&s->received, &s->sent, n);
}

/* The payload of a segment of TCP: close to that of a packet, which the backend
 * limits, too. */
static uint32_t segment(int fd)
{
	const int most = conf.io == TUX_IO_XDP ? TUX_NIC_MTU : TUX_PKT_MAX;
	int mss = 0;
	socklen_t len = sizeof(mss);
	int saved = errno;

	if (libc.getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len))
		mss = 0;
	errno = saved;
	if (mss < MSS_MIN)
		return MSS_MIN;
	return (uint32_t)(mss < most ? mss : most);
}

static uint32_t turns(const struct sock *s)
{
	uint32_t tx = tux_talk_turns(&s->sent);
	uint32_t rx = tux_talk_turns(&s->received);

	return tx < rx ? tx : rx;
}

bool young_due(struct sock *s, int fd)
{
	uint32_t now = turns(s);

	if (conf.path != TUX_PATH_MODE_AUTO)
		return true;		/* to be claimed, or refused */
	if (now < s->look_at || now < TUX_CHOICE_TURNS_PASSIVE)
		return false;
	s->look_at = now + LOOK_EVERY;
	if (tux_choice_opens(conf.path, s->active, &s->sent, &s->received,
			     segment(fd)))
		return true;
	if (now < TUX_CHOICE_TURNS_ACTIVE)
		s->look_at = TUX_CHOICE_TURNS_ACTIVE;
	return false;
}

/* ---- what earlier connections have shown ------------------------------ */

static struct tux_past past;
static struct tux_latch past_latch;

bool young_waits(struct sock *s)
{
	bool waits;

	/* Another thread is at it: it does not matter enough to wait. */
	if (conf.path != TUX_PATH_MODE_AUTO || !s->active ||
	    !tux_latch_try(&past_latch))
		return false;
	waits = tux_past_waits(&past, &s->tuple.passive, tux_clock_read());
	tux_latch_drop(&past_latch);
	if (waits) {
		s->look_at = turns(s) + WAIT;
		s->why = TUX_REASON_PEER_SILENT;
	}
	return waits;
}

void young_decided(const struct sock *s, bool tux, enum tux_reason why)
{
	if (!s->active || (!tux && why != TUX_REASON_PEER_SILENT) ||
	    !tux_latch_try(&past_latch))
		return;
	if (tux)
		tux_past_answered(&past, &s->tuple.passive);
	else
		tux_past_silent(&past, &s->tuple.passive, tux_clock_read());
	tux_latch_drop(&past_latch);
}

/* ---- what the kernel has counted -------------------------------------- */

/* Bytes of the application that TCP has taken: the kernel counts the SYN of an
 * active end among those that were acknowledged. */
static bool sent_agrees(const struct sock *s, int fd, const struct tcp_info *i)
{
	uint64_t n = i->tcpi_bytes_acked - (s->active ? 1 : 0);
	int unacked = 0;

	return !libc.ioctl(fd, SIOCOUTQ, &unacked) &&
	       n + (uint64_t)unacked == tux_talk_total(&s->sent);
}

static bool received_agrees(const struct sock *s, int fd,
			    const struct tcp_info *i)
{
	int unread = 0;

	return !libc.ioctl(fd, SIOCINQ, &unread) &&
	       i->tcpi_bytes_received - (uint64_t)unread ==
	       tux_talk_total(&s->received);
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
	if (s->why)
		return (enum tux_reason)s->why;
	if (turns(s) < TUX_CHOICE_TURNS_ACTIVE &&
	    tux_talk_burst(&s->sent) < LONG &&
	    tux_talk_burst(&s->received) < LONG)
		return TUX_REASON_YOUNG;
	return TUX_REASON_BULK;
}
