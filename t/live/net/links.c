/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * links - the kernel's bpf_links of XDP programs, as an administrator has them
 *
 *   links          prints their numbers, one a line
 *   links N...     detaches them: the interface loses its program, and whoever
 *                  holds the link has a dead one
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long call(int cmd, union bpf_attr *a)
{
	return syscall(SYS_bpf, cmd, a, sizeof(*a));
}

static int open_link(uint32_t id)
{
	union bpf_attr a = { .link_id = id };

	return (int)call(BPF_LINK_GET_FD_BY_ID, &a);
}

static int is_xdp(int fd)
{
	struct bpf_link_info info = { 0 };
	union bpf_attr a = { 0 };

	a.info.bpf_fd = (uint32_t)fd;
	a.info.info_len = sizeof(info);
	a.info.info = (uintptr_t)&info;
	return call(BPF_OBJ_GET_INFO_BY_FD, &a) == 0 &&
	       info.type == BPF_LINK_TYPE_XDP;
}

static void list(void)
{
	union bpf_attr a = { 0 };

	while (call(BPF_LINK_GET_NEXT_ID, &a) == 0) {
		int fd = open_link(a.next_id);

		if (fd >= 0 && is_xdp(fd))
			printf("%u\n", a.next_id);
		if (fd >= 0)
			close(fd);
		a = (union bpf_attr){ .start_id = a.next_id };
	}
}

static int detach(const char *number)
{
	union bpf_attr a = { 0 };
	int fd = open_link((uint32_t)strtoul(number, NULL, 10));
	long r = -1;

	if (fd >= 0) {
		a.link_detach.link_fd = (uint32_t)fd;
		r = call(BPF_LINK_DETACH, &a);
	}
	if (r)
		fprintf(stderr, "links: %s: %s\n", number, strerror(errno));
	if (fd >= 0)
		close(fd);
	return r != 0;
}

int main(int argc, char **argv)
{
	int i, failed = 0;

	if (argc == 1)
		list();
	for (i = 1; i < argc; i++)
		failed |= detach(argv[i]);
	return failed;
}
