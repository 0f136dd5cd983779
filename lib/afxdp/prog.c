/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/prog.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <string.h>

#include "sys/attempt.h"
#include "sys/fd.h"
#include "sys/sys.h"
#include "tux_bpf.h"

/* What clang made of bpf/tux.bpf.c, an ELF object. */
static const _Alignas(8) unsigned char object[] = {
#include "tux_bpf.inc"
};

static long bpf(int cmd, union bpf_attr *attr)
{
	return TUX_SYS(SYS_bpf, cmd, attr, sizeof(*attr), 0, 0, 0);
}

void tux_prog_init(struct tux_prog *p)
{
	p->prog = p->queues = p->places = p->link = -1;
}

void tux_prog_close(struct tux_prog *p)
{
	/* The link first: no packet then looks for what goes next. */
	tux_fd_close(p->link);
	tux_fd_close(p->prog);
	tux_fd_close(p->places);
	tux_fd_close(p->queues);
	tux_prog_init(p);
}

/* The map asks for what programs ask for, and the socket for the rest. */
static int try_map_and_socket(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_XSKMAP, .key_size = 4,
		.value_size = 4, .max_entries = 1,
	};
	int map = (int)bpf(BPF_MAP_CREATE, &attr), xsk;

	if (map < 0)
		return map;
	tux_sys_close(map);
	xsk = tux_sys_socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (xsk < 0)
		return xsk;
	tux_sys_close(xsk);
	return 0;
}

int tux_prog_allowed(void)
{
	if (!tux_capable(1UL << CAP_BPF | 1UL << CAP_SYS_ADMIN))
		return -EPERM;
	return tux_attempt(try_map_and_socket);
}

/* ---- loading ---- */

static int prog_reason_of(long err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return -TUX_REASON_NO_PRIVILEGE;
	case -ENODEV:
	case -ENXIO:
		return -TUX_REASON_NO_INTERFACE;
	case -ERANGE:
		return -TUX_REASON_MTU;
	case -ENOMEM:
		return -TUX_REASON_NO_MEMORY;
	case -EMFILE:
	case -ENFILE:
		return -TUX_REASON_NO_FD;
	default:
		return -TUX_REASON_NO_XDP;
	}
}

/* Our own descriptors, so that the object with its memory can go. */
static int take_fds(struct tux_prog *p, struct bpf_object *o)
{
	struct bpf_program *prog;

	prog = bpf_object__find_program_by_name(o, TUX_BPF_PROG);
	p->prog = tux_fd_copy(bpf_program__fd(prog));
	p->queues = tux_fd_copy(bpf_object__find_map_fd_by_name(o, "queues"));
	p->places = tux_fd_copy(bpf_object__find_map_fd_by_name(o, "places"));
	if (p->prog < 0 || p->queues < 0 || p->places < 0)
		return -EMFILE;
	return 0;
}

/* Programs that take packets in several pieces may be on an interface with any
 * MTU.  Kernels before 5.18 know of none. */
static int load_whole(struct bpf_object *o)
{
	struct bpf_program *prog =
		bpf_object__find_program_by_name(o, TUX_BPF_PROG);

	bpf_program__set_flags(prog, bpf_program__flags(prog) &
				     ~(uint32_t)BPF_F_XDP_HAS_FRAGS);
	return bpf_object__load(o);
}

static int load_with(struct tux_prog *p, int (*how)(struct bpf_object *))
{
	struct bpf_object *o = bpf_object__open_mem(object, sizeof(object),
						    NULL);
	int err;

	if (!o)
		return -errno;
	err = how(o);
	if (!err)
		err = take_fds(p, o);
	bpf_object__close(o);
	if (err)
		tux_prog_close(p);
	return err;
}

static int prog_load(struct tux_prog *p)
{
	int err = load_with(p, bpf_object__load);

	if (err == -EINVAL)
		err = load_with(p, load_whole);
	return err ? prog_reason_of(err) : 0;
}

