/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/donor.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "run/switch.h"
#include "sys/sys.h"
#include "sys/thread.h"

/* Of the map: storage, frames until there.  ThreadSanitizer has a megabyte of
 * storage. */
#ifdef __SANITIZE_THREAD__
#define ABOVE (2048 * 1024)
#else
#define ABOVE (256 * 1024)
#endif

enum {
	STARTS, PARKED, CALLED, ENDS,	/* states */
	BELOW = 128 * 1024,		/* from the parked frame to the borrowed, */
	ALTERNATE = 64 * 1024,		/* and of it for faults in calls */
	ALIGN = 64,
	ABOVE_MOST = 64 << 20,
};

static void donor_set(struct tux_donor *d, uint32_t state)
{
	atomic_store(&d->state, state);
	tux_sys_futex(&d->state, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL);
}

static void wait_while(struct tux_donor *d, uint32_t state)
{
	while (atomic_load(&d->state) == state)
		tux_sys_futex(&d->state, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, state,
			      NULL);
}

/* A call that uses up the borrowed stack has its fault reported on another. */
static void set_alternate(const struct tux_donor *d)
{
	stack_t mine = { .ss_sp = d->top, .ss_size = ALTERNATE }, old;

	if (!TUX_SYS(SYS_sigaltstack, 0, &old, 0, 0, 0, 0) &&
	    old.ss_flags & SS_DISABLE)
		TUX_SYS(SYS_sigaltstack, &mine, 0, 0, 0, 0, 0);
}

/* Waits for tux_donor_call() or tux_donor_fini().  True: the thread makes the call,
 * and the owner may ask for the next one.  False: the thread ends. */
static bool take_call(struct tux_donor *d)
{
	uint32_t called = CALLED;

	wait_while(d, PARKED);
	return atomic_compare_exchange_strong(&d->state, &called, PARKED);
}

/* Nothing of libc from the moment it is parked: the storage is lent. */
static void *park(void *arg)
{
	struct tux_donor *d = arg;
	char *frame = __builtin_frame_address(0);

	TUX_SYS(SYS_prctl, PR_SET_NAME, "tux-donor", 0, 0, 0, 0);
	d->tls = tux_switch_tls();
	d->top = frame - BELOW;
	d->top -= (uintptr_t)d->top % ALIGN;
	set_alternate(d);
	if (d->parks)
		d->parks(d);
	donor_set(d, PARKED);
	while (take_call(d))
		d->called(d);
	if (d->ends)
		d->ends(d);
	return NULL;
}

static int map(struct tux_donor *d, size_t stack_len, size_t above)
{
	size_t page = (size_t)getpagesize();

	d->map_len = TUX_DONOR_GUARD + above + BELOW +
		     (stack_len + page - 1) / page * page;
	d->map = mmap(NULL, d->map_len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
		      -1, 0);
	if (d->map == MAP_FAILED)
		return -errno;
	d->low = d->map + TUX_DONOR_GUARD;
	if (mprotect(d->map, TUX_DONOR_GUARD, PROT_NONE)) {
		int err = -errno;

		munmap(d->map, d->map_len);
		return err;
	}
	return 0;
}

static int donor_start(struct tux_donor *d)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return -err;
	pthread_attr_setstack(&attr, d->low, d->map_len - TUX_DONOR_GUARD);
	err = tux_thread_start(&d->thread, &attr, park, d);
	pthread_attr_destroy(&attr);
	return err;
}

static int try(struct tux_donor *d, size_t stack_len, size_t above)
{
	int err;

	atomic_store(&d->state, STARTS);
	err = map(d, stack_len, above);
	if (err)
		return err;
	err = donor_start(d);
	if (err) {
		munmap(d->map, d->map_len);
		return err;
	}
	wait_while(d, STARTS);
	return 0;
}

/* How much storage a thread has, nobody tells; it grows with what is loaded. */
int tux_donor_init(struct tux_donor *d, size_t stack_len)
{
	static _Atomic size_t enough = ABOVE;
	size_t above = atomic_load(&enough);
	int err;

	if (stack_len < TUX_DONOR_STACK_MIN)
		stack_len = TUX_DONOR_STACK_MIN;
	for (;; above *= 2) {
		err = try(d, stack_len, above);
		if (!err && d->top - d->low >= (ptrdiff_t)stack_len)
			break;
		if (!err)
			tux_donor_fini(d);
		if ((err && err != -EINVAL) || above >= ABOVE_MOST)
			return err ? err : -ENOMEM;
	}
	atomic_store(&enough, above);
	return 0;
}

void tux_donor_fini(struct tux_donor *d)
{
	donor_set(d, ENDS);
	pthread_join(d->thread, NULL);
	munmap(d->map, d->map_len);
}

void tux_donor_call(struct tux_donor *d)
{
	donor_set(d, CALLED);
}

bool tux_donor_parks_at(const struct tux_donor *d, const void *p)
{
	return (const char *)p >= d->top && (const char *)p < d->map + d->map_len;
}

bool tux_donor_overflows(const struct tux_donor *d, const void *p)
{
	return (const char *)p >= d->map && (const char *)p < d->low;
}
