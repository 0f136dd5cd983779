/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xfrm - the kernel's IPsec policies, followed by netlink
 *
 * tux_xfrm_open() reads all policies.  From then on, the kernel's notifications
 * keep the table up to date, so a question needs no system call.
 *
 * Policies are shown only to a process with CAP_NET_ADMIN.  To others, this is
 * blind: it refuses a link whose packets pass by the kernel's IPsec, and
 * allows one whose datagrams meet it.
 */
#ifndef TUX_KERNEL_XFRM_H
#define TUX_KERNEL_XFRM_H

#include <stdbool.h>

#include "kernel/netlink.h"
#include "kernel/spd.h"
#include "wire/reason.h"

struct tux_xfrm {
	struct tux_netlink notify;	/* fd: readable when policies change; -1:
					 * there are none, or @blind */
	struct tux_spd spd;
	bool open;			/* what there is to know is known */
	bool blind;
	bool changed;			/* while reading */
};

/* -errno.  It is no error if the kernel has no IPsec, or does not show it. */
int tux_xfrm_open(struct tux_xfrm *x);
void tux_xfrm_close(struct tux_xfrm *x);

/* Takes the notifications that have come.  True: the table has changed. */
bool tux_xfrm_read(struct tux_xfrm *x);

/* Takes one message about policies, a notification or part of the list. */
void tux_xfrm_hear(struct tux_xfrm *x, const struct nlmsghdr *h);

/* Why the connection between @local and @peer must stay off UDP now; NONE.
 * @bypass as for tux_spd_guard(). */
enum tux_reason tux_xfrm_refuses(const struct tux_xfrm *x,
				 const struct tux_addr *local,
				 const struct tux_addr *peer, bool bypass);

#endif
