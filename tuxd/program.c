/* SPDX-License-Identifier: BSD-2-Clause */
#include "program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kernel.h"
#include "layout.h"

/* What clang made of bpf/tuxd.bpf.c, an ELF object. */
static const _Alignas(8) unsigned char object[] = {
#include "tuxd_bpf.inc"
};

static const struct {
	const char *program, *pin;
	uint32_t attach;
} links[] = {
	/* First the handshake: a mark is then never without it. */
	{ "tux_shake", "handshake", BPF_CGROUP_SOCK_OPS },
	{ "tux_option", "setsockopt", BPF_CGROUP_SETSOCKOPT },
};

static const struct {
	const char *map, *pin;
} maps[] = {
	{ "marks", "marks" },
	{ "listeners", "listeners" },
	{ "quotas", "quotas" },
	{ ".rodata.settings", "settings" },
};

#define LENGTH(a) (sizeof(a) / sizeof(*(a)))

/* ---- looking ---- */

static int open_pin(const struct place *p, const char *name)
{
	char path[PATH_MAX];

	return bpf_obj_get(place_pin(p, name, path, sizeof(path)));
}

/* Is program @id ours of the name, which is pinned beside its link?  To open it
 * by its number would take more privilege than to load it. */
static bool is_program(const struct place *p, uint32_t id, const char *name)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);
	int fd = open_pin(p, name), err;

	if (fd < 0)
		return false;
	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	return !err && info.id == id && !strcmp(info.name, name);
}

/* Is link @i of the table pinned, ours, and on the cgroup? */
static bool check_link(const struct place *p, size_t i, struct fault *f)
{
	struct bpf_link_info info = { 0 };
	uint32_t len = sizeof(info);
	int fd = open_pin(p, links[i].pin), err;

	if (fd < 0)
		return fault_is(f, "its pin '%s' is not there", links[i].pin);
	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	if (err || info.type != BPF_LINK_TYPE_CGROUP ||
	    info.cgroup.attach_type != links[i].attach ||
	    !is_program(p, info.prog_id, links[i].program))
		return fault_is(f, "its pin '%s' is of something else",
				links[i].pin);
	if (info.cgroup.cgroup_id != p->id)
		return fault_is(f, "its program '%s' is not attached any more",
				links[i].pin);
	return true;
}

static bool read_conf(const struct place *p, struct tux_bpf_conf *conf,
		      struct fault *f)
{
	struct tux_bpf_settings s = { 0 };
	int fd = open_pin(p, "settings"), err;
	uint32_t zero = 0;

	err = fd < 0 ? -1 : bpf_map_lookup_elem(fd, &zero, &s);
	if (fd >= 0)
		close(fd);
	if (err)
		return fault_is(f, "its pin 'settings' is not there");
	*conf = s.conf;
	return true;
}

static bool count_listeners(const struct place *p, unsigned *n, struct fault *f)
{
	struct tux_bpf_listener at, next;
	struct tux_bpf_count c;
	void *from = NULL;
	int fd = open_pin(p, "listeners");

	*n = 0;
	if (fd < 0)
		return fault_is(f, "its pin 'listeners' is not there");
	while (!bpf_map_get_next_key(fd, from, &next)) {
		if (!bpf_map_lookup_elem(fd, &next, &c))
			*n += c.count;
		at = next;
		from = &at;
	}
	close(fd);
	return true;
}

enum program_state program_look(const struct place *p,
				struct tux_bpf_conf *conf, unsigned *listeners,
				struct fault *f)
{
	bool has, ok = true;
	size_t i;

	if (!place_has_pins(p, &has, f))
		return PROGRAM_DAMAGED;
	if (!has)
		return PROGRAM_ABSENT;
	for (i = 0; i < LENGTH(links) && ok; i++)
		ok = check_link(p, i, f);
	ok = ok && read_conf(p, conf, f) && count_listeners(p, listeners, f);
	return ok ? PROGRAM_THERE : PROGRAM_DAMAGED;
}

/* ---- loading ---- */

static bool why_not(const char *what, int err, struct fault *f)
{
	struct utsname u;

	if (err == -EPERM || err == -EACCES)
		return fault_is(f, "%s: %s; it needs CAP_BPF, "
				"CAP_NET_ADMIN and CAP_PERFMON: run tuxd as "
				"root", what, strerror(-err));
	if (!kernel_is_since(5, 18) && !uname(&u))
		return fault_is(f, "%s: %s; this is Linux %s, and tuxd needs "
				"5.18 or newer", what, strerror(-err),
				u.release);
	return fault_is(f, "%s: %s", what, strerror(-err));
}

