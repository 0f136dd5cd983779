/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/bound.h"

#include "loop/end.h"
#include "sys/sys.h"

enum {
	BUF_MIN = 2048,		/* below it, the kernel has more as well */
	/* By value: headers may be older. */
	BUF_LOCK = 72,
	SNDBUF_LOCK = 1,
	RCVBUF_LOCK = 2,
};

/* The kernel has taken twice what the application asked for, to have room for
 * the headers. */
static void end_bound(struct tux_pipe *p, int fd, int name, bool set)
{
	int len = 0;
	socklen_t size = sizeof(len);

	if (!set)
		tux_pipe_bound(p, p->cap);
	else if (tux_sys_getsockopt(fd, SOL_SOCKET, name, &len, &size) >= 0)
		tux_pipe_bound(p, (uint32_t)(len / 2 > BUF_MIN ? len / 2 : BUF_MIN));
}

void tux_end_bound(struct tux_end *e, int fd)
{
	int locks = 0;
	socklen_t size = sizeof(locks);

	if (tux_sys_getsockopt(fd, SOL_SOCKET, BUF_LOCK, &locks, &size) < 0)
		return;
	end_bound(&e->dx->txp, fd, SO_SNDBUF, locks & SNDBUF_LOCK);
	end_bound(&e->dx->rxp, fd, SO_RCVBUF, locks & RCVBUF_LOCK);
}
