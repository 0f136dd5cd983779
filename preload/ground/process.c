/* SPDX-License-Identifier: BSD-2-Clause */
#include "ground/process.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };	/* where it is larger, the page is not wiped */

/* With a page of its own. */
static union {
	struct process_here here;
	char bytes[PAGE];
} wiped __attribute__((aligned(PAGE)));

extern struct process_here process_here __attribute__((alias("wiped")));

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
	process_here.epoch = epochs = 1;
	if (getpagesize() == PAGE)
		madvise(&wiped, sizeof(wiped), MADV_WIPEONFORK);
}

void process_forked(void)
{
	learn_owner();
	process_here.epoch = ++epochs;
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
	process_here.epoch = ++epochs;
}
