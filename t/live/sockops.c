/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sockops - attaches a program to a cgroup as tools do that know of no second one:
 * afterwards, the kernel takes no other program there
 *
 *   sockops CGROUP    the program goes with the cgroup
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(int cmd, union bpf_attr *a)
{
	return (int)syscall(SYS_bpf, cmd, a, sizeof(*a));
}

/* It does nothing, and says that all is well. */
static int load(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0,
		  .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a = {
		.prog_type = BPF_PROG_TYPE_SOCK_OPS,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(*insns),
		.license = (uintptr_t)"BSD",
	};

	return call(BPF_PROG_LOAD, &a);
}

int main(int argc, char **argv)
{
	union bpf_attr a = { .attach_type = BPF_CGROUP_SOCK_OPS };
	int cgroup = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
	int prog = load();

	a.target_fd = (uint32_t)cgroup;
	a.attach_bpf_fd = (uint32_t)prog;
	if (cgroup < 0 || prog < 0 || call(BPF_PROG_ATTACH, &a)) {
		perror("sockops");
		return 1;
	}
	return 0;
}
