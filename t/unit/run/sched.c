/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/sched.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "../test.h"
#include "run/switch.h"
#include "sys/clock.h"

enum { MANY = 300, LIMIT = 20 };

struct job {
	struct tux_task task;
	struct tux_strand strand;
	struct tux_sched *s;
	char name;
	unsigned ran;
	unsigned again;			/* how often it puts itself */
	tux_time sleeps;
	struct tux_routine *self;
	pthread_t thread;
};

/* What happened, in order.  (An assertion that fails in a routine would leave it
 * by longjmp.) */
static char journal[4096];
static locale_t foreign;
static size_t journal_n;

static void note(char c)
{
	if (journal_n < sizeof(journal) - 1) {
		journal[journal_n++] = c;
		journal[journal_n] = 0;
	}
}

static struct job *job_of(struct tux_task *t)
{
	return TUX_CONTAINER(t, struct job, task);
}

static struct tux_sched *open_sched(uint32_t routines_max)
{
	struct tux_sched_opts o = { .routines_max = routines_max };
	struct tux_sched *s;

	/* Nothing here is to end for want of time. */
	o.slice = TUX_SEC(1000);
	journal_n = 0;
	journal[0] = 0;
	assert_int_equal(tux_sched_new(&s, &o), 0);
	return s;
}

static void open_job(struct job *j, struct tux_sched *s, char name,
		     void (*run)(struct tux_task *))
{
	*j = (struct job){ .s = s, .name = name };
	tux_strand_init(&j->strand);
	tux_task_init(&j->task, &j->strand, run);
}

static void run_all(struct tux_sched *s)
{
	while (tux_sched_run(s) || tux_sched_deadline(s) != TUX_NEVER)
		;
}

static void say_name(struct tux_task *t)
{
	struct job *j = job_of(t);

	j->ran += tux_sched_inside();
	note(j->name);
	if (j->again) {
		j->again--;
		tux_sched_put(j->s, t);
	}
}

static void say_twice(struct tux_task *t)
{
	note(job_of(t)->name);
	tux_sched_yield();
	note(job_of(t)->name);
	job_of(t)->ran++;
}

static void say_after_sleep(struct tux_task *t)
{
	tux_sched_sleep(job_of(t)->sleeps);
	note(job_of(t)->name);
}

static void say_after_wake(struct tux_task *t)
{
	job_of(t)->self = tux_sched_self();
	note(job_of(t)->name);
	tux_sched_block();
	note(job_of(t)->name);
}

/* ---- the FIFO ---- */

static void run__groups_share_a_routine(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job j[3];
	unsigned i;

	(void)state;
	assert_false(tux_sched_inside());
	for (i = 0; i < 3; i++) {
		open_job(&j[i], s, (char)('a' + i), say_name);
		tux_sched_put(s, &j[i].task);
		tux_sched_put(s, &j[i].task);
	}
	assert_int_equal(tux_sched_run(s), 0);
	assert_string_equal(journal, "abc");
	assert_int_equal(j[0].ran, 1);
	assert_int_equal(tux_sched_stats(s)->slices, 1);
	assert_int_equal(tux_sched_stats(s)->callbacks, 3);
	assert_int_equal(tux_sched_stats(s)->routines_ever, 1);
	assert_int_equal(tux_sched_stats(s)->routines, 0);
	assert_int_equal(tux_sched_run(s), 0);
	tux_sched_free(s);
}

static void run__what_is_put_in_its_run_comes_last(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a, b;

	(void)state;
	open_job(&a, s, 'a', say_name);
	open_job(&b, s, 'b', say_name);
	a.again = 2;
	tux_sched_put(s, &a.task);
	tux_sched_put(s, &b.task);
	run_all(s);
	assert_string_equal(journal, "abaa");
	tux_sched_free(s);
}

static void short_slice(struct tux_task *t)
{
	tux_time began = tux_clock_read();

	note(job_of(t)->name);
	while (tux_clock_read() - began < TUX_MSEC(2))
		;
}

