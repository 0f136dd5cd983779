/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process - what a fork changes, and the stack of this process
 *
 * Each fork begins an epoch in the child; socks carry the epoch that made them,
 * or claimed them.  A claimed sock of an older epoch is the parent's, and the
 * parent's loops serve it.  A vfork child runs in its parent's memory and must
 * change nothing there.
 */
#ifndef TUX_PRELOAD_PROCESS_H
#define TUX_PRELOAD_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tux_stack;

/* What is of this process alone: the kernel wipes the page on which it lies in each
 * child. */
extern struct process_here {
	/* 0: before process_init(), and in a child that no hook has seen, by a system
	 * call of the program's own, say, or with CLONE_FILES.  What is claimed is
	 * foreign there, too, and nothing more will be claimed. */
	uint32_t epoch;
	/* Which stack.c starts and ends; NULL before the first socket, and in a
	 * child. */
	struct tux_stack *_Atomic stack;
} process_here;

/* At the start, or for the first sock, if that comes before; and in a child, right
 * after fork. */
void process_init(void);
void process_forked(void);

/* The process of this memory: a vfork child's is its parent. */
int process_owner(void);

/* Is the caller a vfork child, in the memory of its parent?  A system call: for
 * slow paths only.  After process_sandboxed(), always false. */
bool process_is_vfork(void);

/* This process may not be allowed system calls of its own any more, which a
 * vfork child of it is not told from it without.  What it has claimed so far is
 * as its parent's would be in a child: nothing of it is left. */
void process_sandboxed(void);
bool process_is_sandboxed(void);

static inline struct tux_stack *preload_stack(void)
{
	return atomic_load_explicit(&process_here.stack, memory_order_acquire);
}

#endif
