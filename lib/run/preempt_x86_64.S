/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The handler of ticks.  Its first instructions raise preempt_count, its last
 * ones lower it again: another tick that comes in between finds a count that is
 * not 0, or a program counter in here.
 */
#include "run/preempt_in.h"

	.text
	.globl	tux_preempt_handler
	.hidden	tux_preempt_handler
	.type	tux_preempt_handler, @function
	.balign	16
tux_preempt_handler:
	.cfi_startproc
	movq	tux_here@gottpoff(%rip), %rax
	incl	%fs:TUX_HERE_PREEMPT_COUNT(%rax)
	movq	(%rsp), %rcx
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	tux_preempt_tick
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	movq	tux_here@gottpoff(%rip), %rax
	decl	%fs:TUX_HERE_PREEMPT_COUNT(%rax)
	ret
	.cfi_endproc
	.globl	tux_preempt_handler_end
	.hidden	tux_preempt_handler_end
tux_preempt_handler_end:
	.size	tux_preempt_handler, . - tux_preempt_handler

	.section .note.GNU-stack, "", @progbits
