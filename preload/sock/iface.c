/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/iface.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>

#include "ground/conf.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "sys/sys.h"
#include "sys/take.h"

enum {
	ADDRS = 64,		/* of one interface; more are not looked at */
	FRESH_MS = 1000,	/* an answer is believed for so long */
};

/* The interface's addresses, as the kernel last told them. */
static struct {
	struct tux_latch latch;
	tux_time at;
	int n;
	uint8_t ip[ADDRS][16];
} known;

static void map_v4(uint8_t *ip, const void *v4)
{
	memset(ip, 0, 10);
	ip[10] = ip[11] = 0xff;
	memcpy(ip + 12, v4, 4);
}

bool iface_addr(struct tux_addr *a, const struct sockaddr_storage *sa)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	const struct sockaddr_in6 *v6 = (const void *)sa;

	if (sa->ss_family == AF_INET) {
		map_v4(a->ip, &v4->sin_addr);
		a->port = ntohs(v4->sin_port);
		return true;
	}
	if (sa->ss_family == AF_INET6) {
		memcpy(a->ip, &v6->sin6_addr, sizeof(a->ip));
		a->port = ntohs(v6->sin6_port);
		return true;
	}
	return false;
}

bool iface_local(int fd, struct tux_addr *a)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	return !getsockname(fd, (void *)&sa, &len) && iface_addr(a, &sa);
}

bool iface_peer(int fd, struct tux_addr *a)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	return !getpeername(fd, (void *)&sa, &len) && iface_addr(a, &sa);
}

/* ---- the kernel's list ------------------------------------------------ */

static void iface_learn(const struct nlmsghdr *h, int index)
{
	const struct ifaddrmsg *m = NLMSG_DATA(h);
	struct rtattr *a = IFA_RTA(m);
	int len = (int)IFA_PAYLOAD(h);
	const void *at = NULL;

	if (h->nlmsg_type != RTM_NEWADDR || (int)m->ifa_index != index)
		return;
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		if (a->rta_type == IFA_LOCAL ||
		    (a->rta_type == IFA_ADDRESS && !at))
			at = RTA_DATA(a);
	if (!at || known.n == ADDRS)
		return;
	if (m->ifa_family == AF_INET)
		map_v4(known.ip[known.n++], at);
	else
		memcpy(known.ip[known.n++], at, 16);
}

static bool iface_ask(int fd)
{
	struct {
		struct nlmsghdr h;
		struct ifaddrmsg m;
	} q = {
		.h = { .nlmsg_len = sizeof(q), .nlmsg_type = RTM_GETADDR,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
	};

	return tux_sys_send(fd, &q, sizeof(q), 0) == sizeof(q);
}

static void hear(int fd, int index)
{
	/* known.latch is held. */
	static _Alignas(struct nlmsghdr) char buf[8192];

	for (;;) {
		long len = tux_sys_recv(fd, buf, sizeof(buf), 0);
		struct nlmsghdr *h = (void *)buf;

		if (len <= 0)
			return;
		for (; NLMSG_OK(h, (unsigned long)len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type == NLMSG_DONE ||
			    h->nlmsg_type == NLMSG_ERROR)
				return;
			iface_learn(h, index);
		}
	}
}

static int index_of(int fd, const char *name)
{
	struct ifreq r = { .ifr_ifindex = 0 };

	memcpy(r.ifr_name, name, strlen(name) + 1);
	if (TUX_SYS(SYS_ioctl, fd, SIOCGIFINDEX, &r, 0, 0, 0) < 0)
		return 0;
	return r.ifr_ifindex;
}

static void refresh(void)
{
	int fd = tux_sys_socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
				NETLINK_ROUTE);
	int index;

	if (fd < 0)
		return;
	known.n = 0;
	index = index_of(fd, conf.iface);
	if (index && iface_ask(fd))
		hear(fd, index);
	tux_sys_close(fd);
}

static bool iface_knows(const uint8_t *ip)
{
	for (int i = 0; i < known.n; i++)
		if (memcmp(known.ip[i], ip, 16) == 0)
			return true;
	return false;
}

bool iface_has(const struct tux_addr *a)
{
	tux_time now = tux_clock_read();
	bool yes;

	tux_defer_enter();
	tux_latch_take(&known.latch);
	yes = iface_knows(a->ip);
	if (!yes && (!known.at || now - known.at > TUX_MSEC(FRESH_MS))) {
		refresh();
		known.at = now;
		yes = iface_knows(a->ip);
	}
	tux_latch_drop(&known.latch);
	tux_defer_leave();
	return yes;
}

void iface_forked(void)
{
	known.at = 0;
	tux_latch_drop(&known.latch);
}
