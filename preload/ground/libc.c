/* SPDX-License-Identifier: BSD-2-Clause */
#include "ground/libc.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "ground/early.h"

/* ---- before the constructor ------------------------------------------- */

#define LATE(type, call, params, args) \
	static type late_##call params \
	{ \
		libc_init(); \
		return libc.call args; \
	}

LATE(pid_t, fork, (void), ())
LATE(pid_t, _Fork, (void), ())
LATE(int, execve, (const char *p, char *const *a, char *const *e), (p, a, e))
LATE(int, execv, (const char *p, char *const *a), (p, a))
LATE(int, execvp, (const char *p, char *const *a), (p, a))
LATE(int, execvpe, (const char *p, char *const *a, char *const *e), (p, a, e))
LATE(int, fexecve, (int fd, char *const *a, char *const *e), (fd, a, e))
LATE(int, execveat,
     (int d, const char *p, char *const *a, char *const *e, int flags),
     (d, p, a, e, flags))
LATE(int, posix_spawn,
     (pid_t *pid, const char *p, const posix_spawn_file_actions_t *f,
      const posix_spawnattr_t *t, char *const *a, char *const *e),
     (pid, p, f, t, a, e))
LATE(int, posix_spawnp,
     (pid_t *pid, const char *p, const posix_spawn_file_actions_t *f,
      const posix_spawnattr_t *t, char *const *a, char *const *e),
     (pid, p, f, t, a, e))
LATE(int, posix_spawn_file_actions_adddup2,
     (posix_spawn_file_actions_t *f, int fd, int to), (f, fd, to))
LATE(FILE *, popen, (const char *cmd, const char *mode), (cmd, mode))
LATE(int, system, (const char *cmd), (cmd))
LATE(int, sigaction,
     (int n, const struct sigaction *a, struct sigaction *o), (n, a, o))
LATE(FILE *, fdopen, (int fd, const char *mode), (fd, mode))
LATE(int, fclose, (FILE *f), (f))

static void late_closefrom(int from)
{
	libc_init();
	libc.closefrom(from);
}

static int late_clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	void *p[3];
	va_list ap;

	libc_init();
	va_start(ap, arg);
	for (int i = 0; i < 3; i++)
		p[i] = va_arg(ap, void *);
	va_end(ap);
	return libc.clone(fn, stack, flags, arg, p[0], p[1], p[2]);
}

struct libc libc = {
#define X(name) .name = early_##name,
	LIBC_EARLY(X)
#undef X
#define X(name) .name = late_##name,
	LIBC_LATE(X)
#undef X
};

/* ---- the real ones ---------------------------------------------------- */

static bool done;

/* A function that this libc does not have keeps its entry from above. */
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
