/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/donors.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/time.h"
#include "sys/clock.h"
#include "sys/sys.h"
#include "sys/thread.h"

enum {
	SPARE = 4,			/* kept in reserve */
	RETRY_MS = 10,			/* after the kernel had no more threads */
};

static void wake_maker(struct tux_donors *p)
{
	tux_sys_futex(&p->wanted, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL);
}

static int donors_make(struct tux_donors *p)
{
	struct tux_donor *d = calloc(1, p->o.size);
	int err;

	if (!d)
		return -ENOMEM;
	d->parks = p->o.parks;
	d->ends = p->o.ends;
	d->called = p->o.called;
	err = tux_donor_init(d, p->o.stack_len);
	if (err) {
		free(d);
		return err;
	}
	d->older = p->newest;
	p->newest = d;
	d->next = atomic_load(&p->made);
	while (!atomic_compare_exchange_weak(&p->made, &d->next, d))
		;
	atomic_fetch_add(&p->made_n, 1);
	return 0;
}

static void feed(struct tux_donors *p)
{
	if (atomic_exchange(&p->hungry, false) && p->o.more)
		p->o.more(p->o.arg);
}

/* What the pool wants may be a number that made_n never reaches. */
static void donors_sleep(struct tux_donors *p, uint32_t wanted, tux_time in)
{
	struct timespec ts;

	tux_sys_futex(&p->wanted, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, wanted,
		      tux_clock_until(&ts, in, 0));
}

static void *maker(void *arg)
{
	struct tux_donors *p = arg;

	TUX_SYS(SYS_prctl, PR_SET_NAME, "tux-maker", 0, 0, 0, 0);
	while (!atomic_load(&p->stop)) {
		uint32_t wanted = atomic_load(&p->wanted);

		if (atomic_load(&p->made_n) >= wanted) {
			if (!atomic_load(&p->stop))
				donors_sleep(p, wanted, TUX_NEVER);
			continue;
		}
		atomic_store(&p->err, donors_make(p));
		if (!atomic_load(&p->err))
			feed(p);
		else if (!atomic_load(&p->stop))
			donors_sleep(p, wanted, TUX_MSEC(RETRY_MS));
	}
	return NULL;
}

static void free_all(struct tux_donors *p)
{
	struct tux_donor *d;

	while ((d = p->newest)) {
		p->newest = d->older;
		tux_donor_fini(d);
		free(d);
	}
}

static uint32_t few(const struct tux_donors *p)
{
	uint32_t n = p->taken + SPARE;

	return n < p->o.max ? n : p->o.max;
}

int tux_donors_init(struct tux_donors *p, const struct tux_donors_opts *o)
{
	int err = 0;

	*p = (struct tux_donors){ .o = *o };
	atomic_store(&p->wanted, few(p));
	while (!err && atomic_load(&p->made_n) < few(p))
		err = donors_make(p);
	if (!err)
		err = tux_thread_start(&p->maker, NULL, maker, p);
	if (err)
		free_all(p);
	return err;
}

void tux_donors_fini(struct tux_donors *p)
{
	atomic_store(&p->stop, true);
	/* Another value, so that it cannot be slept on. */
	atomic_fetch_add(&p->wanted, 1);
	wake_maker(p);
	pthread_join(p->maker, NULL);
	free_all(p);
}

/* All that were made since, to the user's side. */
static void fetch(struct tux_donors *p)
{
	p->mine = atomic_exchange(&p->made, NULL);
}

static void want(struct tux_donors *p)
{
	if (few(p) > atomic_load(&p->wanted)) {
		atomic_store(&p->wanted, few(p));
		wake_maker(p);
	}
}

bool tux_donors_ready(struct tux_donors *p)
{
	if (!p->mine)
		fetch(p);
	if (p->mine || p->taken == p->o.max)
		return p->mine;
	/* What comes in between is found now, or announced later. */
	atomic_store(&p->hungry, true);
	fetch(p);
	return p->mine;
}

struct tux_donor *tux_donors_get(struct tux_donors *p)
{
	struct tux_donor *d;

	if (!tux_donors_ready(p))
		return NULL;
	d = p->mine;
	p->mine = d->next;
	p->taken++;
	want(p);
	return d;
}

bool tux_donors_left(const struct tux_donors *p)
{
	return p->taken < p->o.max && !atomic_load(&p->err);
}
