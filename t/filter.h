/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter - system calls that the kernel refuses, as by a filter that the process was
 * started with
 */
#ifndef TUX_T_FILTER_H
#define TUX_T_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "sys/sys.h"

/* From now on, the kernel does @action (SECCOMP_RET_*) at system call @nr if the bits
 * @mask of its first argument are @bits; no @mask: always.  So it is in this thread
 * and in those that it starts; with SECCOMP_FILTER_FLAG_TSYNC as @flags, in all.  The
 * preload does not see the calls, as it has not seen those of a parent.  False: the
 * kernel has no filters. */
static inline bool filter_install(long nr, uint32_t mask, uint32_t bits,
				  uint32_t action, unsigned flags)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, bits & mask, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

	return !TUX_SYS(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0) &&
	       !TUX_SYS(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &p, 0, 0,
			0);
}

/* The same: the call fails with @err. */
static inline bool filter_refuse(long nr, uint32_t mask, uint32_t bits, int err,
				 unsigned flags)
{
	return filter_install(nr, mask, bits,
			      SECCOMP_RET_ERRNO | (uint32_t)err, flags);
}

#endif
