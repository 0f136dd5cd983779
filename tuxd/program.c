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
#include "pins.h"

/* What clang made of bpf/tuxd.bpf.c, an ELF object. */
static const _Alignas(8) unsigned char object[] = {
#include "tuxd_bpf.inc"
};

enum { CONSTANTS_MAX = 256 };	/* bytes of one map of constants */

/* ---- looking ---- */

/* Is program @id ours of the name? */
static bool is_program(const struct place *p, uint32_t id, const char *name)
{
	struct bpf_prog_info info;

	return pins_describe(p, name, &info) && info.id == id &&
	       !strcmp(info.name, name);
}

/* Is link @i of the table pinned, ours, and on the cgroup? */
static bool check_link(const struct place *p, size_t i, struct fault *f)
{
	struct bpf_link_info info = { 0 };
	uint32_t len = sizeof(info);
	int fd = pins_open(p, pins_links[i].pin), err;

	if (fd < 0)
		return fault_is(f, "its pin '%s' is not there", pins_links[i].pin);
	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	if (err || info.type != BPF_LINK_TYPE_CGROUP ||
	    info.cgroup.attach_type != pins_links[i].attach ||
	    !is_program(p, info.prog_id, pins_links[i].program))
		return fault_is(f, "its pin '%s' is of something else",
				pins_links[i].pin);
	if (info.cgroup.cgroup_id != p->id)
		return fault_is(f, "its program '%s' is not attached any more",
				pins_links[i].pin);
	return true;
}

static bool read_settings(const struct place *p, struct tux_bpf_settings *s,
			  struct fault *f)
{
	int fd = pins_open_map(p, "settings", sizeof(*s)), err;
	uint32_t zero = 0;

	err = fd < 0 ? -1 : bpf_map_lookup_elem(fd, &zero, s);
	if (fd >= 0)
		close(fd);
	return !err || fault_is(f, "its pin 'settings' is not there, or of "
				"another version of tuxd");
}

static bool count_listeners(const struct place *p, unsigned *n, struct fault *f)
{
	struct tux_bpf_listener at, next;
	struct tux_bpf_count c;
	void *from = NULL;
	int fd = pins_open_map(p, "listeners", sizeof(c));

	*n = 0;
	if (fd < 0)
		return fault_is(f, "its pin 'listeners' is not there, or of "
				"another version of tuxd");
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
	for (i = 0; i < PINS_LINKS && ok; i++)
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
	err = set_constant(o, ".rodata.secret", &secret, sizeof(secret));
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

	for (i = 0; i < PINS_MAPS && !err; i++) {
		m = bpf_object__find_map_by_name(o, pins_maps[i].map);
		err = m ? bpf_map__pin(m, place_pin(p, pins_maps[i].pin, path,
						    sizeof(path))) : -ENOENT;
	}
	return err;
}

static struct bpf_program *program_of(const struct bpf_object *o, size_t i)
{
	return bpf_object__find_program_by_name(o, pins_links[i].program);
}

static int pin_program(const struct place *p, const struct bpf_object *o,
		       size_t i)
{
	char path[PATH_MAX];

	return bpf_program__pin(program_of(o, i),
				place_pin(p, pins_links[i].program, path,
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
	err = bpf_link__pin(l, place_pin(p, pins_links[i].pin, path, sizeof(path)));
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

	for (i = 0; i < PINS_MAPS && !err; i++) {
		if (!pins_maps[i].stays)
			continue;
		m = bpf_object__find_map_by_name(o, pins_maps[i].map);
		fd = pins_open(p, pins_maps[i].pin);
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
	for (i = 0; i < PINS_LINKS && !err; i++)
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

/* Is the program that is attached the very one of @o?  Tags are hashes of the
 * instructions. */
static bool same_program(const struct place *p, const struct bpf_object *o,
			 size_t i)
{
	struct bpf_prog_info is, wanted;

	return pins_describe(p, pins_links[i].program, &is) &&
	       pins_describe_fd(bpf_program__fd(program_of(o, i)), &wanted) &&
	       !memcmp(is.tag, wanted.tag, sizeof(is.tag));
}

/* Have the constants that programs do not take over the same values? */
static bool same_constants(const struct place *p, const struct bpf_object *o,
			   size_t i)
{
	const struct bpf_map *m = bpf_object__find_map_by_name(o, pins_maps[i].map);
	size_t size = bpf_map__value_size(m);
	char is[CONSTANTS_MAX], wanted[CONSTANTS_MAX];
	int fd = size <= sizeof(is) ? pins_open_map(p, pins_maps[i].pin, size) : -1;
	uint32_t zero = 0;
	bool same;

	same = fd >= 0 && !bpf_map_lookup_elem(fd, &zero, is) &&
	       !bpf_map_lookup_elem(bpf_map__fd(m), &zero, wanted) &&
	       !memcmp(is, wanted, size);
	if (fd >= 0)
		close(fd);
	return same;
}

static bool is_there(const struct place *p, const struct bpf_object *o)
{
	bool same = true;
	size_t i;

	for (i = 0; i < PINS_LINKS && same; i++)
		same = same_program(p, o, i);
	for (i = 0; i < PINS_MAPS && same; i++)
		same = pins_maps[i].stays || same_constants(p, o, i);
	return same;
}

/* Puts program @i into its link. */
static int renew_program(const struct place *p, const struct bpf_object *o,
			 size_t i)
{
	int link = pins_open(p, pins_links[i].pin);
	int prog = bpf_program__fd(program_of(o, i)), err;

	if (link < 0)
		return -ENOENT;
	err = bpf_link_update(link, prog, NULL);
	close(link);
	return err ? err : pins_renew(p, pins_links[i].program, prog);
}

static bool take_over(const struct place *p, const struct bpf_object *o,
		      struct fault *f)
{
	int err = 0;
	size_t i;

	for (i = 0; i < PINS_MAPS && !err; i++)
		if (!pins_maps[i].stays)
			err = pins_renew(p, pins_maps[i].pin, bpf_map__fd(
				bpf_object__find_map_by_name(o, pins_maps[i].map)));
	for (i = 0; i < PINS_LINKS && !err; i++)
		err = renew_program(p, o, i);
	return !err || why_not("the programs that are loaded cannot be replaced",
			       err, f);
}

bool program_renew(const struct place *p, const struct tux_bpf_conf *conf,
		   struct fault *f)
{
	struct bpf_object *o;
	int err = load_either(&o, p, conf);
	bool ok = err ? is_not_loaded(err, f) :
		  is_there(p, o) || take_over(p, o, f);

	bpf_object__close(o);
	return ok;
}

void program_detach(const struct place *p)
{
	size_t i = PINS_LINKS;
	int fd;

	while (i--) {
		fd = pins_open(p, pins_links[i].pin);
		if (fd < 0)
			continue;
		bpf_link_detach(fd);
		close(fd);
	}
}