static int set_constant(struct bpf_object *o, const char *map, const void *v,
			size_t size)
{
	struct bpf_map *m = bpf_object__find_map_by_name(o, map);

	return m ? bpf_map__set_initial_value(m, v, size) : -ENOENT;
}

static int set_constants(struct bpf_object *o, const struct tux_bpf_conf *conf,
			 const struct tux_bpf_layout *layout)
{
	/* Since 6.12, a listener gets its callbacks when it is marked. */
	const struct tux_bpf_settings settings = {
		.conf = *conf, .all = !kernel_is_since(6, 12),
	};
	struct tux_bpf_secret secret;
	int err;

	if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
		return -EIO;
	err = set_constant(o, ".rodata", &secret, sizeof(secret));
	if (!err)
		err = set_constant(o, ".rodata.layout", layout,
				   sizeof(*layout));
	return err ? err : set_constant(o, ".rodata.settings", &settings,
					sizeof(settings));
}

static int pin_maps(const struct place *p, struct bpf_object *o)
{
	char path[PATH_MAX];
	struct bpf_map *m;
	int err = 0;
	size_t i;

	for (i = 0; i < LENGTH(maps) && !err; i++) {
		m = bpf_object__find_map_by_name(o, maps[i].map);
		err = m ? bpf_map__pin(m, place_pin(p, maps[i].pin, path,
						    sizeof(path))) : -ENOENT;
	}
	return err;
}

static int attach(const struct place *p, struct bpf_object *o, size_t i)
{
	char path[PATH_MAX];
	struct bpf_program *prog;
	struct bpf_link *l;
	int err;

	prog = bpf_object__find_program_by_name(o, links[i].program);
	err = bpf_program__pin(prog, place_pin(p, links[i].program, path,
					       sizeof(path)));
	if (err)
		return err;
	l = bpf_program__attach_cgroup(prog, p->fd);
	if (!l)
		return -errno;
	err = bpf_link__pin(l, place_pin(p, links[i].pin, path, sizeof(path)));
	/* A link that has no pin goes with its descriptor. */
	bpf_link__destroy(l);
	return err;
}

/* *@o, loaded; it is to be closed in any case. */
static int load_object(struct bpf_object **o, const struct tux_bpf_conf *conf,
		       const struct tux_bpf_layout *layout)
{
	int err;

	*o = bpf_object__open_mem(object, sizeof(object), NULL);
	if (!*o)
		return -errno;
	err = set_constants(*o, conf, layout);
	return err ? err : bpf_object__load(*o);
}

/* A kernel that is locked down takes no program that reads its memory. */
static int load_either(struct bpf_object **o, const struct tux_bpf_conf *conf)
{
	struct tux_bpf_layout layout;
	int err;

	layout_read(&layout);
	err = load_object(o, conf, &layout);
	if (!err || !layout.known)
		return err;
	bpf_object__close(*o);
	memset(&layout, 0, sizeof(layout));
	return load_object(o, conf, &layout);
}

static bool pin_all(const struct place *p, struct bpf_object *o,
		    struct fault *f)
{
	int err = pin_maps(p, o);
	size_t i;

	if (err)
		return why_not("the maps cannot be pinned", err, f);
	for (i = 0; i < LENGTH(links) && !err; i++)
		err = attach(p, o, i);
	/* A process that may load programs may attach them, too. */
	if (err == -EPERM)
		return fault_is(f, "the programs cannot be attached to the "
				"cgroup: a program that admits no other is "
				"attached to it, or to one above it; 'bpftool "
				"cgroup tree' shows which");
	return !err || why_not("the programs cannot be attached to the cgroup",
			       err, f);
}

bool program_load(const struct place *p, const struct tux_bpf_conf *conf,
		  struct fault *f)
{
	struct bpf_object *o;
	bool ok;
	int err;

	/* What libbpf would say is longer than a line. */
	libbpf_set_print(NULL);
	err = load_either(&o, conf);
	ok = err ? why_not("the kernel does not load the programs", err, f) :
		   pin_all(p, o, f);
	bpf_object__close(o);
	return ok;
}

void program_detach(const struct place *p)
{
	size_t i = LENGTH(links);
	int fd;

	while (i--) {
		fd = open_pin(p, links[i].pin);
		if (fd < 0)
			continue;
		bpf_link_detach(fd);
		close(fd);
	}
}
