/* SPDX-License-Identifier: BSD-2-Clause */
#include "ground/process.h"

#include <unistd.h>

uint32_t process_epoch = 1;
struct tux_stack *_Atomic process_stack;

static pid_t owner;

void process_init(void)
{
	owner = getpid();
}

void process_forked(void)
{
	owner = getpid();
	process_epoch++;
}

bool process_is_vfork(void)
{
	return getpid() != owner;
}