int tux_prog_load(struct tux_prog *p)
{
	/* What went wrong, our reason says; the application's standard error is
	 * not the place. */
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int saved = errno, r = prog_load(p);

	libbpf_set_print(print);
	errno = saved;
	return r;
}

/* ---- attaching ---- */

static long describe(int fd, void *info, uint32_t len)
{
	union bpf_attr attr = { 0 };

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = len;
	attr.info.info = (uintptr_t)info;
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* Why another XDP program is attached: Tux of another process, or a foreign
 * one. Without the privilege to look, it counts as foreign. */
static int reason_of_other(unsigned ifindex)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = { 0 };
	int saved = errno, fd;
	uint32_t id = 0;
	long r;

	bpf_xdp_query_id((int)ifindex, 0, &id);
	errno = saved;
	attr.prog_id = id;
	fd = (int)bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	if (fd < 0)
		return -TUX_REASON_FOREIGN_XDP;
	r = describe(fd, &info, sizeof(info));
	tux_sys_close(fd);
	return !r && !strcmp(info.name, TUX_BPF_PROG) ?
	       -TUX_REASON_INTERFACE_BUSY : -TUX_REASON_FOREIGN_XDP;
}

int tux_prog_attach(struct tux_prog *p, unsigned ifindex)
{
	union bpf_attr attr = {
		.link_create = {
			.prog_fd = (uint32_t)p->prog,
			.target_ifindex = ifindex,
			.attach_type = BPF_XDP,
			.flags = XDP_FLAGS_DRV_MODE,
		},
	};
	long fd = bpf(BPF_LINK_CREATE, &attr);

	if (fd == -EBUSY || fd == -EEXIST)
		return reason_of_other(ifindex);
	if (fd < 0)
		return prog_reason_of(fd);
	p->link = tux_fd_lift((int)fd);
	return 0;
}

bool tux_prog_denied(const struct tux_prog *p)
{
	struct bpf_prog_info info = { 0 };

	return describe(p->prog, &info, sizeof(info)) == -EPERM;
}

bool tux_prog_lost(const struct tux_prog *p)
{
	struct bpf_link_info info = { 0 };

	return describe(p->link, &info, sizeof(info)) || !info.xdp.ifindex;
}

/* ---- maps ---- */

static int update(int map, const void *key, const void *value)
{
	union bpf_attr attr = { 0 };

	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)key;
	attr.value = (uintptr_t)value;
	return (int)bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

int tux_prog_queue(struct tux_prog *p, uint32_t queue, int xsk)
{
	uint32_t value = (uint32_t)xsk;

	return update(p->queues, &queue, &value);
}

/* As the program sees it in what arrives. */
static struct tux_bpf_place place_of(const struct tux_addr *a)
{
	bool v4 = tux_addr_is_v4(a);
	struct tux_bpf_place at = {
		.port = htons(a->port), .family = v4 ? TUX_BPF_V4 : TUX_BPF_V6,
	};

	if (v4)
		memcpy(at.addr, a->ip + 12, 4);
	else
		memcpy(at.addr, a->ip, 16);
	return at;
}

int tux_prog_add(struct tux_prog *p, const struct tux_addr *at)
{
	struct tux_bpf_place place = place_of(at);
	uint32_t one = 1;
	int err = update(p->places, &place, &one);

	if (err == -EPERM)
		return -TUX_REASON_NO_PRIVILEGE;
	return err ? -TUX_REASON_NO_MEMORY : 0;
}

int tux_prog_del(struct tux_prog *p, const struct tux_addr *at)
{
	struct tux_bpf_place place = place_of(at);
	union bpf_attr attr = { 0 };

	attr.map_fd = (uint32_t)p->places;
	attr.key = (uintptr_t)&place;
	return (int)bpf(BPF_MAP_DELETE_ELEM, &attr);
}
