/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * announce_open - the sockops program: tuxd's, or ours, on our cgroup
 */
#include "handshake/announce.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "handshake/cgroup.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"
#include "announce_bpf.h"

/* What clang made of bpf/announce.bpf.c, an ELF object. */
static const _Alignas(8) unsigned char object[] = {
#include "announce_bpf.inc"
};

static enum tux_reason announce_reason_of(long err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return TUX_REASON_NO_PRIVILEGE;
	case -ENOMEM:
		return TUX_REASON_NO_MEMORY;
	case -EMFILE:
	case -ENFILE:
		return TUX_REASON_NO_FD;
	default:
		return TUX_REASON_NO_ANNOUNCE;
	}
}

static int set_secret(struct bpf_object *o)
{
	struct bpf_map *m = bpf_object__find_map_by_name(o, ".rodata.secret");
	struct tux_bpf_secret secret;
	struct tux_key k;
	int err;

	if (!m)
		return -ENOENT;
	err = tux_clock_seed(&k);
	if (err)
		return err;
	secret = (struct tux_bpf_secret){ k.k0, k.k1 };
	return bpf_map__set_initial_value(m, &secret, sizeof(secret));
}

/* The program's link is ours, and by it the program. */
static int announce_attach(struct tux_announce *a, struct bpf_object *o)
{
	struct bpf_program *p;
	union bpf_attr attr = { 0 };
	int dir = tux_cgroup_open();
	long fd;

	if (dir < 0)
		return -ENOENT;
	p = bpf_object__find_program_by_name(o, "tux_announce");
	attr.link_create.prog_fd = (uint32_t)bpf_program__fd(p);
	attr.link_create.target_fd = (uint32_t)dir;
	attr.link_create.attach_type = BPF_CGROUP_SOCK_OPS;
	fd = TUX_SYS(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr), 0, 0, 0);
	tux_sys_close(dir);
	if (fd < 0)
		return (int)fd;
	a->link = tux_fd_lift((int)fd);
	return 0;
}

static int take_maps(struct tux_announce *a, struct bpf_object *o)
{
	a->marks = tux_fd_copy(bpf_object__find_map_fd_by_name(o, "marks"));
	a->listeners = tux_fd_copy(bpf_object__find_map_fd_by_name(o,
							"listeners"));
	return a->marks < 0 || a->listeners < 0 ? -EMFILE : 0;
}

static int announce_open_all(struct tux_announce *a, struct bpf_object *o)
{
	int err = set_secret(o);

	if (!err)
		err = tux_clock_seed(&a->seed);
	if (!err)
		err = bpf_object__load(o);
	if (!err)
		err = take_maps(a, o);
	return err ? err : announce_attach(a, o);
}

static void open_own(struct tux_announce *a)
{
	/* What went wrong, our reason says; the application's standard error is
	 * not the place. */
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int saved = errno, err;
	struct bpf_object *o;

	o = bpf_object__open_mem(object, sizeof(object), NULL);
	err = o ? announce_open_all(a, o) : -errno;
	bpf_object__close(o);
	libbpf_set_print(print);
	errno = saved;
	if (!err) {
		a->why = TUX_REASON_NONE;
		return;
	}
	tux_announce_close(a);
	a->why = announce_reason_of(err);
}

void tux_announce_open(struct tux_announce *a)
{
	/* A SYN has one option: where tuxd's program is, there is no other. */
	if (!tux_announce_find(a))
		open_own(a);
}
