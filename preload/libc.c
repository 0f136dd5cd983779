/* SPDX-License-Identifier: BSD-2-Clause */
#include "libc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "early.h"

struct libc libc = {
#define X(name) .name = early_##name,
	LIBC_CALLS(X)
#undef X
};

static bool done;

/* A function that this libc does not have keeps its entry from early.c. */
static void libc_resolve(void *entry, const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (f)
		memcpy(entry, &f, sizeof(f));
}

void libc_init(void)
{
	int saved = errno;

	if (done)
		return;
	done = true;
#define X(name) libc_resolve(&libc.name, #name);
	LIBC_CALLS(X)
#undef X
	errno = saved;
}

ssize_t libc_ret(ssize_t r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}