static void run__a_group_ends_with_the_slice(void **state)
{
	struct tux_sched_opts o = { .slice = TUX_MSEC(1) };
	struct tux_sched *s;
	struct job j[2];
	unsigned left;

	(void)state;
	journal_n = 0;
	assert_int_equal(tux_sched_new(&s, &o), 0);
	open_job(&j[0], s, 'a', short_slice);
	open_job(&j[1], s, 'b', short_slice);
	tux_sched_put(s, &j[0].task);
	tux_sched_put(s, &j[1].task);
	/* A slice may be over before its first task begins. */
	do
		left = tux_sched_run(s);
	while (!journal_n);
	assert_int_equal(left, 1);
	assert_string_equal(journal, "a");
	do
		left = tux_sched_run(s);
	while (journal_n < 2);
	assert_int_equal(left, 0);
	assert_int_equal(tux_sched_stats(s)->routines_ever, 1);
	tux_sched_free(s);
}

static void brief__with_work_behind_a_short_slice(void **state)
{
	struct tux_sched_opts o = { .slice = TUX_MSEC(4) };
	struct tux_sched *s;
	struct job j[2];

	(void)state;
	journal_n = 0;
	assert_int_equal(tux_sched_new(&s, &o), 0);
	open_job(&j[0], s, 'a', say_name);
	open_job(&j[1], s, 'b', short_slice);	/* of 2 ms */
	assert_false(tux_sched_is_brief(s));
	tux_sched_put(s, &j[0].task);
	assert_true(tux_sched_is_brief(s));
	tux_sched_put(s, &j[1].task);
	run_all(s);
	assert_string_equal(journal, "ab");
	assert_false(tux_sched_is_brief(s));
	tux_sched_put(s, &j[0].task);
	assert_false(tux_sched_is_brief(s));
	tux_sched_free(s);
}

/* ---- yield, sleep, block ---- */

static void yield__to_the_back(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a, b, c;

	(void)state;
	open_job(&a, s, 'a', say_twice);
	open_job(&b, s, 'b', say_twice);
	open_job(&c, s, 'c', say_name);
	tux_sched_put(s, &a.task);
	tux_sched_put(s, &b.task);
	tux_sched_put(s, &c.task);
	assert_int_equal(tux_sched_run(s), 3);
	assert_string_equal(journal, "a");
	run_all(s);
	assert_string_equal(journal, "abcab");
	assert_int_equal(tux_sched_stats(s)->yields, 2);
	assert_int_equal(tux_sched_stats(s)->routines_most, 2 + 1);
	assert_int_equal(tux_sched_stats(s)->routines, 0);
	tux_sched_free(s);
}

/* What the network thread finds after a slice came during it, or before. */
static void yield__behind_what_came_meanwhile(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a, b;

	(void)state;
	open_job(&a, s, 'a', say_twice);
	open_job(&b, s, 'b', say_name);
	tux_sched_put(s, &a.task);
	assert_int_equal(tux_sched_run(s), 1);
	tux_sched_put(s, &b.task);
	assert_int_equal(tux_sched_run(s), 1);
	assert_int_equal(tux_sched_run(s), 0);
	assert_string_equal(journal, "aba");
	tux_sched_free(s);
}

/* Three that sleep for 90, 60 and 30 ms.  False: the machine was so late that
 * they may wake in another order. */
static bool sleep_and_wake(void)
{
	struct tux_sched *s = open_sched(0);
	struct job j[3];
	tux_time began = tux_clock_read();
	bool in_time;
	unsigned i;

	assert_true(tux_sched_deadline(s) == TUX_NEVER);
	for (i = 0; i < 3; i++) {
		open_job(&j[i], s, (char)('a' + i), say_after_sleep);
		j[i].sleeps = TUX_MSEC(90 - 30 * i);
		tux_sched_put(s, &j[i].task);
	}
	while (tux_sched_run(s))
		;
	in_time = tux_clock_read() - began < TUX_MSEC(30);
	if (in_time) {
		assert_true(tux_sched_deadline(s) >= began + TUX_MSEC(30));
		assert_true(tux_sched_deadline(s) != TUX_NEVER);
	}
	run_all(s);
	if (in_time)
		assert_string_equal(journal, "cba");
	assert_true(tux_clock_read() - began >= TUX_MSEC(90));
	assert_int_equal(tux_sched_stats(s)->sleeps, 3);
	tux_sched_free(s);
	return in_time;
}

