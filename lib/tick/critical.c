/* SPDX-License-Identifier: BSD-2-Clause */
#include "tick/critical.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { ADDED = 32 };			/* ranges that can be added */

struct span {
	uintptr_t start, end;
};

/* Never changed once it can be seen. */
struct spans {
	struct spans *older;
	unsigned n, cap;
	struct span span[];
};

static struct {
	pthread_mutex_t lock;		/* for changes */
	_Atomic(struct spans *) now;
	struct span added[ADDED];
	unsigned added_n;
	bool looked, changed;
	unsigned long long adds, subs;	/* what the linker had counted */
} critical = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* As the file is called, before the version. */
static const char *const names[] = {
	"ld-linux", "ld-musl", "ld64.so", "libc.so", "libc-2", "libc.musl",
	"libpthread", "linux-vdso", "libgcc_s", "libjemalloc", "libtcmalloc",
	"libmimalloc", "libhoard", "librpmalloc", "libtux",
};

static bool is_guarded(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(file, names[i], strlen(names[i])))
			return true;
	return false;
}

/* ---- the linker's list ---- */

static bool has_changed(struct dl_phdr_info *info, size_t len)
{
	bool same;

	if (len < offsetof(struct dl_phdr_info, dlpi_subs) +
		  sizeof(info->dlpi_subs))
		return true;
	same = critical.looked && !critical.changed &&
	       info->dlpi_adds == critical.adds &&
	       info->dlpi_subs == critical.subs;
	critical.adds = info->dlpi_adds;
	critical.subs = info->dlpi_subs;
	return !same;
}

static int look_for_change(struct dl_phdr_info *info, size_t len, void *arg)
{
	*(bool *)arg = has_changed(info, len);
	return 1;
}

/* Counts what does not fit, too. */
static void critical_note(struct spans *s, uintptr_t start, uintptr_t end)
{
	if (s->n < s->cap)
		s->span[s->n] = (struct span){ start, end };
	s->n++;
}

static int critical_collect(struct dl_phdr_info *info, size_t len, void *arg)
{
	unsigned i;

	(void)len;
	if (!is_guarded(info->dlpi_name))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			critical_note(arg, start, start + p->p_memsz);
	}
	return 0;
}

/* ---- the ranges ---- */

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct spans *gather(unsigned cap)
{
	struct spans *s = calloc(1, sizeof(*s) + cap * sizeof(s->span[0]));
	unsigned i;

	if (!s)
		return NULL;
	s->cap = cap;
	dl_iterate_phdr(critical_collect, s);
	for (i = 0; i < critical.added_n; i++)
		critical_note(s, critical.added[i].start, critical.added[i].end);
	return s;
}

/* Old ranges are kept: a handler may be looking at them.  They change when a
 * program loads something, and so hardly ever. */
static int replace(void)
{
	struct spans *s = gather(64);

	while (s && s->n > s->cap) {
		unsigned n = s->n;

		free(s);
		s = gather(n + 8);
	}
	if (!s)
		return -ENOMEM;
	qsort(s->span, s->n, sizeof(s->span[0]), by_start);
	s->older = atomic_load(&critical.now);
	atomic_store(&critical.now, s);
	return 0;
}

int tux_critical_refresh(void)
{
	bool changed = false;
	int err = 0;

	pthread_mutex_lock(&critical.lock);
	dl_iterate_phdr(look_for_change, &changed);
	if (changed) {
		err = replace();
		critical.looked = !err;
		critical.changed = false;
	}
	pthread_mutex_unlock(&critical.lock);
	return err;
}

int tux_critical_add(const void *start, const void *end)
{
	int err = 0;

	pthread_mutex_lock(&critical.lock);
	if (critical.added_n < ADDED) {
		critical.added[critical.added_n++] =
			(struct span){ (uintptr_t)start, (uintptr_t)end };
		critical.changed = true;
	} else {
		err = -ENOSPC;
	}
	pthread_mutex_unlock(&critical.lock);
	return err ? err : tux_critical_refresh();
}

bool tux_critical_has(uintptr_t pc)
{
	const struct spans *s = atomic_load(&critical.now);
	unsigned low = 0, high = s ? s->n : 0;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (pc < s->span[mid].start)
			high = mid;
		else if (pc >= s->span[mid].end)
			low = mid + 1;
		else
			return true;
	}
	return false;
}
