/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture - what routines must survive, a workload for each kind of thing
 *
 * A workload is done by hands: tasks with a strand of their own, each in many
 * steps, preempted anywhere; some have a plain thread that does the same.  A
 * step checks what it sees as soon as it sees it, and close() what must add up.
 */
#ifndef TUX_TORTURE_H
#define TUX_TORTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hand {
	const struct work *work;
	unsigned id;		/* among all hands, threads too */
	uint64_t rng;
	uint64_t steps;
	uint64_t n;		/* the workload's */
	void *own;		/* the workload's */
};

struct work {
	const char *name;
	unsigned hands;
	bool thread;		/* one more hand, in a plain thread */
	bool serial;		/* the hands share a strand */

	/* Makes what the hands share.  NULL, or why it cannot be done here. */
	const char *(*open)(void);

	/* Some microseconds of work. */
	void (*step)(struct hand *h);

	/* The last step of a task, of which there are many to come. */
	void (*pause)(struct hand *h);

	/* A hand has done its last step, in a routine or in its thread. */
	void (*leave)(struct hand *h);

	/* All hands have left, and the routines are gone. */
	void (*close)(void);
};

extern const struct work
	work_malloc, work_text, work_stdio, work_file, work_mutex, work_rwlock, work_queue,
	work_errno, work_keys, work_cxx, work_dlopen, work_qsort, work_raise,
	work_altstack, work_timer, work_mask, work_registers, work_redzone,
	work_rseq, work_cpu, work_fork, work_setuid, work_region, work_serial,
	work_sleep, work_loop;

/* One line on what is wrong; the first few are printed, all are counted. */
void torture_error(const char *file, int line, const char *what);
unsigned torture_errors(void);

#define must(what) \
	((what) ? (void)0 : torture_error(__FILE__, __LINE__, #what))

/* Where @name lies, which was built beside this program. */
const char *torture_beside(const char *name, char *path, size_t n);

static inline uint64_t hand_random(struct hand *h)
{
	h->rng ^= h->rng << 13;
	h->rng ^= h->rng >> 7;
	h->rng ^= h->rng << 17;
	return h->rng;
}

static inline unsigned hand_below(struct hand *h, unsigned n)
{
	return (unsigned)((hand_random(h) >> 16) % n);
}

/* Arithmetic whose result is known: up to @most rounds of some 2 ns, at most
 * 4096; exactly @rounds. */
void torture_linger(struct hand *h, unsigned most);
void torture_spin(struct hand *h, unsigned rounds);

#endif /* TUX_TORTURE_H */