static void sleep__in_the_order_of_waking(void **state)
{
	unsigned tries = 100;

	(void)state;
	while (!sleep_and_wake())
		assert_int_not_equal(--tries, 0);
}

static void outside__nothing_happens(void **state)
{
	(void)state;
	tux_sched_yield();
	tux_sched_sleep(TUX_SEC(100));
	tux_sched_block();
	tux_sched_enter();
	tux_sched_enter();
	tux_sched_leave();
	tux_sched_leave();
	assert_null(tux_sched_self());
	assert_int_equal(tux_sched_preempted(), 0);
}

static void *wake(void *r)
{
	usleep(2000);
	tux_sched_wake(r);
	return NULL;
}

static void block__until_another_thread_wakes_it(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a;
	pthread_t t;

	(void)state;
	open_job(&a, s, 'a', say_after_wake);
	tux_sched_put(s, &a.task);
	assert_int_equal(tux_sched_run(s), 0);
	assert_string_equal(journal, "a");
	assert_int_equal(tux_sched_stats(s)->blocks, 1);
	pthread_create(&t, NULL, wake, a.self);
	while (journal_n < 2)
		tux_sched_run(s);
	pthread_join(t, NULL);
	tux_sched_free(s);
}

static void block__not_if_it_was_woken_before(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a;

	(void)state;
	open_job(&a, s, 'a', say_after_wake);
	tux_sched_put(s, &a.task);
	assert_int_equal(tux_sched_run(s), 0);
	tux_sched_wake(a.self);
	tux_sched_wake(a.self);
	run_all(s);
	assert_string_equal(journal, "aa");
	/* The same routine, with a word kept from when it did not wait. */
	tux_sched_wake(a.self);
	tux_sched_put(s, &a.task);
	run_all(s);
	assert_string_equal(journal, "aaaa");
	tux_sched_free(s);
}

static void block_for_a_while(struct tux_task *t)
{
	struct job *j = job_of(t);

	j->self = tux_sched_self();
	j->ran += tux_sched_holds(t->strand) && !tux_sched_is_here(j->s);
	note(j->name);
	tux_sched_block_until(tux_time_add(tux_clock_read(), j->sleeps));
	note(j->name);
}

static void block__until_its_time_is_up(void **state)
{
	struct tux_sched *s = open_sched(0);
	tux_time began = tux_clock_read();
	struct job a;

	(void)state;
	open_job(&a, s, 'a', block_for_a_while);
	a.sleeps = TUX_MSEC(5);
	assert_true(tux_sched_is_here(s));
	tux_sched_put(s, &a.task);
	assert_int_equal(tux_sched_run(s), 0);
	assert_string_equal(journal, "a");
	run_all(s);
	assert_string_equal(journal, "aa");
	assert_true(tux_clock_read() - began >= TUX_MSEC(5));
	assert_int_equal(a.ran, 1);
	assert_true(tux_sched_is_here(s));
	assert_false(tux_sched_holds(&a.strand));
	tux_sched_free(s);
}

/* A wake ends the block, whether it comes before the alarm or, unseen by the
 * scheduler, just as the alarm does; no alarm is left behind. */
