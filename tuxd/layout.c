/* SPDX-License-Identifier: BSD-2-Clause */
#include "layout.h"

#include <bpf/btf.h>
#include <string.h>

enum { DEPTH = 4, BYTE = 8 };	/* of structs without a name in one another */

/* Adds to *@at where struct or union @t of @b has @name, in bytes. */
static bool find_member(const struct btf *b, const struct btf_type *t,
			const char *name, int depth, unsigned *at)
{
	const struct btf_member *m = btf_members(t);
	int i;

	for (i = 0; i < btf_vlen(t); i++, m++) {
		const char *is = btf__name_by_offset(b, m->name_off);
		unsigned off = btf_member_bit_offset(t, (unsigned)i) / BYTE;
		const struct btf_type *inner = btf__type_by_id(b, m->type);

		if (!strcmp(is, name)) {
			*at += off;
			return true;
		}
		if (*is || !depth || !inner || !btf_is_composite(inner) ||
		    !find_member(b, inner, name, depth - 1, at))
			continue;
		*at += off;
		return true;
	}
	return false;
}

static bool find_offset(const struct btf *b, const char *type,
			const char *name, unsigned *at)
{
	int id = btf__find_by_name_kind(b, type, BTF_KIND_STRUCT);

	*at = 0;
	return id > 0 && find_member(b, btf__type_by_id(b, (__u32)id), name,
				     DEPTH, at);
}

/* Since 6.13, 0 is one reference. */
static bool find_count(struct tux_bpf_layout *l, const struct btf *b)
{
	l->count_from = 0;
	if (find_offset(b, "file", "f_ref", &l->file_count))
		return true;
	l->count_from = 1;
	return find_offset(b, "file", "f_count", &l->file_count);
}

bool layout_find(struct tux_bpf_layout *l, const struct btf *b)
{
	l->known = find_count(l, b) &&
		   find_offset(b, "sock", "sk_socket", &l->sock_socket) &&
		   find_offset(b, "socket", "file", &l->socket_file) &&
		   find_offset(b, "task_struct", "files", &l->task_files) &&
		   find_offset(b, "files_struct", "count", &l->files_count);
	if (!l->known)
		memset(l, 0, sizeof(*l));
	return l->known;
}

bool layout_read(struct tux_bpf_layout *l)
{
	struct btf *b = btf__load_vmlinux_btf();
	bool ok;

	memset(l, 0, sizeof(*l));
	if (!b)
		return false;
	ok = layout_find(l, b);
	btf__free(b);
	return ok;
}
