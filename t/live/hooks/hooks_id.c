/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ids of the process: users and groups.
 */
#include "hooks.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static const char own[] = "/proc/thread-self/status";
static const char *const users[] = { "Uid:", "Gid:", "Groups:", NULL };

struct other {
	_Atomic int step;
	pid_t tid;
};

static void *be_there(void *arg)
{
	struct other *o = arg;

	o->tid = (pid_t)syscall(SYS_gettid);
	o->step = 1;
	while (o->step != 2)
		poll(NULL, 0, 1);
	return NULL;
}

/* What the other threads are after @call. */
#define AS_ALL(call) do {						\
	struct other o_ = { .step = 0 };				\
	char path_[64];							\
	pthread_t t_;							\
	if (pthread_create(&t_, NULL, be_there, &o_))			\
		break;							\
	while (!o_.step)						\
		poll(NULL, 0, 1);					\
	TRY(call);							\
	snprintf(path_, sizeof(path_), "/proc/self/task/%d/status",	\
		 o_.tid);						\
	hooks_say_status(own, users);						\
	hooks_say_status(path_, users);					\
	o_.step = 2;							\
	pthread_join(t_, NULL);						\
} while (0)

void try_setuid(void)
{
	TRY(setuid(getuid()));
	AS_ALL(setuid(4001));
	TRY(setuid(0));
	TRY(setuid((uid_t)-1));
}

void try_setgid(void)
{
	TRY(setgid(getgid()));
	AS_ALL(setgid(4002));
	TRY(setgid((gid_t)-1));
}

void try_seteuid(void)
{
	AS_ALL(seteuid(4003));
	TRY(seteuid(4004));
	TRY(seteuid(getuid()));
	TRY(seteuid((uid_t)-1));
}

void try_setegid(void)
{
	AS_ALL(setegid(4005));
	TRY(setegid(getgid()));
	TRY(setegid((gid_t)-1));
}

void try_setreuid(void)
{
	TRY(setreuid((uid_t)-1, (uid_t)-1));
	AS_ALL(setreuid(4006, 4007));
	TRY(setreuid(4008, 4008));
}

void try_setregid(void)
{
	TRY(setregid((gid_t)-1, (gid_t)-1));
	AS_ALL(setregid(4006, 4007));
}

void try_setresuid(void)
{
	TRY(setresuid((uid_t)-1, (uid_t)-1, (uid_t)-1));
	AS_ALL(setresuid(4009, 4010, 4011));
	TRY(setresuid(0, 0, 0));
}

void try_setresgid(void)
{
	TRY(setresgid((gid_t)-1, (gid_t)-1, (gid_t)-1));
	AS_ALL(setresgid(4009, 4010, 4011));
}

void try_setgroups(void)
{
	static const gid_t list[] = { 4012, 4013 };

	AS_ALL(setgroups(2, list));
	TRY(setgroups(0, NULL));
	TRY(setgroups(1u << 30, list));
}

void try_initgroups(void)
{
	AS_ALL(initgroups("root", 4014));
	TRY(initgroups("nobody of that name", 4015));
	hooks_say_status(own, users);
}
