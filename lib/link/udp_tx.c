/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/udp_tx.h"

#include <errno.h>
#include <string.h>

#include "sys/area.h"
#include "sys/sys.h"

enum {
	DATAGRAM = 65536,	/* the longest of IPv4, 65507 bytes, fits */
};

/* ---- birth and death ---- */

int tux_udp_tx_init(struct tux_udp_tx *t)
{
	unsigned i;

	for (i = 0; i < TUX_LINK_BATCH; i++) {
		struct msghdr *h = &t->msg[i].msg_hdr;

		h->msg_iov = &t->iov[i];
		h->msg_iovlen = 1;
		h->msg_name = &t->name[i];
		h->msg_control = &t->control[i];
	}
	return tux_area_map((void **)&t->mem, (size_t)TUX_LINK_BATCH * DATAGRAM,
			    TUX_AREA_OWN);
}

void tux_udp_tx_fini(struct tux_udp_tx *t)
{
	tux_area_unmap(t->mem, (size_t)TUX_LINK_BATCH * DATAGRAM);
}

/* ---- a datagram ---- */

uint8_t *tux_udp_tx_buffer(const struct tux_udp_tx *t, size_t *cap)
{
	if (t->n == TUX_LINK_BATCH)
		return NULL;
	*cap = DATAGRAM;
	return t->mem + t->used;
}

/* Which of our addresses it leaves from: the connection's, whatever routing
 * would choose. */
static struct cmsghdr *put_source(struct cmsghdr *m, int family,
				  const struct tux_addr *from)
{
	if (family == AF_INET6) {
		struct in6_pktinfo *info = (void *)CMSG_DATA(m);

		memcpy(&info->ipi6_addr, from->ip, 16);
		m->cmsg_level = IPPROTO_IPV6;
		m->cmsg_type = IPV6_PKTINFO;
		m->cmsg_len = CMSG_LEN(sizeof(*info));
	} else {
		struct in_pktinfo *info = (void *)CMSG_DATA(m);

		memcpy(&info->ipi_spec_dst, from->ip + 12, 4);
		m->cmsg_level = IPPROTO_IP;
		m->cmsg_type = IP_PKTINFO;
		m->cmsg_len = CMSG_LEN(sizeof(*info));
	}
	return (void *)((char *)m + CMSG_ALIGN(m->cmsg_len));
}

/* With the datagram, for a socket's option would take a system call each time
 * that it changes.  A socket of IPv6 takes IPv4's for IPv4. */
static struct cmsghdr *put_ecn(struct cmsghdr *m, bool v4, int ecn)
{
	memcpy(CMSG_DATA(m), &ecn, sizeof(ecn));
	m->cmsg_level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
	m->cmsg_type = v4 ? IP_TOS : IPV6_TCLASS;
	m->cmsg_len = CMSG_LEN(sizeof(ecn));
	return (void *)((char *)m + CMSG_ALIGN(m->cmsg_len));
}

void tux_udp_tx_put(struct tux_udp_tx *t, int family, size_t len,
		    const struct tux_addr *to, const struct tux_addr *from,
		    uint8_t ecn)
{
	struct msghdr *h = &t->msg[t->n].msg_hdr;
	union tux_udp_tx_control *c = &t->control[t->n];
	struct cmsghdr *m = &c->align;

	h->msg_namelen = tux_name_put(&t->name[t->n], to, family);
	t->iov[t->n].iov_base = t->mem + t->used;
	t->iov[t->n].iov_len = len;
	memset(c, 0, sizeof(*c));
	m = put_source(m, family, from);
	if (ecn)
		m = put_ecn(m, tux_addr_is_v4(to), ecn);
	h->msg_controllen = (size_t)((char *)m - c->space);
	t->used += len;
	t->n++;
}

/* ---- a batch ---- */

bool tux_udp_tx_flush(struct tux_udp_tx *t, int fd)
{
	while (t->first < t->n) {
		int k = tux_sys_sendmmsg(fd, t->msg + t->first, t->n - t->first,
					 MSG_DONTWAIT);

		if (k == -EAGAIN)
			return false;
		/* An error is the first datagram's; the others may go. */
		if (k != -EINTR)
			t->first += k > 0 ? (unsigned)k : 1;
	}
	t->first = t->n = 0;
	t->used = 0;
	return true;
}
