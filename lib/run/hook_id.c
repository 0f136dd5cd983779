/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who the process is.  The kernel keeps that for each thread; libc has all of
 * them change it by a signal, and ticks each off in its own storage.  A thread
 * that is in a routine ticks off the wrong one, and the caller asks for ever.
 */
#include "run/hook.h"

#if TUX_HOOKED

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "run/sched_in.h"

enum { GROUPS = 64 };		/* of a user, at first */

struct ids {
	uint32_t id[3];
	const void *list;
	size_t n;
};

static inline void set_tls(uintptr_t tls)
{
#ifdef TUX_SWITCH_ASM
	__asm__ volatile("wrfsbase %0" : : "r"(tls) : "memory");
#else
	(void)tls;
#endif
}

static inline uintptr_t tls_of(const struct tux_switch *x)
{
#ifdef TUX_SWITCH_ASM
	return x->tls;
#else
	(void)x;
	return 0;
#endif
}

/* Functions of their own: where errno lies is looked up anew in each. */
static __attribute__((noinline)) int result(int ret)
{
	return ret ? -errno : 0;
}

static __attribute__((noinline)) int give(int err)
{
	if (err)
		errno = -err;
	return err ? -1 : 0;
}

/* Ticks find no routine while the storage is the thread's own. */
static int as_thread(int (*fn)(const struct ids *), const struct ids *a)
{
	struct tux_routine *r = tux_here.routine;
	int err;

	if (!r || !tls_of(&r->at))
		return give(fn(a));
	tux_sched_enter();
	set_tls(tls_of(&r->sched->net));
	err = fn(a);
	set_tls(tls_of(&r->at));
	tux_sched_leave();
	return give(err);
}

#define ONE(name, type)							\
static int do_##name(const struct ids *a)				\
{									\
	return result(tux_real()->name(a->id[0]));			\
}									\
									\
TUX_HOOK int name(type x)						\
{									\
	return as_thread(do_##name, &(struct ids){ .id = { x } });	\
}

#define TWO(name, type)							\
static int do_##name(const struct ids *a)				\
{									\
	return result(tux_real()->name(a->id[0], a->id[1]));		\
}									\
									\
TUX_HOOK int name(type x, type y)					\
{									\
	return as_thread(do_##name, &(struct ids){ .id = { x, y } });	\
}

#define THREE(name, type)						\
static int do_##name(const struct ids *a)				\
{									\
	return result(tux_real()->name(a->id[0], a->id[1], a->id[2]));	\
}									\
									\
TUX_HOOK int name(type x, type y, type z)				\
{									\
	return as_thread(do_##name, &(struct ids){ .id = { x, y, z } });	\
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
	return as_thread(do_setgroups, &(struct ids){ .list = list, .n = n });
}

/* To find them may take any lock, which is no matter for a thread that is not
 * preempted: first the list, as the routine. */
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
