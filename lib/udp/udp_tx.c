/* SPDX-License-Identifier: BSD-2-Clause */
#include "udp/udp_tx.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>

#include "sys/area.h"
#include "sys/sys.h"

enum {
	DATAGRAM = 65536,	/* the longest of IPv4, 65507 bytes, fits */
	ROW = 65507,		/* a row is one datagram until it is cut */
	LARGE = 8192,		/* what stays within a few pages */
	SEGMENTS = 64,		/* the limit of Linux, before 6.9 */
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

void tux_udp_tx_drop(struct tux_udp_tx *t)
{
	if (!t->n)
		tux_area_drop(t->mem, (size_t)TUX_LINK_BATCH * DATAGRAM);
}

/* ---- a datagram ---- */

uint8_t *tux_udp_tx_buffer(const struct tux_udp_tx *t, size_t *cap)
{
	if (t->datagrams == TUX_LINK_BATCH)
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

static void begin_row(struct tux_udp_tx *t, int family, size_t len,
		      const struct tux_addr *to, const struct tux_addr *from,
		      uint8_t ecn)
{
	struct msghdr *h = &t->msg[t->n].msg_hdr;
	union tux_udp_tx_control *c = &t->control[t->n];
	struct cmsghdr *m = &c->align;

	t->row[t->n] = (struct tux_udp_row){
		.to = *to, .from = *from, .len = len, .n = 1, .ecn = ecn,
	};
	h->msg_namelen = tux_name_put(&t->name[t->n], to, family);
	t->iov[t->n].iov_base = t->mem + t->used;
	t->iov[t->n].iov_len = len;
	memset(c, 0, sizeof(*c));
	m = put_source(m, family, from);
	if (ecn)
		m = put_ecn(m, tux_addr_is_v4(to), ecn);
	h->msg_controllen = (size_t)((char *)m - c->space);
	t->n++;
}

/* May a datagram be the next segment of the row @r, which has @row_len bytes?
 * The port of @from, which AF_XDP varies by connection, does not matter here: all
 * datagrams leave from the socket's port. */
static bool fits_row(const struct tux_udp_row *r, size_t row_len, size_t len,
		     const struct tux_addr *to, const struct tux_addr *from,
		     uint8_t ecn)
{
	if (r->n == SEGMENTS || row_len + len > ROW || r->refused)
		return false;
	if (row_len != r->n * r->len)
		return false;		/* its last one was shorter */
	if (r->n == 1 ? len != r->len : len > r->len)
		return false;
	return ecn == r->ecn && tux_addr_same(to, &r->to) &&
	       tux_addr_same_ip(from, &r->from);
}

/* The last row, which was a lone datagram, becomes one that is cut. */
static void put_segment(struct tux_udp_tx *t, unsigned i)
{
	struct msghdr *h = &t->msg[i].msg_hdr;
	struct cmsghdr *m = (void *)(t->control[i].space + h->msg_controllen);
	uint16_t len = (uint16_t)t->row[i].len;

	memcpy(CMSG_DATA(m), &len, sizeof(len));
	m->cmsg_level = SOL_UDP;
	m->cmsg_type = UDP_SEGMENT;
	m->cmsg_len = CMSG_LEN(sizeof(len));
	h->msg_controllen += CMSG_SPACE(sizeof(len));
}

void tux_udp_tx_put(struct tux_udp_tx *t, int family, size_t len,
		    const struct tux_addr *to, const struct tux_addr *from,
		    uint8_t ecn)
{
	unsigned last = t->n - 1;

	if (t->n > t->first && !t->no_rows &&
	    fits_row(&t->row[last], t->iov[last].iov_len, len, to, from, ecn)) {
		if (t->row[last].n++ == 1)
			put_segment(t, last);
		t->iov[last].iov_len += len;
	} else {
		begin_row(t, family, len, to, from, ecn);
	}
	t->used += len;
	t->large |= t->used > LARGE;
	t->datagrams++;
}

/* ---- a batch ---- */

/* Is @err what the kernel answers where it does not cut rows?  It also answers so
 * where a datagram of the row is at fault. */
static bool refuses_rows(int err)
{
	return err == -EIO || err == -EINVAL || err == -EOPNOTSUPP ||
	       err == -EMSGSIZE;
}

/* Sends one datagram of the first row, which was refused as a row.  If the kernel
 * takes the datagram, it is rows that the kernel refuses.  -errno; 0: the datagram
 * is dealt with. */
static int send_one(struct tux_udp_tx *t, int fd)
{
	struct tux_udp_row *r = &t->row[t->first];
	struct iovec *rest = &t->iov[t->first];
	struct iovec one = { rest->iov_base, rest->iov_len };
	struct mmsghdr m = t->msg[t->first];
	int k;

	if (one.iov_len > r->len)
		one.iov_len = r->len;
	m.msg_hdr.msg_iov = &one;
	m.msg_hdr.msg_controllen -= CMSG_SPACE(sizeof(uint16_t));
	k = tux_sys_sendmmsg(fd, &m, 1, MSG_DONTWAIT);
	if (k == -EAGAIN || k == -EINTR)
		return k;
	t->no_rows |= k == 1 && one.iov_len == r->len;
	rest->iov_base = (char *)rest->iov_base + one.iov_len;
	rest->iov_len -= one.iov_len;
	r->n--;
	t->first += !r->n;
	return 0;
}

/* Sends as many rows as the kernel takes in one call.  -errno; 0: some are dealt
 * with.  An error is the first row's; the others may go. */
static int send_rows(struct tux_udp_tx *t, int fd)
{
	struct tux_udp_row *r = &t->row[t->first];
	int k = tux_sys_sendmmsg(fd, t->msg + t->first, t->n - t->first,
				 MSG_DONTWAIT);

	if (k == -EAGAIN || k == -EINTR)
		return k;
	if (k < 0 && r->n > 1 && refuses_rows(k))
		r->refused = true;
	else
		t->first += k > 0 ? (unsigned)k : 1;
	return 0;
}

bool tux_udp_tx_flush(struct tux_udp_tx *t, int fd)
{
	while (t->first < t->n) {
		int err = t->row[t->first].refused ?
				  send_one(t, fd) : send_rows(t, fd);

		if (err == -EAGAIN)
			return false;
	}
	t->first = t->n = t->datagrams = 0;
	t->used = 0;
	return true;
}
