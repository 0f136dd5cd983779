/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/attempt.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "sys/sys.h"

bool tux_filtered(void)
{
	return TUX_SYS(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0;
}

bool tux_capable(unsigned long set)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (TUX_SYS(SYS_capget, &h, d, 0, 0, 0, 0) < 0)
		return false;
	return set & ((unsigned long)d[1].effective << 32 | d[0].effective);
}

/* A copy that is killed leaves no file, and calls no handler of the program. */
static void attempt_in_copy(int (*fn)(void))
{
	const struct rlimit none = { 0, 0 };
	const unsigned long by_default[4] = { 0 };	/* struct sigaction */

	TUX_SYS(SYS_rt_sigaction, SIGSYS, by_default, 0, 8, 0, 0);
	TUX_SYS(SYS_prlimit64, 0, RLIMIT_CORE, &none, 0, 0, 0);
	TUX_SYS(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0);
	TUX_SYS(SYS_exit_group, -fn(), 0, 0, 0, 0, 0);
}

/* No signal says that the copy has ended: the program would see it. */
int tux_attempt(int (*fn)(void))
{
	long pid, r;
	int status = 0;

	if (!tux_filtered())
		return fn();
	pid = TUX_SYS(SYS_clone, 0, 0, 0, 0, 0, 0);
	if (pid == 0)
		attempt_in_copy(fn);
	if (pid < 0)
		return -EPERM;
	do
		r = TUX_SYS(SYS_wait4, pid, &status, __WALL, 0, 0, 0);
	while (r == -EINTR);
	return r == pid && WIFEXITED(status) ? -WEXITSTATUS(status) : -EPERM;
}