static void block__woken_before_its_time(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a;

	(void)state;
	open_job(&a, s, 'a', block_for_a_while);
	a.sleeps = TUX_SEC(1000);
	tux_sched_put(s, &a.task);
	assert_int_equal(tux_sched_run(s), 0);
	assert_true(tux_sched_deadline(s) != TUX_NEVER);
	tux_sched_wake(a.self);
	run_all(s);
	assert_string_equal(journal, "aa");
	a.sleeps = TUX_MSEC(1);
	tux_sched_put(s, &a.task);
	assert_int_equal(tux_sched_run(s), 0);
	tux_sched_wake(a.self);
	usleep(2000);
	run_all(s);
	assert_string_equal(journal, "aaaa");
	assert_true(tux_sched_deadline(s) == TUX_NEVER);
	tux_sched_free(s);
}

/* ---- storage ---- */

static void note_thread(struct tux_task *t)
{
	job_of(t)->ran = pthread_equal(pthread_self(), job_of(t)->thread);
}

static bool runs_as_the_thread(bool preempt)
{
	struct tux_sched_opts o = { .preempt = preempt };
	struct tux_sched *s;
	struct job a;

	assert_int_equal(tux_sched_new(&s, &o), 0);
	open_job(&a, s, 'a', note_thread);
	a.thread = pthread_self();
	a.ran = 2;
	tux_sched_put(s, &a.task);
	run_all(s);
	assert_in_range(a.ran, 0, 1);
	tux_sched_free(s);
	return a.ran;
}

static void storage__is_the_threads_own_without_preemption(void **state)
{
	(void)state;
	assert_true(runs_as_the_thread(false));
	assert_int_equal(runs_as_the_thread(true), !tux_switch_has_tls());
}

/* ---- strands ---- */

static void strand__one_at_a_time_in_order(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct tux_strand x;
	struct job j[3], other;
	unsigned i;

	(void)state;
	tux_strand_init(&x);
	open_job(&other, s, '-', say_name);
	for (i = 0; i < 3; i++) {
		open_job(&j[i], s, (char)('a' + i), say_twice);
		j[i].task.strand = &x;
		tux_sched_put(s, &j[i].task);
	}
	tux_sched_put(s, &other.task);
	run_all(s);
	assert_string_equal(journal, "a-abbcc");
	assert_int_equal(tux_sched_stats(s)->routines_most, 2);
	tux_sched_free(s);
}

static void strand__sleeps_as_one(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct tux_strand x;
	struct job a, b;

	(void)state;
	tux_strand_init(&x);
	open_job(&a, s, 'a', say_after_sleep);
	open_job(&b, s, 'b', say_name);
	a.sleeps = TUX_MSEC(500);
	a.task.strand = b.task.strand = &x;
	tux_sched_put(s, &a.task);
	tux_sched_put(s, &b.task);
	assert_int_equal(tux_sched_run(s), 0);
	assert_string_equal(journal, "");
	run_all(s);
	assert_string_equal(journal, "ab");
	tux_sched_free(s);
}

/* ---- cancel ---- */

static void cancel__what_is_queued(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct tux_strand x;
	struct job j[3];
	unsigned i;

	(void)state;
	tux_strand_init(&x);
	for (i = 0; i < 3; i++) {
		open_job(&j[i], s, (char)('a' + i), say_name);
		j[i].task.strand = &x;
		tux_sched_put(s, &j[i].task);
	}
	assert_true(tux_sched_cancel(s, &j[0].task));
	assert_true(tux_sched_cancel(s, &j[0].task));
	assert_true(tux_sched_cancel(s, &j[2].task));
	run_all(s);
	assert_string_equal(journal, "b");
	tux_sched_put(s, &j[2].task);
	run_all(s);
	assert_string_equal(journal, "bc");
	tux_sched_free(s);
}

static void free_itself(struct tux_task *t)
{
	struct job *j = job_of(t);

	note(j->name);
	tux_sched_put(j->s, t);
	if (!tux_sched_cancel(j->s, t))
		note('!');
	memset(j, 0xff, sizeof(*j));
	free(j);
}

static void cancel__in_its_own_run_frees_it(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job *a = malloc(sizeof(*a)), b;

	(void)state;
	open_job(a, s, 'a', free_itself);
	open_job(&b, s, 'b', say_name);
	tux_sched_put(s, &a->task);
	tux_sched_put(s, &b.task);
	run_all(s);
	assert_string_equal(journal, "ab");
	tux_sched_free(s);
}

