/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prctl - the calls that restrict what the process may do
 */
#include "hook/prctl.h"

#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "family/sandbox.h"
#include "ground/libc.h"
#include "ground/process.h"
#include "sys/attempt.h"

/* Would the kernel take a filter?  Else nothing changes, and a program that
 * asks what the kernel has pays nothing. */
static bool may_filter(void)
{
	if (process_is_sandboxed())
		return false;
	return libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	       tux_capable(1UL << CAP_SYS_ADMIN);
}

/* Without a filter, a program asks whether the kernel has filters. */
static bool takes_filter(const void *filter)
{
	return filter && may_filter();
}

HOOK int prctl(int option, ...)
{
	unsigned long a[4];
	va_list ap;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_SECCOMP &&
	    (a[0] == SECCOMP_MODE_STRICT ||
	     (a[0] == SECCOMP_MODE_FILTER && takes_filter((void *)a[1]))))
		sandbox_begin();
	return libc.prctl(option, a[0], a[1], a[2], a[3]);
}

long prctl_seccomp(unsigned op, unsigned flags, void *arg)
{
	if ((op == SECCOMP_SET_MODE_STRICT && !flags && !arg) ||
	    (op == SECCOMP_SET_MODE_FILTER && takes_filter(arg)))
		sandbox_begin();
	return libc.syscall(SYS_seccomp, op, flags, arg);
}
