/* SPDX-License-Identifier: BSD-2-Clause */
#include "part/cc.h"

enum { CC_FIRST_PKTS = 10, CC_FIRST_BYTES = 14600 };

void tux_cc_init(struct tux_cc *cc, const struct tux_cc_ops *ops, uint32_t mss)
{
	*cc = (struct tux_cc){ .ops = ops, .mss = mss };
	cc->ssthresh = UINT64_MAX;
	cc->cwnd = (uint64_t)CC_FIRST_PKTS * mss;
	if (cc->cwnd < CC_FIRST_BYTES)
		cc->cwnd = CC_FIRST_BYTES;
	ops->init(cc);
}
