/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processor's state: modes of arithmetic, registers, the red zone.
 */
#include "torture.h"

#include <fenv.h>
#include <string.h>

#include "run/sched.h"

/* ---- modes -------------------------------------------------------------- */

static const int mode[] = {
	FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO,
};

/* One third, both ways, as SSE rounds it; times three it is exact. */
static bool as_rounded(int how)
{
	volatile double one = 1, three = 3, minus = -1;
	double up = one / three, down = minus / three;
	bool over = up * 3.0L > 1, under = down * 3.0L < -1;

	return over == (how == FE_UPWARD) && under == (how == FE_DOWNWARD);
}

static int x87_mode(void)
{
	uint16_t word;

	__asm__ volatile("fnstcw %0" : "=m"(word));
	return word & 0xc00;
}

static void in_mode(struct hand *h)
{
	int how = mode[hand_below(h, 4)];
	unsigned i;

	must(fegetround() == FE_TONEAREST);
	must(!fesetround(how));
	for (i = 0; i < 500; i++)
		if (!as_rounded(how) || x87_mode() != how)
			break;
	must(i == 500);
	torture_linger(h, 1000);
	if (hand_below(h, 64) == 0)
		tux_sched_yield();
	must(fegetround() == how && as_rounded(how) && x87_mode() == how);
	must(!fesetround(FE_TONEAREST));
}

/* ---- registers ------------------------------------------------------------ */

struct image {
	uint64_t r[6];
	uint8_t v[16][32];
};

#define EACH_VECTOR(op)							\
	op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7)			\
	op(8) op(9) op(10) op(11) op(12) op(13) op(14) op(15)
#define LOAD_V(i) "vmovdqu 48+" #i "*32(%1), %%ymm" #i "\n\t"
#define SAVE_V(i) "vmovdqu %%ymm" #i ", 48+" #i "*32(%2)\n\t"

/*
 * All registers hold @a for @rounds; @b is what they hold after that.  So do pi
 * on the x87 stack and the carry flag, and if they do the result is 1.
 */
static uint32_t hold(const struct image *a, struct image *b, uint32_t rounds)
{
	__asm__ volatile(
		"movq (%1), %%r8\n\t" "movq 8(%1), %%r9\n\t"
		"movq 16(%1), %%r10\n\t" "movq 24(%1), %%r11\n\t"
		"movq 32(%1), %%r12\n\t" "movq 40(%1), %%r13\n\t"
		EACH_VECTOR(LOAD_V)
		"fldpi\n\t" "stc\n"
		"1: decl %0\n\t" "jnz 1b\n\t"
		"adcl $0, %0\n\t"
		"fldpi\n\t" "fucomip %%st(1), %%st\n\t" "fstp %%st(0)\n\t"
		"je 2f\n\t" "movl $2, %0\n"
		"2: movq %%r8, (%2)\n\t" "movq %%r9, 8(%2)\n\t"
		"movq %%r10, 16(%2)\n\t" "movq %%r11, 24(%2)\n\t"
		"movq %%r12, 32(%2)\n\t" "movq %%r13, 40(%2)\n\t"
		EACH_VECTOR(SAVE_V)
		"vzeroupper"
		: "+&r"(rounds) : "r"(a), "r"(b)
		: "memory", "cc", "st", "st(1)",
		  "r8", "r9", "r10", "r11", "r12", "r13",
		  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
		  "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
		  "xmm14", "xmm15");
	return rounds;
}

static void in_registers(struct hand *h)
{
	struct image a, b;
	unsigned i;

	for (i = 0; i < 6; i++)
		a.r[i] = hand_random(h);
	for (i = 0; i < sizeof(a.v); i++)
		a.v[i / 32][i % 32] = (uint8_t)hand_random(h);
	memset(&b, 0, sizeof(b));
	must(hold(&a, &b, 1 + hand_below(h, 10000)) == 1);
	must(!memcmp(&a, &b, sizeof(a)));
}

static const char *registers_open(void)
{
	return __builtin_cpu_supports("avx") ? NULL : "no AVX";
}

static void registers_step(struct hand *h)
{
	if (hand_below(h, 2))
		in_mode(h);
	else
		in_registers(h);
}

const struct work work_registers = {
	.name = "registers", .hands = 3, .thread = true,
	.open = registers_open, .step = registers_step,
};

/* ---- below the stack pointer ------------------------------------------------ */

/* How many of the sixteen words of the red zone still hold @seed. */
static uint64_t red_zone(uint64_t seed, uint32_t rounds)
{
	uint64_t same = 0, i = 0;

	__asm__ volatile(
		"movq $-16, %1\n"
		"1: movq %3, (%%rsp,%1,8)\n\t" "incq %1\n\t" "jnz 1b\n"
		"2: decl %2\n\t" "jnz 2b\n\t"
		"movq $-16, %1\n"
		"3: cmpq %3, (%%rsp,%1,8)\n\t" "jne 4f\n\t" "incq %0\n"
		"4: incq %1\n\t" "jnz 3b"
		: "+&r"(same), "+&r"(i), "+&r"(rounds) : "r"(seed)
		: "memory", "cc");
	return same;
}

static void redzone_step(struct hand *h)
{
	uint64_t same = red_zone(hand_random(h), 1 + hand_below(h, 10000));

	must(same == 16);
}

const struct work work_redzone = {
	.name = "redzone", .hands = 2, .thread = true, .step = redzone_step,
};
