/* SPDX-License-Identifier: BSD-2-Clause */
#include "ground/process.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };	/* where it is larger, the kernel does not wipe it */

/* Each on pages of its own. */
#define WIPED __attribute__((aligned(PAGE)))

static union {
	uint32_t epoch;
	char bytes[PAGE];
} wiped_epoch WIPED;

static union {
	struct tux_stack *_Atomic stack;
	char bytes[PAGE];
} wiped_stack WIPED;

extern uint32_t process_epoch __attribute__((alias("wiped_epoch")));
extern struct tux_stack *_Atomic process_stack
	__attribute__((alias("wiped_stack")));

static uint32_t epochs;		/* of this process and those before it */

static pid_t owner;
static _Atomic bool sandboxed;

static void learn_owner(void)
{
	if (!sandboxed)
		owner = getpid();
}

void process_init(void)
{
	if (epochs)
		return;
	learn_owner();
	process_epoch = epochs = 1;
	madvise(&wiped_epoch, sizeof(wiped_epoch), MADV_WIPEONFORK);
	madvise(&wiped_stack, sizeof(wiped_stack), MADV_WIPEONFORK);
}

void process_forked(void)
{
	learn_owner();
	process_epoch = ++epochs;
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
	process_epoch = ++epochs;
}
