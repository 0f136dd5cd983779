/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a debug build finds out: each step that a frame must not take, and each
 * write to a frame that is free, ends the process and says why.  The source is
 * compiled in, so that this is tested in any build.
 */
#ifndef TUX_DEBUG
#define TUX_DEBUG
#endif
#undef NDEBUG
#include "../../../lib/afxdp/umem.c"

#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

enum { N = 4 };

/* Mapped anew in the child, which would not have the parent's. */
static void in_child(void (*wrong)(struct tux_umem *, int), int arg)
{
	struct tux_umem u;

	prctl(PR_SET_DUMPABLE, 0);
	signal(SIGABRT, SIG_DFL);
	if (!tux_umem_init(&u, N))
		wrong(&u, arg);
	_exit(0);
}

/* Does wrong(@arg) abort, with @says in its message? */
static void assert_aborts(void (*wrong)(struct tux_umem *, int), int arg,
			  const char *says)
{
	char text[1000] = "";
	int fd[2], status;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fd[1], 2);
		in_child(wrong, arg);
	}
	close(fd[1]);
	assert_true(read(fd[0], text, sizeof(text) - 1) >= 0);
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, says));
}

/* A frame that @owner has, by steps that are right. */
static uint16_t bring(struct tux_umem *u, enum tux_umem_owner owner)
{
	bool in = owner == TUX_UMEM_FILL || owner == TUX_UMEM_HELD;
	uint16_t f;

	if (owner == TUX_UMEM_FREE)
		return u->free[u->free_n - 1];
	f = tux_umem_get(u, in ? TUX_UMEM_FILL : TUX_UMEM_BUILT);
	if (owner == TUX_UMEM_HELD)
		tux_umem_pass(u, f, TUX_UMEM_FILL, owner);
	if (owner == TUX_UMEM_SENT)
		tux_umem_pass(u, f, TUX_UMEM_BUILT, owner);
	return f;
}

enum { STEPS = TUX_UMEM_OWNERS * TUX_UMEM_OWNERS };

static enum tux_umem_owner from_of(int step)
{
	return (enum tux_umem_owner)(step / TUX_UMEM_OWNERS);
}

static enum tux_umem_owner to_of(int step)
{
	return (enum tux_umem_owner)(step % TUX_UMEM_OWNERS);
}

static void take_step(struct tux_umem *u, int step)
{
	tux_umem_pass(u, bring(u, from_of(step)), from_of(step), to_of(step));
}

static bool is_legal(int step)
{
	static const char legal[][2] = {
		{ TUX_UMEM_FILL, TUX_UMEM_HELD },
		{ TUX_UMEM_HELD, TUX_UMEM_FREE },
		{ TUX_UMEM_BUILT, TUX_UMEM_SENT },
		{ TUX_UMEM_BUILT, TUX_UMEM_FREE },
		{ TUX_UMEM_SENT, TUX_UMEM_FREE },
	};
	unsigned i;

	for (i = 0; i < N_OF(legal); i++)
		if (legal[i][0] == (char)from_of(step) &&
		    legal[i][1] == (char)to_of(step))
			return true;
	return false;
}

static void pass__aborts_at_every_illegal_step(void **state)
{
	int step;

	(void)state;
	for (step = 0; step < STEPS; step++)
		if (!is_legal(step))
			assert_aborts(take_step, step, "one of two rounds");
}

static void give_anothers(struct tux_umem *u, int step)
{
	tux_umem_pass(u, bring(u, from_of(step)), to_of(step), TUX_UMEM_FREE);
}

static void pass__aborts_for_all_but_the_owner(void **state)
{
	int step;

	(void)state;
	for (step = 0; step < STEPS; step++)
		if (from_of(step) != to_of(step))
			assert_aborts(give_anothers, step, "only its owner");
}

static void give_none(struct tux_umem *u, int f)
{
	tux_umem_pass(u, (uint16_t)f, TUX_UMEM_BUILT, TUX_UMEM_FREE);
}

static void pass__aborts_beyond_the_last_frame(void **state)
{
	(void)state;
	assert_aborts(give_none, N, "there is such a frame");
	assert_aborts(give_none, TUX_UMEM_NONE, "there is such a frame");
}

static void get_for(struct tux_umem *u, int owner)
{
	tux_umem_get(u, (enum tux_umem_owner)owner);
}

static void get__aborts_for_other_owners(void **state)
{
	(void)state;
	assert_aborts(get_for, TUX_UMEM_FREE, "both rounds begin");
	assert_aborts(get_for, TUX_UMEM_HELD, "both rounds begin");
	assert_aborts(get_for, TUX_UMEM_SENT, "both rounds begin");
}

/* Frees a frame, writes to its byte @at, and takes it again. */
static void write_late(struct tux_umem *u, int at)
{
	uint16_t f = bring(u, TUX_UMEM_BUILT);

	tux_umem_pass(u, f, TUX_UMEM_BUILT, TUX_UMEM_FREE);
	tux_umem_at(u, f)[at] ^= 1;
	tux_umem_get(u, TUX_UMEM_FILL);
}

static void get__aborts_if_a_free_frame_was_written(void **state)
{
	(void)state;
	assert_aborts(write_late, 0, "nobody writes to a free frame");
	assert_aborts(write_late, 2000, "nobody writes to a free frame");
	assert_aborts(write_late, TUX_UMEM_CHUNK - 1,
		      "nobody writes to a free frame");
}

static void round__of_both_kinds_is_legal(void **state)
{
	struct tux_umem u;
	int step;

	(void)state;
	assert_int_equal(tux_umem_init(&u, 64), 0);
	for (step = 0; step < STEPS; step++)
		if (is_legal(step))
			take_step(&u, step);
	assert_int_equal(tux_umem_count(&u, TUX_UMEM_SENT), 1);
	tux_umem_fini(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pass__aborts_at_every_illegal_step),
		cmocka_unit_test(pass__aborts_for_all_but_the_owner),
		cmocka_unit_test(pass__aborts_beyond_the_last_frame),
		cmocka_unit_test(get__aborts_for_other_owners),
		cmocka_unit_test(get__aborts_if_a_free_frame_was_written),
		cmocka_unit_test(round__of_both_kinds_is_legal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
