/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sockops - programs of others at a cgroup, which go with it
 *
 *   sockops CGROUP alone    attaches one as tools do that know of no second one:
 *                           afterwards, the kernel takes no other program there
 *   sockops CGROUP watch    attaches one that counts, of the connections which the
 *                           cgroup accepts, those that close, and those that still
 *                           call back for each packet then; prints the two numbers
 *                           when it is told to end and one has closed
 *   sockops PINS older      takes the place of the program whose pin is
 *                           PINS/tux_shake, at the link PINS/handshake, as an
 *                           older one of that name that does nothing
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(dst, src, field) \
	{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = (dst), .src_reg = (src), \
	  .off = offsetof(struct bpf_sock_ops, field) }
#define SET(dst, value) \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (dst), .imm = (value) }
#define OR(dst, value) \
	{ .code = BPF_ALU64 | BPF_OR | BPF_K, .dst_reg = (dst), .imm = (value) }
/* Skips @n instructions if @dst is, is not, or has no bit of @value. */
#define IF(cond, dst, value, n) \
	{ .code = BPF_JMP | (cond) | BPF_K, .dst_reg = (dst), .off = (n), \
	  .imm = (value) }
#define CALL(f) { .code = BPF_JMP | BPF_CALL, .imm = (f) }
#define EXIT { .code = BPF_JMP | BPF_EXIT }
/* dst = &value of @map's only element + @at; two instructions. */
#define ADDRESS(dst, map, at) \
	{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = (dst), \
	  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = (map) }, { .imm = (at) }
#define ADD(dst, src) \
	{ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = (dst), \
	  .src_reg = (src), .imm = BPF_ADD }

#define PROGRAM "tux_shake"

enum { TRIES = 1000, TRY_US = 10000 };

struct counts {
	uint64_t closed, called;
};

static int call(int cmd, union bpf_attr *a)
{
	return (int)syscall(SYS_bpf, cmd, a, sizeof(*a));
}

static int load(const struct bpf_insn *insns, size_t n)
{
	union bpf_attr a = {
		.prog_type = BPF_PROG_TYPE_SOCK_OPS,
		.insns = (uintptr_t)insns,
		.insn_cnt = (uint32_t)n,
		.license = (uintptr_t)"BSD",
		.prog_name = PROGRAM,
	};

	return call(BPF_PROG_LOAD, &a);
}

/* It does nothing, and says that all is well. */
static int load_idle(void)
{
	const struct bpf_insn insns[] = { SET(BPF_REG_0, 1), EXIT };

	return load(insns, sizeof(insns) / sizeof(*insns));
}

static int load_watch(int map)
{
	const struct bpf_insn insns[] = {
		LOAD(BPF_REG_2, BPF_REG_1, op),
		LOAD(BPF_REG_3, BPF_REG_1, bpf_sock_ops_cb_flags),
		IF(BPF_JNE, BPF_REG_2, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB, 4),
		/* Established: asks for what it wants to see. */
		OR(BPF_REG_3, BPF_SOCK_OPS_STATE_CB_FLAG),
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_3 },
		CALL(BPF_FUNC_sock_ops_cb_flags_set),
		IF(BPF_JA, 0, 0, 10),
		IF(BPF_JNE, BPF_REG_2, BPF_SOCK_OPS_STATE_CB, 9),
		LOAD(BPF_REG_2, BPF_REG_1, args[0]),
		IF(BPF_JEQ, BPF_REG_2, BPF_TCP_LISTEN, 7),
		LOAD(BPF_REG_2, BPF_REG_1, args[1]),
		IF(BPF_JNE, BPF_REG_2, BPF_TCP_CLOSE, 5),
		/* Closed. */
		ADDRESS(BPF_REG_4, map, offsetof(struct counts, closed)),
		SET(BPF_REG_5, 1),
		ADD(BPF_REG_4, BPF_REG_5),
		IF(BPF_JSET, BPF_REG_3, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 2),
		SET(BPF_REG_0, 1),
		EXIT,
		ADDRESS(BPF_REG_4, map, offsetof(struct counts, called)),
		ADD(BPF_REG_4, BPF_REG_5),
		SET(BPF_REG_0, 1),
		EXIT,
	};

	return load(insns, sizeof(insns) / sizeof(*insns));
}

static int make_map(void)
{
	union bpf_attr a = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = sizeof(uint32_t),
		.value_size = sizeof(struct counts), .max_entries = 1,
	};

	return call(BPF_MAP_CREATE, &a);
}

static int attach(const char *cgroup, int prog, uint32_t flags)
{
	union bpf_attr a = {
		.attach_type = BPF_CGROUP_SOCK_OPS, .attach_flags = flags,
		.target_fd = (uint32_t)open(cgroup, O_RDONLY | O_DIRECTORY),
		.attach_bpf_fd = (uint32_t)prog,
	};

	return call(BPF_PROG_ATTACH, &a);
}

static int watch(const char *cgroup)
{
	int map = make_map(), signal;
	struct counts n = { 0 };
	uint32_t key = 0;
	union bpf_attr a = {
		.map_fd = (uint32_t)map, .key = (uintptr_t)&key,
		.value = (uintptr_t)&n,
	};
	sigset_t end;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	if (attach(cgroup, load_watch(map), BPF_F_ALLOW_MULTI))
		return -1;
	printf("ready\n");
	fflush(stdout);
	sigwait(&end, &signal);
	/* The peer's last acknowledgment may be on its way. */
	for (int i = 0; i < TRIES; i++) {
		if (call(BPF_MAP_LOOKUP_ELEM, &a))
			return -1;
		if (n.closed)
			break;
		usleep(TRY_US);
	}
	printf("closed %llu called %llu\n", (unsigned long long)n.closed,
	       (unsigned long long)n.called);
	return 0;
}

static int open_pin(const char *path)
{
	union bpf_attr a = { .pathname = (uintptr_t)path };

	return call(BPF_OBJ_GET, &a);
}

static int older(const char *pins)
{
	int prog = load_idle(), link;
	char path[PATH_MAX];
	union bpf_attr update, pin = {
		.pathname = (uintptr_t)path, .bpf_fd = (uint32_t)prog,
	};

	snprintf(path, sizeof(path), "%s/handshake", pins);
	link = open_pin(path);
	update = (union bpf_attr){ .link_update = {
		.link_fd = (uint32_t)link, .new_prog_fd = (uint32_t)prog,
	} };
	if (prog < 0 || link < 0 || call(BPF_LINK_UPDATE, &update))
		return -1;
	snprintf(path, sizeof(path), "%s/" PROGRAM, pins);
	return unlink(path) ? -1 : call(BPF_OBJ_PIN, &pin);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[2], "alone") &&
	    !attach(argv[1], load_idle(), 0))
		return 0;
	if (argc == 3 && !strcmp(argv[2], "watch") && !watch(argv[1]))
		return 0;
	if (argc == 3 && !strcmp(argv[2], "older") && !older(argv[1]))
		return 0;
	perror("sockops");
	return 1;
}