static void cancel__not_what_is_amidst_its_work(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a;

	(void)state;
	open_job(&a, s, 'a', say_twice);
	tux_sched_put(s, &a.task);
	tux_sched_run(s);
	tux_sched_put(s, &a.task);
	assert_false(tux_sched_cancel(s, &a.task));
	run_all(s);
	assert_string_equal(journal, "aa");
	assert_true(tux_sched_cancel(s, &a.task));
	tux_sched_free(s);
}

/* ---- many ---- */

static void run__no_more_routines_than_allowed(void **state)
{
	struct tux_sched *s = open_sched(LIMIT);
	struct job j[MANY];
	unsigned i, ran = 0;

	(void)state;
	for (i = 0; i < MANY; i++) {
		open_job(&j[i], s, 'x', say_twice);
		tux_sched_put(s, &j[i].task);
	}
	run_all(s);
	for (i = 0; i < MANY; i++)
		ran += j[i].ran;
	assert_int_equal(ran, MANY);
	assert_true(tux_sched_stats(s)->routines_ever <= LIMIT);
	assert_true(tux_sched_stats(s)->routines_most <= LIMIT);
	tux_sched_free(s);
}

static void free__with_work_half_done(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a, b, c;

	(void)state;
	open_job(&a, s, 'a', say_twice);
	open_job(&b, s, 'b', say_after_wake);
	open_job(&c, s, 'c', say_after_sleep);
	c.sleeps = TUX_SEC(100);
	tux_sched_put(s, &a.task);
	tux_sched_put(s, &b.task);
	tux_sched_put(s, &c.task);
	tux_sched_run(s);
	tux_sched_run(s);
	tux_sched_put(s, &a.task);
	tux_sched_free(s);
	tux_sched_free(NULL);
}

static void errno_is_kept(struct tux_task *t)
{
	errno = job_of(t)->name;
	tux_sched_yield();
	job_of(t)->ran = errno == job_of(t)->name;
}

static void yield__errno_is_its_own(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a, b;

	(void)state;
	open_job(&a, s, 'a', errno_is_kept);
	open_job(&b, s, 'b', errno_is_kept);
	tux_sched_put(s, &a.task);
	tux_sched_put(s, &b.task);
	errno = EPERM;
	run_all(s);
	assert_int_equal(errno, EPERM);
	assert_true(a.ran && b.ran);
	tux_sched_free(s);
}

/* Functions of their own: the compiler would look up only once where errno lies. */
static __attribute__((noinline)) int errno_now(void)
{
	return errno;
}

static __attribute__((noinline)) void errno_be(int err)
{
	errno = err;
}

static void errno_behind_a_block(struct tux_task *t)
{
	struct job *j = job_of(t);

	j->self = tux_sched_self();
	errno_be(EBADF);
	tux_sched_block();
	note(errno_now() == EBADF ? j->name : '!');
}

static void errno_is_clean(struct tux_task *t)
{
	note(errno_now() ? '!' : job_of(t)->name);
	errno_be(EBADF);
}

static void *run_what_can(void *s)
{
	while (tux_sched_run(s))
		;
	return NULL;
}

/* Two routines were made in a thread that has ended meanwhile: one was left there
 * in the middle of a task, the other behind one. */
