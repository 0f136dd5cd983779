/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/udp_rx.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>

#include "sys/area.h"
#include "sys/sys.h"

enum {
	/* The longest datagram of IPv4, 65507 bytes, fits.  The odd line more
	 * keeps the fronts of buffers from sharing one cache set. */
	SLOT = 65536 + 64,
};

int tux_udp_rx_init(struct tux_udp_rx *r)
{
	unsigned i;
	int err;

	err = tux_area_map((void **)&r->mem, (size_t)TUX_LINK_BATCH * SLOT,
			   TUX_AREA_OWN);
	if (err)
		return err;
	for (i = 0; i < TUX_LINK_BATCH; i++) {
		struct msghdr *h = &r->msg[i].msg_hdr;

		r->iov[i].iov_base = r->mem + (size_t)i * SLOT;
		r->iov[i].iov_len = SLOT;
		h->msg_iov = &r->iov[i];
		h->msg_iovlen = 1;
		h->msg_name = &r->name[i];
		h->msg_namelen = sizeof(r->name[i]);
		h->msg_control = &r->control[i];
		h->msg_controllen = sizeof(r->control[i]);
	}
	return 0;
}

void tux_udp_rx_fini(struct tux_udp_rx *r)
{
	tux_area_unmap(r->mem, (size_t)TUX_LINK_BATCH * SLOT);
}

/* What the kernel says of the datagram beside its bytes; IPv4's is one byte. */
static uint8_t ecn_of(struct msghdr *h)
{
	const struct cmsghdr *m = CMSG_FIRSTHDR(h);
	int class = 0;

	if (!m)
		return TUX_ECN_NONE;
	if (m->cmsg_level == IPPROTO_IP && m->cmsg_type == IP_TOS)
		class = *CMSG_DATA(m);
	else if (m->cmsg_level == IPPROTO_IPV6 && m->cmsg_type == IPV6_TCLASS)
		memcpy(&class, CMSG_DATA(m), sizeof(class));
	return class & TUX_ECN_MASK;
}

unsigned tux_udp_rx_take(struct tux_udp_rx *r, int fd,
			 const struct tux_dgram **out)
{
	int i, n;

	*out = r->dgram;
	n = tux_sys_recvmmsg(fd, r->msg, TUX_LINK_BATCH, MSG_DONTWAIT);
	if (n < 0)
		return 0;
	for (i = 0; i < n; i++) {
		struct msghdr *h = &r->msg[i].msg_hdr;
		struct tux_dgram *d = &r->dgram[i];

		d->p = r->iov[i].iov_base;
		d->len = r->msg[i].msg_len;
		d->ecn = ecn_of(h);
		h->msg_namelen = sizeof(r->name[i]);
		h->msg_controllen = sizeof(r->control[i]);
		if (tux_name_get(&d->from, &r->name[i]))
			d->len = 0;
	}
	return (unsigned)n;
}
