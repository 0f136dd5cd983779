/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The identity of the process. The kernel keeps it for each thread, and libc
 * has all other threads change it by a signal (run/setxid.h). libc knows the
 * other threads by the caller's storage, which therefore has to be the thread's
 * own.
 */
#include "run/hook.h"

#if TUX_HOOKED

#include <errno.h>
#include <stdlib.h>

#include "run/sched_in.h"

enum { GROUPS = 64 };		/* of a user, at first */

struct ids {
	uint32_t id[3];
	const void *list;
	size_t n;
};

/* Functions of their own: where errno lies is looked up anew in each. */
static __attribute__((noinline)) int result(int ret)
{
	return ret ? -errno : 0;
}

static __attribute__((noinline)) int ids_give(int err)
{
	if (err)
		errno = -err;
	return err ? -1 : 0;
}

/* Ticks find no routine while the storage is the thread's own. */
static int ids_as_thread(int (*fn)(const struct ids *), const struct ids *a)
{
	struct tux_routine *r = tux_here.routine;
	int err;

	if (!r || !r->sched->tls)
		return ids_give(fn(a));
	tux_sched_enter();
	tux_switch_take_tls(&r->sched->net);
	err = fn(a);
	tux_switch_take_tls(&r->at);
	tux_sched_leave();
	return ids_give(err);
}

#define ONE(name, type)							\
static int do_##name(const struct ids *a)				\
{									\
	return result(tux_real()->name(a->id[0]));			\
}									\
									\
TUX_HOOK int name(type x)						\
{									\
	return ids_as_thread(do_##name, &(struct ids){ .id = { x } });	\
}

#define TWO(name, type)							\
static int do_##name(const struct ids *a)				\
{									\
	return result(tux_real()->name(a->id[0], a->id[1]));		\
}									\
									\
TUX_HOOK int name(type x, type y)					\
{									\
	return ids_as_thread(do_##name,					\
			     &(struct ids){ .id = { x, y } });		\
}

#define THREE(name, type)						\
static int do_##name(const struct ids *a)				\
{									\
	return result(tux_real()->name(a->id[0], a->id[1], a->id[2]));	\
}									\
									\
TUX_HOOK int name(type x, type y, type z)				\
{									\
	return ids_as_thread(do_##name, &(struct ids){ .id = { x, y, z } });	\
}

ONE(setuid, uid_t)
ONE(setgid, gid_t)
ONE(seteuid, uid_t)
ONE(setegid, gid_t)
TWO(setreuid, uid_t)
TWO(setregid, gid_t)
THREE(setresuid, uid_t)
THREE(setresgid, gid_t)

static int do_setgroups(const struct ids *a)
{
	return result(tux_real()->setgroups(a->n, a->list));
}

TUX_HOOK int setgroups(size_t n, const gid_t *list)
{
	return ids_as_thread(do_setgroups,
			     &(struct ids){ .list = list, .n = n });
}

/* Looking groups up may block on libc's locks.  So the routine does it, which may
 * wait there; the thread only sets the list. */
TUX_HOOK int initgroups(const char *user, gid_t group)
{
	int n = GROUPS, most = n, ret = -1;
	gid_t *list;

	if (!tux_here.routine)
		return tux_real()->initgroups(user, group);
	do {
		list = calloc((size_t)n, sizeof(*list));
		if (!list || getgrouplist(user, group, list, &n) >= 0)
			break;
		free(list);
		list = NULL;
	} while (n > most && (most = n));
	if (list)
		ret = setgroups((size_t)n, list);
	free(list);
	return ret;
}

#endif
