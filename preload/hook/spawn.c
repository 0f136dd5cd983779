/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spawn - the calls that start another program, while this one goes on
 *
 * libc makes the child and calls exec by itself here, past all hooks.
 */
#include "family/spawn.h"

#include <errno.h>
#include <pthread.h>

#include "ground/libc.h"

HOOK int posix_spawn(pid_t *pid, const char *path,
		     const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const argv[],
		     char *const env[])
{
	int r;

	spawn_begin();
	r = libc.posix_spawn(pid, path, actions, attr, argv, env);
	spawn_end();
	return r;
}

HOOK int posix_spawnp(pid_t *pid, const char *file,
		      const posix_spawn_file_actions_t *actions,
		      const posix_spawnattr_t *attr, char *const argv[],
		      char *const env[])
{
	int r;

	spawn_begin();
	r = libc.posix_spawnp(pid, file, actions, attr, argv, env);
	spawn_end();
	return r;
}

/* The copy stays open in the program, whatever FD_CLOEXEC says. */
HOOK int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions,
					  int fd, int to)
{
	return spawn_give(fd) ?
	       libc.posix_spawn_file_actions_adddup2(actions, fd, to) : EBUSY;
}

HOOK FILE *popen(const char *command, const char *mode)
{
	FILE *f;

	spawn_begin();
	f = libc.popen(command, mode);
	spawn_end();
	return f;
}

static void system_end(void *arg)
{
	(void)arg;
	spawn_end();
}

/* With NULL it only asks whether there is a shell.  The thread may be cancelled while
 * it waits. */
HOOK int system(const char *command)
{
	int r;

	if (!command)
		return libc.system(command);
	spawn_begin();
	pthread_cleanup_push(system_end, NULL);
	r = libc.system(command);
	pthread_cleanup_pop(1);
	return r;
}
