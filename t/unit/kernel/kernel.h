/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel - the path manager with the kernel's side of netlink played by a test:
 * what it tells, and what it answers
 */
#ifndef TUX_UNIT_LINK_KERNEL_H
#define TUX_UNIT_LINK_KERNEL_H

#include "afxdp/paths.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../filter.h"
#include "../test.h"

enum { KERNEL_INDEX = 1000000, KERNEL_MTU = 1500 };

struct kernel {
	struct tux_paths p;
	int epfd;
	int asked, news;		/* the kernel's ends, */
	int asked_by_nic;		/* ... and of the thread's */
	uint64_t carried;		/* by the interface, as tests have it */
};

static inline int kernel_play(int *fd)
{
	int both[2];

	close(*fd);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
				    both), 0);
	*fd = both[0];
	return both[1];
}

static inline int kernel_init(void **state, tux_link_said_fn *said)
{
	struct kernel *k = calloc(1, sizeof(*k));
	struct tux_link_opts o = { .said = said };

	k->epfd = epoll_create1(0);
	assert_int_equal(tux_paths_init(&k->p, k->epfd, 0, &o, 7000), 0);
	k->asked = kernel_play(&k->p.neigh.ask.fd);
	k->news = kernel_play(&k->p.neigh.notify.fd);
	k->asked_by_nic = kernel_play(&k->p.nic.ask.fd);
	*state = k;
	return 0;
}

static inline int kernel_fini(void **state)
{
	struct kernel *k = *state;

	tux_paths_fini(&k->p);
	close(k->asked);
	close(k->news);
	close(k->asked_by_nic);
	close(k->epfd);
	free(k);
	return 0;
}

/* How many questions there were, since the last call. */
static inline unsigned kernel_questions(struct kernel *k)
{
	char buf[1024];
	unsigned n = 0;

	while (recv(k->asked, buf, sizeof(buf), 0) > 0)
		n++;
	return n;
}

static inline void kernel_send(int fd, const struct nlmsghdr *h)
{
	assert_int_equal(send(fd, h, h->nlmsg_len, 0), h->nlmsg_len);
}

/* The answer to the next question but @ahead: the peer is a neighbour. */
static inline void kernel_route(struct kernel *k, unsigned ahead)
{
	char buf[256] = { 0 };
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct rtmsg *m;

	h->nlmsg_type = RTM_NEWROUTE;
	h->nlmsg_seq = k->p.neigh.ask.seq + 1 + ahead;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->rtm_type = RTN_UNICAST;
	mnl_attr_put_u32(h, RTA_OIF, KERNEL_INDEX);
	kernel_send(k->asked, h);
}

/* Tells @fd, as message @seq of @type, that the interface has @flags and is a
 * @kind, or NULL. */
static inline void kernel_describe(int fd, uint32_t seq, uint16_t type,
				   unsigned flags, const char *kind)
{
	struct nlattr *info;
	char buf[256] = { 0 };
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *m;

	h->nlmsg_type = type;
	h->nlmsg_seq = seq;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->ifi_index = KERNEL_INDEX;
	m->ifi_flags = flags;
	mnl_attr_put_u32(h, IFLA_MTU, KERNEL_MTU);
	mnl_attr_put_strz(h, IFLA_IFNAME, "eth0");
	if (kind) {
		info = mnl_attr_nest_start(h, IFLA_LINKINFO);
		mnl_attr_put_strz(h, IFLA_INFO_KIND, kind);
		mnl_attr_nest_end(h, info);
	}
	kernel_send(fd, h);
}

/* ... and the interface has @flags and is a @kind, or NULL. */
static inline void kernel_iface(struct kernel *k, unsigned ahead,
				unsigned flags, const char *kind)
{
	kernel_describe(k->asked, k->p.neigh.ask.seq + 1 + ahead, RTM_NEWLINK,
			flags, kind);
}

/* News: of the interface, the same. */
static inline void kernel_link(struct kernel *k, uint16_t type, unsigned flags)
{
	kernel_describe(k->news, 0, type, flags, NULL);
}

/* The answer @fd gets as message @seq: all interfaces, of which another one may
 * be a port of it. */
static inline void kernel_ports(int fd, uint32_t seq, bool any)
{
	char buf[256] = { 0 };
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *m;

	h->nlmsg_type = RTM_NEWLINK;
	h->nlmsg_seq = seq;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->ifi_index = KERNEL_INDEX + 1;
	mnl_attr_put_u32(h, IFLA_MASTER, KERNEL_INDEX + !any);
	kernel_send(fd, h);
	h->nlmsg_type = NLMSG_DONE;
	kernel_send(fd, h);
}

/* News of @type, with a header of @len zeros. */
static inline void kernel_tell(struct kernel *k, uint16_t type, size_t len)
{
	char buf[256] = { 0 };
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);

	h->nlmsg_type = type;
	mnl_nlmsg_put_extra_header(h, len);
	kernel_send(k->news, h);
}

/* The interface is ours, as far as the path manager knows. */
static inline void kernel_taken(struct kernel *k)
{
	k->p.iface = (struct tux_iface){
		.index = KERNEL_INDEX, .mtu = KERNEL_MTU, .up = true,
	};
	k->p.nic.iface = k->p.iface;
	k->p.nic.state = TUX_NIC_ON;
}

/* The thread that takes the interface has ended well, at @now.  Nothing goes through
 * its queue. */
static inline void kernel_nic_took(struct kernel *k, tux_time now)
{
	k->p.nic.state = TUX_NIC_BUSY;
	k->p.nic.n = 1;
	atomic_store(&k->p.nic.done, true);
	tux_paths_event(&k->p, TUX_PATHS_NIC, now);
	k->p.nic.n = 0;
}

/* The thread that takes or gives back the interface, if there is one, ends. */
static inline void kernel_nic_ends(struct kernel *k, tux_time now)
{
	struct pollfd p = { k->p.nic.fd, POLLIN, 0 };

	while (k->p.nic.state == TUX_NIC_BUSY) {
		assert_int_equal(poll(&p, 1, 10000), 1);
		tux_paths_event(&k->p, TUX_PATHS_NIC, now);
	}
}

/* From now on, bpf() is refused, as by kernels before 5.19 for a process that
 * has given up its privilege.  So a program that is not there is not missed. */
static inline int kernel_deny(void **state)
{
	(void)state;
	if (!filter_refuse(SYS_bpf, 0, 0, EPERM, 0)) {
		puts("this kernel takes no seccomp filter");
		exit(77);
	}
	return 0;
}

static inline struct tux_addr kernel_addr(uint16_t port)
{
	return (struct tux_addr){
		.ip = { [10] = 0xff, 0xff, 10, 0, 0, 1 }, .port = port,
	};
}

#endif
