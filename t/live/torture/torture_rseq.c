/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processor this is, and sequences that the kernel restarts.
 *
 * Counters of each processor, counted up without a locked instruction as
 * allocators do it: in a critical section of rseq where the thread's area says
 * that it is registered, else with one, and then in another place: nothing says
 * that the processor is still the same.  A count is lost if a section goes on
 * after somebody else ran on its processor, or if it takes the wrong one.
 */
#include "torture.h"

#include <sched.h>
#include <stddef.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	CPUS = 1024,
	APART = 8,		/* words: a line of the cache for each */
};

static uint64_t counter[CPUS * APART], locked[CPUS * APART];
static uint64_t counted;

static volatile struct rseq *area(void)
{
	char *self = __builtin_thread_pointer();

	return (struct rseq *)(void *)(self + __rseq_offset);
}

/*
 * One more for @cpu, unless this is not the processor or something came between.
 * The loop within is long, so that much does.
 */
static bool count_on(volatile struct rseq *r, uint32_t cpu)
{
	uint64_t *at = &counter[cpu * APART];

	__asm__ goto volatile(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"9: .long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n\t"
		"leaq 9b(%%rip), %%rax\n\t"
		"movq %%rax, %c[cs](%[r])\n"
		"1: cmpl %[cpu], %c[id](%[r])\n\t"
		"jne %l[other]\n\t"
		"movq (%[at]), %%rax\n\t"
		"movl $300, %%edx\n"
		"3: decl %%edx\n\t"
		"jnz 3b\n\t"
		"incq %%rax\n\t"
		"movq %%rax, (%[at])\n"
		"2:\n\t"
		".pushsection __rseq_failure, \"ax\"\n\t"
		".byte 0x0f, 0xb9, 0x3d\n\t"
		".long %c[sig]\n"
		"4: jmp %l[other]\n\t"
		".popsection"
		: : [cs] "i"(offsetof(struct rseq, rseq_cs)),
		    [id] "i"(offsetof(struct rseq, cpu_id)),
		    [sig] "i"(RSEQ_SIG), [r] "r"(r), [cpu] "r"(cpu), [at] "r"(at)
		: "memory", "cc", "rax", "rdx" : other);
	return true;
other:
	return false;
}

static uint32_t really(void)
{
	unsigned cpu = CPUS;

	syscall(SYS_getcpu, &cpu, NULL, NULL);
	return cpu;
}

static void rseq_step(struct hand *h)
{
	volatile struct rseq *r = area();
	uint32_t cpu;
	unsigned i;

	for (i = 0; i < 20; i++) {
		cpu = r->cpu_id_start;
		if (__rseq_size && (int32_t)r->cpu_id >= 0) {
			h->n += count_on(r, cpu);
			continue;
		}
		cpu = really();
		__atomic_fetch_add(&locked[cpu * APART], 1, __ATOMIC_RELAXED);
		h->n++;
	}
}

static void rseq_leave(struct hand *h)
{
	__atomic_fetch_add(&counted, h->n, __ATOMIC_RELAXED);
}

static void rseq_close(void)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < CPUS; i++)
		sum += counter[i * APART] + locked[i * APART];
	must(sum == counted);
}

const struct work work_rseq = {
	.name = "rseq", .hands = 4, .thread = true,
	.step = rseq_step, .leave = rseq_leave, .close = rseq_close,
};

/* ---- where am I ------------------------------------------------------------ */

static cpu_set_t all;

static const char *cpu_open(void)
{
	return sched_getaffinity(0, sizeof(all), &all) ? "no affinity" : NULL;
}

/* What is said between two equal answers of the kernel is the same.  Nothing is
 * sure between one answer and what is said: another routine may move us. */
static void ask(struct hand *h, unsigned linger)
{
	uint32_t before = really(), after;
	int said;

	torture_linger(h, linger);
	said = sched_getcpu();
	after = really();
	must(before != after || said == (int)before);
}

/* To another processor, as a balancing kernel may do it at any moment. */
static void move(struct hand *h)
{
	cpu_set_t one;
	int cpu = (int)hand_below(h, (unsigned)CPU_COUNT(&all)), i;

	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all) && cpu-- == 0)
			break;
	CPU_ZERO(&one);
	CPU_SET(i, &one);
	must(!sched_setaffinity(0, sizeof(one), &one));
	ask(h, 1);
	must(!sched_setaffinity(0, sizeof(all), &all));
}

static void cpu_step(struct hand *h)
{
	if (hand_below(h, 32) == 0)
		move(h);
	ask(h, 100);
	torture_linger(h, 1000);
}

const struct work work_cpu = {
	.name = "cpu", .hands = 2, .thread = true,
	.open = cpu_open, .step = cpu_step,
};
