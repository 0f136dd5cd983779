/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/deep.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HERE 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HERE 1
#endif

#ifdef HERE
/* It does not know such stacks, says so at each program's start, and needs larger ones
 * than libtux itself. */
int tux_deep_call(void (*fn)(void *arg), void *arg)
{
	fn(arg);
	return 0;
}
#else
enum { LEN = 256 * 1024 };

struct deep {
	void (*fn)(void *arg);
	void *arg;
	ucontext_t here, there;
};

/* Arguments of a context are ints. */
static void deep_enter(unsigned high, unsigned low)
{
	uintptr_t p = (uintptr_t)((uint64_t)high << 32 | low);
	const struct deep *d = (const struct deep *)p;

	d->fn(d->arg);
}

/* What the two contexts need lies at the low end of the new stack: each takes
 * about a kilobyte. */
int tux_deep_call(void (*fn)(void *arg), void *arg)
{
	struct deep *d = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	uint64_t p = (uintptr_t)d;

	if (d == MAP_FAILED)
		return -ENOMEM;
	d->fn = fn;
	d->arg = arg;
	if (getcontext(&d->there)) {
		munmap(d, LEN);
		return -ENOMEM;
	}
	d->there.uc_stack.ss_sp = d + 1;
	d->there.uc_stack.ss_size = LEN - sizeof(*d);
	d->there.uc_link = &d->here;
	makecontext(&d->there, (void (*)(void))deep_enter, 2,
		    (unsigned)(p >> 32), (unsigned)p);
	swapcontext(&d->here, &d->there);
	munmap(d, LEN);
	return 0;
}
#endif
