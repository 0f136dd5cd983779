/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc.h"

#include "tpcc_procs.h"
#include "ycsb.h"

static const struct proc *const procs[KV_OPS] = {
	[KV_GET] = &ycsb_get,
	[KV_RMW] = &ycsb_rmw,
	[KV_NEW_ORDER] = &tpcc_new_order_proc,
	[KV_PAYMENT] = &tpcc_payment_proc,
	[KV_ORDER_STATUS] = &tpcc_order_status_proc,
	[KV_DELIVERY] = &tpcc_delivery_proc,
	[KV_STOCK_LEVEL] = &tpcc_stock_level_proc,
};

const struct proc *proc_of(const void *request, uint32_t len)
{
	const struct proc *p;
	struct kv_hdr h;

	if (len < sizeof(h))
		return NULL;
	memcpy(&h, request, sizeof(h));
	if (h.len != len || h.status || !h.op || h.op >= KV_OPS)
		return NULL;
	p = procs[h.op];
	return len == sizeof(h) + p->args_len ? p : NULL;
}
