/* SPDX-License-Identifier: BSD-2-Clause */
#include "ground/process.h"

#include <unistd.h>

uint32_t process_epoch = 1;
struct tux_stack *_Atomic process_stack;

static pid_t owner;
static _Atomic bool sandboxed;

static void learn_owner(void)
{
	if (!sandboxed)
		owner = getpid();
}

void process_init(void)
{
	learn_owner();
}

void process_forked(void)
{
	learn_owner();
	process_epoch++;
}

int process_owner(void)
{
	return owner;
}

bool process_is_vfork(void)
{
	return !sandboxed && getpid() != owner;
}

bool process_is_sandboxed(void)
{
	return sandboxed;
}

void process_sandboxed(void)
{
	sandboxed = true;
	process_epoch++;
}
