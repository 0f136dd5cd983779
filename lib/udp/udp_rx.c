/* SPDX-License-Identifier: BSD-2-Clause */
#include "udp/udp_rx.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>

#include "sys/area.h"
#include "sys/sys.h"

enum {
	/* The longest datagram of IPv4, 65507 bytes, fits.  The odd line more
	 * keeps the fronts of buffers from sharing one cache set. */
	SLOT = 65536 + 64,
	/* Long messages are taken fewer at once: that is as good, and stays in
	 * the cache. */
	LONG = 8192,
	LONG_BATCH = 16,
	LARGE_N = 2,		/* what stays within a few pages */
	LARGE_BYTES = 8192,
	BULK_N = 16,
	BULK_BYTES = 16 << 10,
};

enum {
	MEM = TUX_LINK_BATCH * SLOT,
	DGRAMS = TUX_UDP_RX_MAX * sizeof(struct tux_dgram),
};

/* ---- birth and death ---- */

int tux_udp_rx_init(struct tux_udp_rx *r)
{
	unsigned i;
	int err;

	r->most = TUX_LINK_BATCH;
	err = tux_area_map((void **)&r->mem, MEM, TUX_AREA_OWN);
	if (!err)
		err = tux_area_map((void **)&r->dgram, DGRAMS, TUX_AREA_OWN);
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
	tux_area_unmap(r->dgram, DGRAMS);
	tux_area_unmap(r->mem, MEM);
}

void tux_udp_rx_drop(struct tux_udp_rx *r)
{
	tux_area_drop(r->dgram, DGRAMS);
	tux_area_drop(r->mem, MEM);
}

/* ---- joined datagrams ---- */

bool tux_udp_rx_join(int fd)
{
	int on = 1;

	return !tux_sys_setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof(on));
}

bool tux_udp_rx_bulk(const struct tux_udp_rx *r)
{
	return r->n >= BULK_N && r->bytes >= BULK_BYTES;
}

unsigned tux_udp_rx_cut(size_t len, int each)
{
	size_t n;

	if (!each)
		return 1;
	if (each < 0 || (size_t)each > len)
		return 0;
	n = (len - 1) / (size_t)each + 1;
	return n > TUX_UDP_RX_CUT_MAX ? 0 : (unsigned)n;
}

/* ---- a batch ---- */

/* What the kernel says of a message beside its bytes. */
struct note {
	uint8_t ecn;
	int each;	/* bytes in each datagram but the last; 0: one datagram */
};

/* IPv4's TOS is one byte. */
static struct note udp_note(struct msghdr *h)
{
	struct note said = { TUX_ECN_NONE, 0 };
	struct cmsghdr *m;
	int class = 0;

	for (m = CMSG_FIRSTHDR(h); m; m = CMSG_NXTHDR(h, m)) {
		if (m->cmsg_level == IPPROTO_IP && m->cmsg_type == IP_TOS)
			class = *CMSG_DATA(m);
		else if (m->cmsg_level == IPPROTO_IPV6 &&
			 m->cmsg_type == IPV6_TCLASS)
			memcpy(&class, CMSG_DATA(m), sizeof(class));
		else if (m->cmsg_level == SOL_UDP && m->cmsg_type == UDP_GRO)
			memcpy(&said.each, CMSG_DATA(m), sizeof(said.each));
	}
	said.ecn = class & TUX_ECN_MASK;
	return said;
}

/* Message @i becomes datagrams. */
static void take_message(struct tux_udp_rx *r, unsigned i)
{
	struct note said = udp_note(&r->msg[i].msg_hdr);
	size_t at = 0, len = r->msg[i].msg_len;
	unsigned n = tux_udp_rx_cut(len, said.each);
	size_t each = said.each ? (size_t)said.each : len;
	struct tux_addr from;

	if (tux_name_get(&from, &r->name[i]))
		return;
	for (; n; n--, at += each) {
		r->dgram[r->n++] = (struct tux_dgram){
			.from = from,
			.p = r->mem + (size_t)i * SLOT + at,
			.len = len - at < each ? len - at : each,
			.ecn = said.ecn,
			.queue = -1,
		};
	}
	r->bytes += len;
}

unsigned tux_udp_rx_take(struct tux_udp_rx *r, int fd,
			 const struct tux_dgram **d)
{
	unsigned i;
	int n;

	*d = r->dgram;
	r->n = 0;
	r->bytes = 0;
	n = tux_sys_recvmmsg(fd, r->msg, r->most, MSG_DONTWAIT);
	for (i = 0; (int)i < n; i++) {
		struct msghdr *h = &r->msg[i].msg_hdr;

		take_message(r, i);
		h->msg_namelen = sizeof(r->name[i]);
		h->msg_controllen = sizeof(r->control[i]);
	}
	if (n > 0)
		r->most = r->bytes / (unsigned)n > LONG ? LONG_BATCH :
							  TUX_LINK_BATCH;
	r->large |= n > LARGE_N || r->bytes > LARGE_BYTES;
	return r->n;
}
