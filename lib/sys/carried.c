/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/carried.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "sys/sys.h"

enum { LOOKS = 16 };

enum {				/* tcp_info.tcpi_state */
	ESTABLISHED = 1, TIME_WAIT = 6, CLOSE_WAIT = 8, LAST_ACK = 9,
	CLOSING = 11,
};

struct answers {
	struct tcp_info i;
	int unacked, unread;	/* bytes; the first has the unsent ones, too */
};

/* Kernels before 4.19 say less. */
static int ask_info(int fd, struct tcp_info *i)
{
	socklen_t len = sizeof(*i);
	int err = tux_sys_getsockopt(fd, IPPROTO_TCP, TCP_INFO, i, &len);

	if (err < 0)
		return err;
	return len >= offsetof(struct tcp_info, tcpi_dsack_dups) ? 0 :
								   -EOPNOTSUPP;
}

static int ask_queue(int fd, unsigned long what, int *n)
{
	int err = (int)TUX_SYS(SYS_ioctl, fd, what, n, 0, 0, 0);

	return err < 0 ? err : 0;
}

static bool of_one_moment(const struct tcp_info *a, const struct tcp_info *b)
{
	return a->tcpi_bytes_acked == b->tcpi_bytes_acked &&
	       a->tcpi_bytes_received == b->tcpi_bytes_received &&
	       a->tcpi_state == b->tcpi_state;
}

static int ask_once(int fd, struct answers *a)
{
	struct tcp_info again;
	int err = ask_info(fd, &a->i);

	if (!err)
		err = ask_queue(fd, SIOCOUTQ, &a->unacked);
	if (!err)
		err = ask_queue(fd, SIOCINQ, &a->unread);
	if (!err)
		err = ask_info(fd, &again);
	return err ? err : of_one_moment(&a->i, &again) ? 0 : -EAGAIN;
}

static int ask_all(int fd, struct answers *a)
{
	int err = -EAGAIN;

	for (int n = 0; err == -EAGAIN && n < LOOKS; n++)
		err = ask_once(fd, a);
	return err;
}

/* The peer's FIN counts among the bytes that were received. */
static bool has_fin(const struct tcp_info *i)
{
	return i->tcpi_state == CLOSE_WAIT || i->tcpi_state == LAST_ACK ||
	       i->tcpi_state == CLOSING || i->tcpi_state == TIME_WAIT;
}

/* And the SYN of an active end among those that were acknowledged. */
int tux_carried_look(int fd, bool active, struct tux_carried *c)
{
	struct answers a = { .unread = 0 };
	int err = ask_all(fd, &a);

	if (err)
		return err;
	c->sent = a.i.tcpi_bytes_acked - (active ? 1 : 0) + (uint64_t)a.unacked;
	c->received = a.i.tcpi_bytes_received - (has_fin(&a.i) ? 1 : 0) -
		      (uint64_t)a.unread;
	return 0;
}

/* What was acknowledged and what was not are all bytes that were written, and the
 * SYN of an active end.  What was sent for the first time and what was not sent
 * yet are the same without it.  (Bytes that the host itself dropped on their way
 * out count each time.) */
int tux_carried_active(int fd)
{
	struct answers a = { .unread = 0 };
	int err = ask_all(fd, &a);
	uint64_t with, without;

	if (err)
		return err;
	with = a.i.tcpi_bytes_acked + (uint64_t)a.unacked;
	without = a.i.tcpi_bytes_sent - a.i.tcpi_bytes_retrans +
		  a.i.tcpi_notsent_bytes;
	return with - without <= 1 ? (int)(with - without) : -EAGAIN;
}

bool tux_carried_open(int fd)
{
	struct pollfd f = { .fd = fd, .events = POLLRDHUP };
	struct tcp_info i = { .tcpi_state = 0 };
	struct timespec at_once = { 0 };
	socklen_t len = sizeof(i);

	if (tux_sys_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) < 0)
		return false;
	/* A FIN is reported in state ESTABLISHED if it is this end's. */
	return i.tcpi_state == CLOSE_WAIT ||
	       (i.tcpi_state == ESTABLISHED &&
		!tux_sys_ppoll(&f, 1, &at_once, NULL));
}
