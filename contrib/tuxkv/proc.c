/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc.h"

#include "ycsb.h"

static const struct proc *const procs[KV_OPS] = {
	[KV_GET] = &ycsb_get,
	[KV_RMW] = &ycsb_rmw,
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
