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
	bool stays;			/* when newer programs take over */
} maps[] = {
	{ "marks", "marks", true },
	{ "listeners", "listeners", true },
	{ "quotas", "quotas", true },
	{ ".rodata.settings", "settings", false },
};

#define LENGTH(a) (sizeof(a) / sizeof(*(a)))

/* ---- looking ---- */

static int open_pin(const struct place *p, const char *name)
{
	char path[PATH_MAX];

	return bpf_obj_get(place_pin(p, name, path, sizeof(path)));
}

static bool describe(int fd, struct bpf_prog_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return !bpf_obj_get_info_by_fd(fd, info, &len);
}

/* The program that is pinned beside its link.  To open it by its number would take
 * more privilege than to load it. */
static bool describe_pin(const struct place *p, const char *name,
			 struct bpf_prog_info *info)
{
	int fd = open_pin(p, name);
	bool ok = fd >= 0 && describe(fd, info);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Is program @id ours of the name? */
static bool is_program(const struct place *p, uint32_t id, const char *name)
{
	struct bpf_prog_info info;

	return describe_pin(p, name, &info) && info.id == id &&
	       !strcmp(info.name, name);
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

static bool read_settings(const struct place *p, struct tux_bpf_settings *s,
			  struct fault *f)
{
	int fd = open_pin(p, "settings"), err;
	uint32_t zero = 0;

	err = fd < 0 ? -1 : bpf_map_lookup_elem(fd, &zero, s);
	if (fd >= 0)
		close(fd);
	return !err || fault_is(f, "its pin 'settings' is not there");
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
		if (!bpf_map_lookup_elem(fd, &next, &c) &&
		    !(c.count & TUX_BPF_COUNT_GONE))
			*n += c.count;
		at = next;
		from = &at;
	}
	close(fd);
	return true;
}

enum program_state program_look(const struct place *p,
				struct tux_bpf_settings *s,
				unsigned *listeners, struct fault *f)
{
	bool has, ok = true;
	size_t i;

	if (!place_has_pins(p, &has, f))
		return PROGRAM_DAMAGED;
	if (!has)
		return PROGRAM_ABSENT;
	for (i = 0; i < LENGTH(links) && ok; i++)
		ok = check_link(p, i, f);
	ok = ok && read_settings(p, s, f) && count_listeners(p, listeners, f);
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
		.maps = TUX_BPF_MAPS,
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

static struct bpf_program *program_of(const struct bpf_object *o, size_t i)
{
	return bpf_object__find_program_by_name(o, links[i].program);
}

static int pin_program(const struct place *p, const struct bpf_object *o,
		       size_t i)
{
	char path[PATH_MAX];

	return bpf_program__pin(program_of(o, i),
				place_pin(p, links[i].program, path,
					  sizeof(path)));
}

static int attach(const struct place *p, struct bpf_object *o, size_t i)
{
	char path[PATH_MAX];
	struct bpf_link *l;
	int err = pin_program(p, o, i);

	if (err)
		return err;
	l = bpf_program__attach_cgroup(program_of(o, i), p->fd);
	if (!l)
		return -errno;
	err = bpf_link__pin(l, place_pin(p, links[i].pin, path, sizeof(path)));
	/* A link that has no pin goes with its descriptor. */
	bpf_link__destroy(l);
	return err;
}

/* The maps that are at @p, for programs that take over. */
static int take_maps(const struct place *p, struct bpf_object *o)
{
	struct bpf_map *m;
	int err = 0, fd;
	size_t i;

	for (i = 0; i < LENGTH(maps) && !err; i++) {
		if (!maps[i].stays)
			continue;
		m = bpf_object__find_map_by_name(o, maps[i].map);
		fd = open_pin(p, maps[i].pin);
		err = !m || fd < 0 ? -ENOENT : bpf_map__reuse_fd(m, fd);
		if (fd >= 0)
			close(fd);
	}
	return err;
}

/* *@o, loaded, with the maps of @from if that is not NULL; it is to be closed in
 * any case. */
static int load_object(struct bpf_object **o, const struct place *from,
		       const struct tux_bpf_conf *conf,
		       const struct tux_bpf_layout *layout)
{
	int err;

	*o = bpf_object__open_mem(object, sizeof(object), NULL);
	if (!*o)
		return -errno;
	err = set_constants(*o, conf, layout);
	if (!err && from)
		err = take_maps(from, *o);
	return err ? err : bpf_object__load(*o);
}

/* A kernel that is locked down takes no program that reads its memory. */
static int load_either(struct bpf_object **o, const struct place *from,
		       const struct tux_bpf_conf *conf)
{
	struct tux_bpf_layout layout;
	int err;

	/* What libbpf would say is longer than a line. */
	libbpf_set_print(NULL);
	layout_read(&layout);
	err = load_object(o, from, conf, &layout);
	if (!err || !layout.known)
		return err;
	bpf_object__close(*o);
	memset(&layout, 0, sizeof(layout));
	return load_object(o, from, conf, &layout);
}

static bool is_not_loaded(int err, struct fault *f)
{
	return why_not("the kernel does not load the programs", err, f);
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
	int err = load_either(&o, NULL, conf);
	bool ok = err ? is_not_loaded(err, f) : pin_all(p, o, f);

	bpf_object__close(o);
	return ok;
}

/* ---- taking over ---- */

/* Are the programs that are attached the very ones of @o?  Their tags are hashes of
 * their instructions. */
static bool same_programs(const struct place *p, const struct bpf_object *o)
{
	struct bpf_prog_info is, wanted;
	size_t i;

	for (i = 0; i < LENGTH(links); i++)
		if (!describe_pin(p, links[i].program, &is) ||
		    !describe(bpf_program__fd(program_of(o, i)), &wanted) ||
		    memcmp(is.tag, wanted.tag, sizeof(is.tag)))
			return false;
	return true;
}

static int unpin(const struct place *p, const char *name)
{
	char path[PATH_MAX];

	return unlink(place_pin(p, name, path, sizeof(path))) ? -errno : 0;
}

/* The pins of what newer programs do not share with those that they replace. */
static int renew_pins(const struct place *p, struct bpf_object *o)
{
	char path[PATH_MAX];
	struct bpf_map *m;
	int err = 0;
	size_t i;

	for (i = 0; i < LENGTH(links) && !err; i++) {
		err = unpin(p, links[i].program);
		if (!err)
			err = pin_program(p, o, i);
	}
	for (i = 0; i < LENGTH(maps) && !err; i++) {
		if (maps[i].stays)
			continue;
		m = bpf_object__find_map_by_name(o, maps[i].map);
		err = unpin(p, maps[i].pin);
		if (!err)
			err = bpf_map__pin(m, place_pin(p, maps[i].pin, path,
							sizeof(path)));
	}
	return err;
}

static int replace_link(const struct place *p, const struct bpf_object *o,
			size_t i)
{
	int fd = open_pin(p, links[i].pin), err;

	if (fd < 0)
		return -ENOENT;
	err = bpf_link_update(fd, bpf_program__fd(program_of(o, i)), NULL);
	close(fd);
	return err;
}

static bool take_over(const struct place *p, struct bpf_object *o,
		      struct fault *f)
{
	int err = 0;
	size_t i;

	for (i = 0; i < LENGTH(links) && !err; i++)
		err = replace_link(p, o, i);
	if (!err)
		err = renew_pins(p, o);
	return !err || why_not("the programs that are loaded cannot be replaced",
			       err, f);
}

bool program_renew(const struct place *p, const struct tux_bpf_conf *conf,
		   struct fault *f)
{
	struct bpf_object *o;
	int err = load_either(&o, p, conf);
	bool ok = err ? is_not_loaded(err, f) :
		  same_programs(p, o) || take_over(p, o, f);

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
