/* SPDX-License-Identifier: BSD-2-Clause */
#include "tick/exe.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "sys/sys.h"
#include "tick/critical.h"

enum {
	RANGES = 24,		/* that are kept: fewer than may be added */
	GAP = 4096,		/* between two functions of one allocator: those
				 * that are static have any name */
};

struct range {
	uintptr_t start, end;
};

struct found {
	struct range r[RANGES];
	unsigned n;
};

struct file {
	const char *map;
	size_t len;
};

/* jemalloc, mimalloc, gperftools, Redis' own, and what all of them replace. */
static bool is_allocator(const char *name)
{
	static const char *const begin[] = { "je_", "mi_", "tc_", "zmalloc",
					     "zcalloc", "zrealloc", "zfree" };
	static const char *const whole[] = {
		"malloc", "free", "calloc", "realloc", "memalign",
		"posix_memalign", "aligned_alloc", "malloc_usable_size",
		"valloc", "pvalloc",
	};
	unsigned i;

	for (i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		if (!strncmp(name, begin[i], strlen(begin[i])))
			return true;
	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcmp(name, whole[i]))
			return true;
	return false;
}

static bool near(const struct range *a, const struct range *b)
{
	return a->start <= b->end + GAP && b->start <= a->end + GAP;
}

static void swallow(struct range *a, const struct range *b)
{
	if (b->start < a->start)
		a->start = b->start;
	if (b->end > a->end)
		a->end = b->end;
}

/* One more; with those that it is near to it becomes one. */
static void exe_add(struct found *f, struct range new)
{
	unsigned i = 0;

	while (i < f->n) {
		if (near(&f->r[i], &new)) {
			swallow(&new, &f->r[i]);
			f->r[i] = f->r[--f->n];
			i = 0;
		} else {
			i++;
		}
	}
	if (f->n < RANGES)
		f->r[f->n++] = new;
}

/* ---- the file ---- */

/* @len bytes at @off, if they are there. */
static const void *at(const struct file *f, uint64_t off, uint64_t len)
{
	return off <= f->len && len <= f->len - off ? f->map + off : NULL;
}

static const ElfW(Shdr) *section(const struct file *f, const ElfW(Ehdr) *e,
				 unsigned i)
{
	if (i >= e->e_shnum || e->e_shentsize != sizeof(ElfW(Shdr)))
		return NULL;
	return at(f, e->e_shoff + (uint64_t)i * sizeof(ElfW(Shdr)),
		  sizeof(ElfW(Shdr)));
}

static const ElfW(Shdr) *section_of(const struct file *f, const ElfW(Ehdr) *e,
				    uint32_t type)
{
	const ElfW(Shdr) *s;
	unsigned i;

	for (i = 0; (s = section(f, e, i)); i++)
		if (s->sh_type == type)
			return s;
	return NULL;
}

static void exe_look(const struct file *f, const ElfW(Shdr) *table,
		     const ElfW(Shdr) *names, uintptr_t base,
		     struct found *found)
{
	const ElfW(Sym) *sym = at(f, table->sh_offset, table->sh_size);
	const char *text = at(f, names->sh_offset, names->sh_size);
	size_t i, n = table->sh_size / sizeof(*sym);

	/* The last name ends within. */
	if (!sym || !text || !names->sh_size || text[names->sh_size - 1])
		return;
	for (i = 0; i < n; i++) {
		uintptr_t start = base + sym[i].st_value;

		if (ELF64_ST_TYPE(sym[i].st_info) == STT_FUNC &&
		    sym[i].st_shndx != SHN_UNDEF && sym[i].st_size &&
		    sym[i].st_name < names->sh_size &&
		    is_allocator(text + sym[i].st_name))
			exe_add(found, (struct range){ start,
						   start + sym[i].st_size });
	}
}

static void look_in(const struct file *f, uintptr_t base, struct found *found)
{
	const ElfW(Ehdr) *e = at(f, 0, sizeof(*e));
	const ElfW(Shdr) *table, *names;

	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
	    e->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 :
							   ELFCLASS32))
		return;
	table = section_of(f, e, SHT_SYMTAB);
	if (!table)
		table = section_of(f, e, SHT_DYNSYM);
	names = table ? section(f, e, table->sh_link) : NULL;
	if (names)
		exe_look(f, table, names, base, found);
}

/* ---- the process ---- */

/* The executable comes first. */
static int note_base(struct dl_phdr_info *info, size_t len, void *arg)
{
	(void)len;
	*(uintptr_t *)arg = info->dlpi_addr;
	return 1;
}

static int map_exe(struct file *f)
{
	long fd = TUX_SYS(SYS_openat, AT_FDCWD, (long)"/proc/self/exe",
			  O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long len;

	if (fd < 0)
		return (int)fd;
	len = TUX_SYS(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0);
	f->len = len > 0 ? (size_t)len : 0;
	f->map = mmap(NULL, f->len, PROT_READ, MAP_PRIVATE, (int)fd, 0);
	TUX_SYS(SYS_close, fd, 0, 0, 0, 0, 0);
	return f->map == MAP_FAILED ? -errno : 0;
}

static int result;

static void exe_find(void)
{
	struct found found = { .n = 0 };
	uintptr_t base = 0;
	struct file f;
	unsigned i;

	result = map_exe(&f);
	if (result)
		return;
	dl_iterate_phdr(note_base, &base);
	look_in(&f, base, &found);
	munmap((void *)f.map, f.len);
	for (i = 0; i < found.n && !result; i++)
		result = tux_critical_add((const void *)found.r[i].start,
				       (const void *)found.r[i].end);
	if (!result)
		result = (int)found.n;
}

int tux_exe_critical(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, exe_find);
	return result;
}
