/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fiber - what a sanitizer must be told about stacks that one thread changes
 * between; nothing in builds without one
 */
#ifndef TUX_RUN_FIBER_H
#define TUX_RUN_FIBER_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TUX_FIBER_ASAN 1
#elif __has_feature(thread_sanitizer)
#define TUX_FIBER_TSAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TUX_FIBER_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define TUX_FIBER_TSAN 1
#endif

#if defined(TUX_FIBER_ASAN)

#include <sanitizer/common_interface_defs.h>

#define TUX_FIBERS 1

struct tux_fiber {
	const void *low;	/* its stack; a thread's own is found out */
	size_t len;
	void *fake;		/* what the sanitizer keeps while it is left */
};

static inline void tux_fiber_make(struct tux_fiber *f, void *low, size_t len)
{
	*f = (struct tux_fiber){ low, len, NULL };
}

static inline void tux_fiber_fini(struct tux_fiber *f)
{
	(void)f;
}

static inline void tux_fiber_leave(struct tux_fiber *from, struct tux_fiber *to)
{
	__sanitizer_start_switch_fiber(&from->fake, to->low, to->len);
}

static inline void tux_fiber_arrive(struct tux_fiber *at,
				    struct tux_fiber *from)
{
	__sanitizer_finish_switch_fiber(at->fake, &from->low, &from->len);
}

#elif defined(TUX_FIBER_TSAN)

#include <sanitizer/tsan_interface.h>

#define TUX_FIBERS 1

struct tux_fiber {
	void *tsan;		/* NULL: a thread's own, found out when left */
};

static inline void tux_fiber_make(struct tux_fiber *f, void *low, size_t len)
{
	(void)low;
	(void)len;
	f->tsan = __tsan_create_fiber(0);
}

static inline void tux_fiber_fini(struct tux_fiber *f)
{
	if (f->tsan)
		__tsan_destroy_fiber(f->tsan);
	f->tsan = NULL;
}

static inline void tux_fiber_leave(struct tux_fiber *from, struct tux_fiber *to)
{
	from->tsan = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(to->tsan, 0);
}

static inline void tux_fiber_arrive(struct tux_fiber *at,
				    struct tux_fiber *from)
{
	(void)at;
	(void)from;
}

#else

#define TUX_FIBERS 0

struct tux_fiber {
	char none;
};

static inline void tux_fiber_make(struct tux_fiber *f, void *low, size_t len)
{
	(void)f;
	(void)low;
	(void)len;
}

static inline void tux_fiber_fini(struct tux_fiber *f)
{
	(void)f;
}

static inline void tux_fiber_leave(struct tux_fiber *from, struct tux_fiber *to)
{
	(void)from;
	(void)to;
}

static inline void tux_fiber_arrive(struct tux_fiber *at,
				    struct tux_fiber *from)
{
	(void)at;
	(void)from;
}

#endif

#endif