static void run__errno_of_another_thread(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a, b, c, d;
	pthread_t t;

	(void)state;
	open_job(&a, s, 'a', errno_behind_a_block);
	open_job(&b, s, 'b', errno_is_clean);
	open_job(&c, s, 'c', errno_is_clean);
	open_job(&d, s, 'd', errno_is_clean);
	tux_sched_put(s, &a.task);
	tux_sched_put(s, &b.task);
	assert_int_equal(pthread_create(&t, NULL, run_what_can, s), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_string_equal(journal, "b");
	tux_sched_wake(a.self);
	tux_sched_put(s, &c.task);
	tux_sched_put(s, &d.task);
	errno = EPERM;
	run_all(s);
	assert_int_equal(errno, EPERM);
	assert_string_equal(journal, "bcda");
	assert_int_equal(tux_sched_stats(s)->routines_ever, 2);
	tux_sched_free(s);
}

/* ---- from thread to thread ---- */

static void hold__nothing_begins(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a, b;

	(void)state;
	open_job(&a, s, 'a', say_after_wake);
	open_job(&b, s, 'b', say_name);
	tux_sched_put(s, &a.task);
	assert_int_equal(tux_sched_run(s), 0);
	tux_sched_hold(s, true);
	tux_sched_put(s, &b.task);
	assert_int_equal(tux_sched_run(s), 0);
	assert_string_equal(journal, "a");
	/* What has begun goes on. */
	tux_sched_wake(a.self);
	assert_int_equal(tux_sched_run(s), 0);
	assert_string_equal(journal, "aa");
	assert_int_equal(tux_sched_stats(s)->routines, 0);
	tux_sched_hold(s, false);
	assert_int_equal(tux_sched_run(s), 0);
	assert_string_equal(journal, "aab");
	tux_sched_free(s);
}

/* A group does not go on either. */
static void hold_here(struct tux_task *t)
{
	tux_sched_hold(job_of(t)->s, true);
	note(job_of(t)->name);
}

static void hold__amidst_a_group(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a, b;

	(void)state;
	open_job(&a, s, 'a', hold_here);
	open_job(&b, s, 'b', say_name);
	tux_sched_put(s, &a.task);
	tux_sched_put(s, &b.task);
	assert_int_equal(tux_sched_run(s), 0);
	assert_string_equal(journal, "a");
	tux_sched_hold(s, false);
	run_all(s);
	assert_string_equal(journal, "ab");
	tux_sched_free(s);
}

static void *run_and_part(void *arg)
{
	struct tux_sched *s = arg;

	if (tux_sched_runs_here(s))
		note('!');
	run_all(s);
	if (!tux_sched_runs_here(s))
		note('?');
	tux_sched_part(s, NULL);
	if (tux_sched_is_near(s))
		note('!');
	return NULL;
}

static void part__is_no_threads_until_one_runs_it(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job a;
	pthread_t t;

	(void)state;
	open_job(&a, s, 'a', say_name);
	tux_sched_put(s, &a.task);
	run_all(s);
	assert_true(tux_sched_runs_here(s));
	tux_sched_part(s, NULL);
	assert_false(tux_sched_is_near(s));
	assert_false(tux_sched_runs_here(s));
	tux_sched_put(s, &a.task);
	assert_int_equal(pthread_create(&t, NULL, run_and_part, s), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_string_equal(journal, "aa");
	tux_sched_put(s, &a.task);
	run_all(s);
	assert_string_equal(journal, "aaa");
	assert_true(tux_sched_runs_here(s));
	tux_sched_free(s);
}

static void *alternate_stack(void)
{
	stack_t now;

	assert_int_equal(sigaltstack(NULL, &now), 0);
	return now.ss_flags & SS_DISABLE ? NULL : now.ss_sp;
}

/* The first scheduler has given the thread its alternate stack, and goes. */
static void part__the_thread_keeps_its_alternate_stack(void **state)
{
	struct tux_sched *s, *heir;
	void *before = alternate_stack(), *stack;

	(void)state;
	if (before)		/* it is none of ours */
		skip();
	s = open_sched(0);
	heir = open_sched(0);
	tux_sched_run(s);
	tux_sched_run(heir);
	stack = alternate_stack();
	assert_non_null(stack);
	tux_sched_part(s, heir);
	assert_ptr_equal(alternate_stack(), stack);
	tux_sched_part(heir, NULL);
	assert_null(alternate_stack());
	tux_sched_run(heir);
	assert_non_null(alternate_stack());
	tux_sched_free(s);
	tux_sched_free(heir);
	assert_null(alternate_stack());
}

static void leave_traces(struct tux_task *t)
{
	struct job *j = job_of(t);

	note(errno || uselocale((locale_t)0) != LC_GLOBAL_LOCALE ? '!' : j->name);
	errno = EBADF;
	uselocale(foreign);
}

enum { ROUND = 0x6000 };		/* in the modes: how SSE rounds */

static uint64_t found[2];

static void change_modes(struct tux_task *t)
{
	found[job_of(t)->name == 'b'] = tux_switch_modes();
	tux_switch_set_modes(tux_switch_modes() ^ ROUND);
}

/* As threads they begin with those of their maker, each of them. */
static void run__modes_of_arithmetic(void **state)
{
	uint64_t own = tux_switch_modes();
	struct tux_sched *s;
	struct job j[2];

	(void)state;
	if (!own)
		skip();
	tux_switch_set_modes(own ^ ROUND);
	s = open_sched(0);
	open_job(&j[0], s, 'a', change_modes);
	open_job(&j[1], s, 'b', change_modes);
	tux_sched_put(s, &j[0].task);
	tux_sched_put(s, &j[1].task);
	run_all(s);
	assert_true(found[0] == (own ^ ROUND) && found[1] == found[0]);
	assert_true(tux_switch_modes() == (own ^ ROUND));
	tux_switch_set_modes(own);
	tux_sched_free(s);
}

/* Also to those who run in the same routine right after. */
static void run__a_task_leaves_nothing_to_the_next(void **state)
{
	struct tux_sched *s = open_sched(0);
	struct job j[3];
	unsigned i;

	(void)state;
	if (!tux_switch_has_tls()) {
		tux_sched_free(s);
		skip();
	}
	foreign = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	for (i = 0; i < 3; i++) {
		open_job(&j[i], s, (char)('a' + i), leave_traces);
		tux_sched_put(s, &j[i].task);
	}
	run_all(s);
	assert_string_equal(journal, "abc");
	assert_int_equal(tux_sched_stats(s)->routines_ever, 1);
	tux_sched_free(s);
	freelocale(foreign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run__groups_share_a_routine),
		cmocka_unit_test(run__what_is_put_in_its_run_comes_last),
		cmocka_unit_test(run__a_group_ends_with_the_slice),
		cmocka_unit_test(brief__with_work_behind_a_short_slice),
		cmocka_unit_test(yield__to_the_back),
		cmocka_unit_test(yield__behind_what_came_meanwhile),
		cmocka_unit_test(sleep__in_the_order_of_waking),
		cmocka_unit_test(outside__nothing_happens),
		cmocka_unit_test(block__until_another_thread_wakes_it),
		cmocka_unit_test(block__not_if_it_was_woken_before),
		cmocka_unit_test(block__until_its_time_is_up),
		cmocka_unit_test(block__woken_before_its_time),
		cmocka_unit_test(storage__is_the_threads_own_without_preemption),
		cmocka_unit_test(strand__one_at_a_time_in_order),
		cmocka_unit_test(strand__sleeps_as_one),
		cmocka_unit_test(cancel__what_is_queued),
		cmocka_unit_test(cancel__in_its_own_run_frees_it),
		cmocka_unit_test(cancel__not_what_is_amidst_its_work),
		cmocka_unit_test(run__no_more_routines_than_allowed),
		cmocka_unit_test(free__with_work_half_done),
		cmocka_unit_test(yield__errno_is_its_own),
		cmocka_unit_test(run__errno_of_another_thread),
		cmocka_unit_test(hold__nothing_begins),
		cmocka_unit_test(hold__amidst_a_group),
		cmocka_unit_test(part__is_no_threads_until_one_runs_it),
		cmocka_unit_test(part__the_thread_keeps_its_alternate_stack),
		cmocka_unit_test(run__a_task_leaves_nothing_to_the_next),
		cmocka_unit_test(run__modes_of_arithmetic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
