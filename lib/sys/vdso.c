/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/vdso.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* What the dynamic section of the kernel's object says. */
struct object {
	uintptr_t bias;		/* where it is, less where it says that it is */
	const ElfW(Dyn) *dynamic;
	const ElfW(Sym) *symbols;
	const char *names;
	const uint32_t *hash, *gnu_hash;	/* one of them, or both */
};

static void look_at_segment(struct object *o, uintptr_t at,
			    const ElfW(Phdr) *p)
{
	if (p->p_type == PT_LOAD)
		o->bias = at + p->p_offset - p->p_vaddr;
	else if (p->p_type == PT_DYNAMIC)
		o->dynamic = (const void *)(at + p->p_offset);
}

static void look_at_entry(struct object *o, const ElfW(Dyn) *d)
{
	const void *p = (const void *)(o->bias + d->d_un.d_ptr);

	switch (d->d_tag) {
	case DT_SYMTAB:
		o->symbols = p;
		break;
	case DT_STRTAB:
		o->names = p;
		break;
	case DT_HASH:
		o->hash = p;
		break;
	case DT_GNU_HASH:
		o->gnu_hash = p;
		break;
	}
}

/* The vDSO has one segment that is loaded. */
static void object_read(struct object *o, uintptr_t at)
{
	const ElfW(Ehdr) *e = (const void *)at;
	const ElfW(Phdr) *p = (const void *)(at + e->e_phoff);
	int i;

	for (i = 0; i < e->e_phnum; i++)
		look_at_segment(o, at, &p[i]);
	if (o->dynamic)
		for (i = 0; o->dynamic[i].d_tag != DT_NULL; i++)
			look_at_entry(o, &o->dynamic[i]);
}

/* The table ends with the last chain: its bucket is the one that begins last, and
 * an odd value ends it. */
static size_t symbols_by_gnu_hash(const uint32_t *h)
{
	const uint32_t n = h[0], first = h[1], words = h[2];
	const uint32_t *bucket = h + 4 + words * (sizeof(ElfW(Addr)) / 4);
	const uint32_t *chain = bucket + n;
	uint32_t last = 0, i;

	for (i = 0; i < n; i++)
		if (bucket[i] > last)
			last = bucket[i];
	if (last < first)
		return first;
	while (!(chain[last - first] & 1))
		last++;
	return last + 1;
}

static size_t symbols_n(const struct object *o)
{
	if (o->hash)
		return o->hash[1];
	return o->gnu_hash ? symbols_by_gnu_hash(o->gnu_hash) : 0;
}

tux_vdso_fn tux_vdso_find(const char *name)
{
	uintptr_t at = getauxval(AT_SYSINFO_EHDR);
	struct object o = { 0 };
	size_t i, n;

	if (!at)
		return NULL;
	object_read(&o, at);
	n = o.symbols && o.names ? symbols_n(&o) : 0;
	for (i = 0; i < n; i++)
		if (ELF64_ST_TYPE(o.symbols[i].st_info) == STT_FUNC &&
		    o.symbols[i].st_shndx != SHN_UNDEF &&
		    !strcmp(o.names + o.symbols[i].st_name, name))
			return (tux_vdso_fn)(o.bias + o.symbols[i].st_value);
	return NULL;
}
