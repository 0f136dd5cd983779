/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The switch on x86-64: what the ABI makes a function keep, the rounding modes
 * of SSE and x87, the stack, and the FS base.
 */
	.text

/* void tux_switch_jump(void **sp, void *to, uintptr_t tls) */
	.globl	tux_switch_jump
	.hidden	tux_switch_jump
	.type	tux_switch_jump, @function
	.balign	32
tux_switch_jump:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r14, 0
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r15, 0
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	movq	%rsp, (%rdi)
	/* The other stack looks just the same, so what is said above about this
	   one holds for it. */
	movq	%rsi, %rsp
	testq	%rdx, %rdx
	jz	1f
	wrfsbase %rdx
1:
	ldmxcsr	(%rsp)
	fldcw	4(%rsp)
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%r15
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r15
	popq	%r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r14
	popq	%r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r13
	popq	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	tux_switch_jump, . - tux_switch_jump

/* Nothing has called it: unwinding stops here. */
	.globl	tux_switch_entry
	.hidden	tux_switch_entry
	.type	tux_switch_entry, @function
	.balign	16
	.cfi_startproc
	.cfi_undefined %rip
	/* An unwinder looks up a return address less one. */
	nop
tux_switch_entry:
	movq	%r12, %rdi
	xorl	%ebp, %ebp
	call	*%rbx
	ud2
	.cfi_endproc
	.size	tux_switch_entry, . - tux_switch_entry

	.section .note.GNU-stack, "", @progbits
