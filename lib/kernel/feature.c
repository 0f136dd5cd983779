/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/feature.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>

#include "kernel/netlink.h"

/* linux/netdev.h, which is newer than some headers. */
enum {
	NETDEV_CMD_DEV_GET = 1,
	NETDEV_A_DEV_IFINDEX = 1,
	NETDEV_A_DEV_XDP_FEATURES = 3,
	NETDEV_A_DEV_XDP_ZC_MAX_SEGS = 4,
	NETDEV_A_DEV_XSK_FEATURES = 6,
};

static struct nlmsghdr *request(struct tux_netlink *n, uint16_t family,
				uint8_t cmd)
{
	struct nlmsghdr *h = tux_netlink_request(n, family, 0,
						 sizeof(struct genlmsghdr));
	struct genlmsghdr *g = mnl_nlmsg_get_payload(h);

	g->cmd = cmd;
	g->version = 1;
	return h;
}

static void on_family(void *arg, const struct nlmsghdr *h)
{
	struct tux_attrs t;
	uint16_t *family = arg;

	if (tux_attrs_parse(&t, h, sizeof(struct genlmsghdr)))
		tux_attr_get(&t, CTRL_ATTR_FAMILY_ID, family, sizeof(*family));
}

/* The number of the family, or 0: this kernel has none. */
static uint16_t find_family(struct tux_netlink *n)
{
	struct nlmsghdr *h = request(n, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	uint16_t family = 0;

	mnl_attr_put_strz(h, CTRL_ATTR_FAMILY_NAME, "netdev");
	return tux_netlink_ask(n, h, on_family, &family) ? 0 : family;
}

void tux_feature_parse(struct tux_feature *f, const struct nlmsghdr *h)
{
	struct tux_attrs t;

	if (!tux_attrs_parse(&t, h, sizeof(struct genlmsghdr)) ||
	    !tux_attr_get(&t, NETDEV_A_DEV_XDP_FEATURES, &f->xdp,
			  sizeof(f->xdp)))
		return;
	f->known = true;
	tux_attr_get(&t, NETDEV_A_DEV_XDP_ZC_MAX_SEGS, &f->zc_segs,
		     sizeof(f->zc_segs));
	tux_attr_get(&t, NETDEV_A_DEV_XSK_FEATURES, &f->xsk, sizeof(f->xsk));
}

static void on_dev(void *arg, const struct nlmsghdr *h)
{
	tux_feature_parse(arg, h);
}

int tux_feature_ask(struct tux_feature *f, unsigned index)
{
	struct tux_netlink n;
	struct nlmsghdr *h;
	uint16_t family;
	int err;

	memset(f, 0, sizeof(*f));
	err = tux_netlink_open(&n, NETLINK_GENERIC, 0);
	if (err)
		return err;
	family = find_family(&n);
	if (family) {
		h = request(&n, family, NETDEV_CMD_DEV_GET);
		mnl_attr_put_u32(h, NETDEV_A_DEV_IFINDEX, index);
		err = tux_netlink_ask(&n, h, on_dev, f);
	}
	tux_netlink_close(&n);
	return err;
}
