/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/hook.h"

#if TUX_HOOKED

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/sched_in.h"

static struct tux_real real;
static bool done;

static void hook_resolve(void *entry, const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	memcpy(entry, &f, sizeof(f));
}

/* Before main() where it can be; an allocator may be here before that, and finds
 * what it asks for without an allocation. */
static __attribute__((constructor)) void hook_init(void)
{
	int saved = errno;

#define X(name) hook_resolve(&real.name, #name);
	TUX_HOOKS(X)
#undef X
	errno = saved;
	done = true;
}

const struct tux_real *tux_real(void)
{
	if (!done)
		hook_init();
	return &real;
}

void tux_hook_say(const char *line)
{
	struct tux_routine *r = tux_here.routine;

	tux_sched_enter();
	if (r && r->sched->o.say)
		r->sched->o.say(line, r->sched->o.arg);
	else
		dprintf(STDERR_FILENO, "libtux: %s\n", line);
	tux_sched_leave();
}

#endif
