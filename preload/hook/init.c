/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * init - the first thing that runs
 *
 * The constructors of libraries may run even earlier; for them early.c does.
 */
#include "family/fork.h"
#include "ground/conf.h"
#include "ground/libc.h"
#include "sock/say.h"
#include "sys/fd.h"

static __attribute__((constructor(101))) void preload_init(void)
{
	libc_init();
	conf_init();
	say_init();
	fork_init();
	if (conf.path != TUX_PATH_MODE_TCP)
		tux_fd_reserve();
}
