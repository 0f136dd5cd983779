/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/donor.h"

#include <errno.h>
#include <unistd.h>

#include "../test.h"
#include "run/switch.h"

enum { STACK = 128 * 1024 };

static __thread int own = 7;

/* More than a thread is thought to have: the stack is no shorter for it. */
static __thread volatile char much[480 * 1024];

struct guest {
	struct tux_donor d;		/* the first */
	struct tux_switch here, there;
	pthread_t self;
	int own, err;
	bool inside;
};

static void parks(struct tux_donor *d)
{
	(void)d;
	much[0] = 1;
	own = 42;
}

static void open_guest(struct guest *g, void (*fn)(void *))
{
	*g = (struct guest){ .d = { .parks = parks } };
	assert_int_equal(tux_donor_init(&g->d, STACK), 0);
	tux_switch_here(&g->here);
	tux_switch_make(&g->there, g->d.low, g->d.top, g->d.tls, fn, g);
}

static void close_guest(struct guest *g)
{
	tux_switch_fini(&g->there);
	tux_donor_fini(&g->d);
}

static void look(void *arg)
{
	struct guest *g = arg;
	char c;

	g->self = pthread_self();
	g->own = own;
	g->inside = &c > g->d.low && &c < g->d.top;
	errno = EILSEQ;
	tux_switch(&g->there, &g->here);
	g->err = errno;
	own = 99;
	tux_switch(&g->there, &g->here);
}

static void donor__lends_stack_and_storage(void **state)
{
	struct guest g;

	(void)state;
	open_guest(&g, look);
	assert_true(g.d.top - g.d.low >= STACK);
	errno = EPERM;
	tux_switch(&g.here, &g.there);
	assert_true(g.inside);
	if (tux_switch_has_tls()) {
		assert_true(pthread_equal(g.self, g.d.thread));
		assert_int_equal(g.own, 42);
		assert_int_equal(errno, EPERM);
		errno = ENOENT;
		tux_switch(&g.here, &g.there);
		assert_int_equal(g.err, EILSEQ);
		assert_int_equal(errno, ENOENT);
		assert_int_equal(own, 7);
	}
	close_guest(&g);
}

static _Atomic int ended;

static void end(void *p)
{
	(void)p;
	atomic_fetch_add(&ended, 1);
}

static pthread_key_t key;

static void set_key(void *arg)
{
	struct guest *g = arg;

	pthread_setspecific(key, g);
	tux_switch(&g->there, &g->here);
}

/* What a routine left in the storage goes when the thread does. */
static void donor__runs_destructors_at_its_end(void **state)
{
	struct guest g;

	(void)state;
	if (!tux_switch_has_tls())
		skip();
	assert_int_equal(pthread_key_create(&key, end), 0);
	open_guest(&g, set_key);
	tux_switch(&g.here, &g.there);
	assert_null(pthread_getspecific(key));
	assert_int_equal(atomic_load(&ended), 0);
	close_guest(&g);
	assert_int_equal(atomic_load(&ended), 1);
	pthread_key_delete(key);
}

/* libc changes the user of all threads by a signal to each. */
static void donor__answers_to_setuid(void **state)
{
	struct tux_donor d = { .parks = NULL };

	(void)state;
	assert_int_equal(tux_donor_init(&d, STACK), 0);
	assert_int_equal(setresuid(getuid(), geteuid(), geteuid()), 0);
	tux_donor_fini(&d);
}

static void overflows__only_below(void **state)
{
	struct tux_donor d = { .parks = NULL };

	(void)state;
	assert_int_equal(tux_donor_init(&d, 1), 0);
	assert_true(d.top - d.low >= TUX_DONOR_STACK_MIN);
	assert_true(tux_donor_overflows(&d, d.low - 1));
	assert_true(tux_donor_overflows(&d, d.low - TUX_DONOR_GUARD));
	assert_false(tux_donor_overflows(&d, d.low));
	assert_false(tux_donor_overflows(&d, d.low - TUX_DONOR_GUARD - 1));
	tux_donor_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(donor__lends_stack_and_storage),
		cmocka_unit_test(donor__runs_destructors_at_its_end),
		cmocka_unit_test(donor__answers_to_setuid),
		cmocka_unit_test(overflows__only_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
