/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu.h"

#include <errno.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int cpu_add(struct cpu *c, pid_t pid)
{
	int err;

	if (c->n == CPU_OTHERS)
		return -ENOSPC;
	err = clock_getcpuclockid(pid, &c->clock[c->n]);
	if (!err)
		c->n++;
	return -err;
}

uint64_t cpu_own(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t cpu_others(const struct cpu *c)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < c->n; i++)
		sum += read_clock(c->clock[i]);
	return sum;
}
