/* SPDX-License-Identifier: BSD-2-Clause */
#include "hook/uring_ring.h"

#include <sys/mman.h>

#include "ground/libc.h"
#include "sock/observer.h"
#include "sys/take.h"

enum {
	RINGS = 256,		/* of a process; one more cannot be read */
	FREE = 0, BUSY = -1,	/* uring.name */
	LATCH_MS = 10,		/* an entry may ask to close its own ring */
};

/* Flags of io_uring_setup(), by value: headers may be older. */
enum {
	SETUP_SQE128 = 1 << 10,
	SETUP_NO_SQARRAY = 1 << 16,
	/* IOPOLL, CQSIZE, CLAMP, ATTACH_WQ, R_DISABLED, SUBMIT_ALL,
	 * COOP_TASKRUN, TASKRUN_FLAG, CQE32, SINGLE_ISSUER, DEFER_TASKRUN,
	 * HYBRID_IOPOLL: entries are where they always are, and the kernel
	 * takes them in io_uring_enter(). */
	SETUP_READABLE = 1 << 0 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 |
			 1 << 8 | 1 << 9 | SETUP_SQE128 | 1 << 11 | 1 << 12 |
			 1 << 13 | SETUP_NO_SQARRAY | 1 << 17,
};

static struct uring rings[RINGS];
static _Atomic uint32_t used;	/* places that ever were in use */

/* ---- finding them ----------------------------------------------------- */

struct uring *uring_find(int fd)
{
	uint32_t n = atomic_load_explicit(&used, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		if (atomic_load_explicit(&rings[i].name,
					 memory_order_acquire) == fd + 1)
			return &rings[i];
	return NULL;
}

struct uring *uring_each(uint32_t *at)
{
	while (*at < atomic_load_explicit(&used, memory_order_acquire)) {
		struct uring *r = &rings[(*at)++];

		if (atomic_load_explicit(&r->name, memory_order_acquire) > 0)
			return r;
	}
	return NULL;
}

/* A place that is BUSY now, or NULL. */
static struct uring *uring_take(void)
{
	for (uint32_t i = 0; i < RINGS; i++) {
		uint32_t n = atomic_load(&used);
		int is = FREE;

		if (!atomic_compare_exchange_strong(&rings[i].name, &is, BUSY))
			continue;
		while (n <= i && !atomic_compare_exchange_weak(&used, &n, i + 1))
			;
		return &rings[i];
	}
	return NULL;
}

static void uring_unmap(struct uring *r)
{
	if (r->map)
		munmap(r->map, r->map_len);
	if (r->entries)
		munmap(r->entries, r->entries_len);
	r->map = r->entries = NULL;
}

/* Where the latch is not to be had, the place is lost: the ring is not known
 * any more. */
void uring_forget(int fd)
{
	struct uring *r = uring_find(fd);

	if (!r)
		return;
	atomic_store(&r->name, BUSY);
	if (!tux_latch_take_within(&r->latch, TUX_MSEC(LATCH_MS)))
		return;
	uring_unmap(r);
	tux_latch_drop(&r->latch);
	atomic_store(&r->name, FREE);
}

/* ---- making one ------------------------------------------------------- */

static char *uring_map(int fd, size_t len, uint64_t at)
{
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, fd, (off_t)at);

	return p == MAP_FAILED ? NULL : p;
}

/* As much as the program maps, too: other kernels take nothing else. */
static size_t map_len(const struct io_uring_params *p)
{
	size_t cqe = p->flags & IORING_SETUP_CQE32 ? 32 : 16;
	size_t sq = p->sq_off.array + p->sq_entries * sizeof(uint32_t);
	size_t cq = p->cq_off.cqes + p->cq_entries * cqe;

	return (p->features & IORING_FEAT_SINGLE_MMAP) && cq > sq ? cq : sq;
}

static bool uring_open(struct uring *r, int fd, const struct io_uring_params *p)
{
	r->size = p->flags & SETUP_SQE128 ? 128 : 64;
	r->map_len = map_len(p);
	r->entries_len = (size_t)p->sq_entries * r->size;
	r->map = uring_map(fd, r->map_len, IORING_OFF_SQ_RING);
	r->entries = uring_map(fd, r->entries_len, IORING_OFF_SQES);
	if (!r->map || !r->entries)
		return false;
	r->head = (const void *)(r->map + p->sq_off.head);
	r->tail = (const void *)(r->map + p->sq_off.tail);
	r->array = p->flags & SETUP_NO_SQARRAY ? NULL :
		   (const void *)(r->map + p->sq_off.array);
	r->mask = p->sq_entries - 1;
	r->seen = 0;
	r->linked = false;
	return true;
}

static void uring_stopped(void)
{
	uint32_t at = 0;
	struct uring *r;

	while ((r = uring_each(&at))) {
		int name = atomic_load(&r->name);

		if (name > 0)
			uring_forget(name - 1);
	}
}

static struct observer observer = {
	.gone = uring_forget, .stopped = uring_stopped,
};

bool uring_add(int fd, const struct io_uring_params *p)
{
	struct uring *r = p->flags & ~(uint32_t)SETUP_READABLE ? NULL :
			 uring_take();

	if (!r)
		return false;
	observer_add(&observer);
	if (uring_open(r, fd, p)) {
		atomic_store(&r->name, fd + 1);
		return true;
	}
	uring_unmap(r);
	atomic_store(&r->name, FREE);
	return false;
}
