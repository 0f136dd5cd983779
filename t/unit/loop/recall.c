/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a child asks for, and what the loop answers.  No end here has a
 * connection in the core: its directions are where the duplex says.
 */
#include "loop/recall.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop/loop.h"
#include "sys/take.h"
#include "../test.h"

enum { RING = 4096, AGAIN = 2 };	/* bit of `pinned`: for a while */

static struct tux_ends ends;
static struct tux_recall *table;
static struct tux_loop loops[2];
static unsigned told;			/* calls of recalled() */
static void *told_of;

static void on_recalled(void *user, bool asleep)
{
	assert_int_equal(asleep, tux_duplex_sleeps(((struct tux_end *)user)->dx));
	told++;
	told_of = user;
}

static bool may_sleep;
static struct tux_carried carried;	/* what sleeps() was told */

static bool on_sleeps(void *user, const struct tux_carried *c)
{
	struct tux_end *e = user;

	assert_true(tux_duplex_sleeps(e->dx));
	assert_false(tux_latch_try(&e->dx->tx.latch));
	assert_false(tux_latch_try(&e->dx->rx.latch));
	carried = *c;
	return may_sleep;
}

/* A connection over loopback: @fd[0] has sent 3 bytes and @fd[1] has read 2. */
static void connection(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0);
	char buf[2];

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(l, (void *)&a, len), 0);
	assert_int_equal(listen(l, 1), 0);
	assert_int_equal(getsockname(l, (void *)&a, &len), 0);
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd[0], (void *)&a, len), 0);
	fd[1] = accept(l, NULL, NULL);
	assert_true(fd[1] >= 0);
	close(l);
	assert_int_equal(write(fd[0], "abc", 3), 3);
	assert_int_equal(recv(fd[1], buf, 2, MSG_WAITALL), 2);
}

static struct tux_end *end_of(struct tux_loop *l)
{
	struct tux_end *e = tux_ends_get(&ends);

	assert_non_null(e);
	e->dx = calloc(1, tux_duplex_size(RING));
	tux_duplex_init(e->dx, RING);
	e->user = e;
	atomic_store(&e->loop, l);
	return e;
}

static void end_free(struct tux_end *e)
{
	free(e->dx);
	tux_ends_put(&ends, e);
}

static int setup(void **state)
{
	(void)state;
	assert_int_equal(tux_ends_init(&ends), 0);
	assert_int_equal(tux_recall_map(&table), 0);
	for (unsigned i = 0; i < 2; i++) {
		loops[i] = (struct tux_loop){ .now = TUX_SEC(1) };
		loops[i].o.ends = &ends;
		loops[i].o.recall = table;
		loops[i].o.number = i;
		loops[i].o.recalled = on_recalled;
	}
	told = 0;
	told_of = NULL;
	may_sleep = true;
	carried = (struct tux_carried){ 0, 0 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tux_recall_unmap(table);
	tux_ends_fini(&ends);
	return 0;
}

/* One turn of @l; how many ends it took up. */
static unsigned turn(struct tux_loop *l)
{
	unsigned n = tux_loop_recalls(l);

	tux_loop_recalled(l);
	return n;
}

/* A turn at the time of the next look. */
static void later(struct tux_loop *l)
{
	if (l->now < l->recalled_at)
		l->now = l->recalled_at;
	turn(l);
}

static void ask__is_answered_once(void **state)
{
	struct tux_end *e = end_of(&loops[0]);

	(void)state;
	assert_int_equal(turn(&loops[0]), 0);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_OPEN);
	tux_recall_ask(table, e);
	assert_int_equal(turn(&loops[0]), 1);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	assert_int_equal(told, 1);
	assert_ptr_equal(told_of, e);
	assert_int_equal(e->dx->tx.pinned, 1);
	assert_int_equal(e->dx->rx.pinned, 1);
	assert_int_equal(turn(&loops[0]), 0);
	assert_int_equal(told, 1);
	end_free(e);
}

/* With what the kernel has counted, it can move once more; then later processes ask
 * again, and one of before finds no answer. */
static void ask__for_a_while(void **state)
{
	struct tux_end *e = end_of(&loops[0]), was;
	int fd[2];

	(void)state;
	connection(fd);
	e->fd = fd[0];
	e->active = true;
	loops[0].o.sleeps = on_sleeps;
	tux_recall_ask(table, e);
	assert_int_equal(turn(&loops[0]), 1);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	assert_int_equal(told, 1);
	assert_true(tux_duplex_sleeps(e->dx));
	assert_int_equal(carried.sent, 3);
	assert_int_equal(carried.received, 0);
	memcpy(&was, e, sizeof(was));
	tux_recall_anew(e);
	assert_true(tux_duplex_wake(e->dx, NULL, NULL));
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_OPEN);
	assert_int_equal(tux_recall_look(table, &was), TUX_RECALL_OPEN);
	tux_recall_ask(table, &was);
	assert_int_equal(turn(&loops[0]), 0);
	tux_recall_ask(table, e);
	later(&loops[0]);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	assert_int_equal(tux_recall_look(table, &was), TUX_RECALL_REFUSED);
	close(fd[0]);
	close(fd[1]);
	end_free(e);
}

/* ... unless nobody knows when the process is done with it: it says so itself, or the
 * owner does. */
static void ask__by_one_that_is_not_counted(void **state)
{
	struct tux_end *e = end_of(&loops[0]), *f = end_of(&loops[0]);
	int fd[2];

	(void)state;
	connection(fd);
	e->fd = fd[0];
	f->fd = fd[1];
	loops[0].o.sleeps = on_sleeps;
	tux_recall_uncounted(e);
	tux_recall_ask(table, e);
	turn(&loops[0]);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	assert_false(e->dx->tx.pinned & AGAIN);
	may_sleep = false;
	tux_recall_ask(table, f);
	later(&loops[0]);
	assert_int_equal(tux_recall_look(table, f), TUX_RECALL_OPEN);
	assert_int_equal(f->dx->tx.pinned, 0);
	later(&loops[0]);
	assert_int_equal(tux_recall_look(table, f), TUX_RECALL_DONE);
	assert_false(f->dx->tx.pinned & AGAIN);
	assert_int_equal(told, 2);
	close(fd[0]);
	close(fd[1]);
	end_free(e);
	end_free(f);
}

/* It was shut down, which pins it as well. */
static void ask__of_one_that_is_shut(void **state)
{
	struct tux_end *e = end_of(&loops[0]);
	int fd[2];

	(void)state;
	connection(fd);
	e->fd = fd[0];
	loops[0].o.sleeps = on_sleeps;
	assert_false(tux_duplex_shut(e->dx));
	tux_recall_ask(table, e);
	turn(&loops[0]);
	later(&loops[0]);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	close(fd[0]);
	close(fd[1]);
	end_free(e);
}

/* The table is all that goes from one process to the other. */
static void ask__by_another_process(void **state)
{
	struct tux_end *e = end_of(&loops[0]);
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(table->owner.pid, getpid());
	pid = fork();
	if (!pid) {
		tux_recall_ask(table, e);
		while (tux_recall_look(table, e) == TUX_RECALL_OPEN)
			usleep(100);
		_exit(tux_recall_look(table, e));
	}
	while (!told) {
		turn(&loops[0]);
		usleep(100);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, TUX_RECALL_DONE << 8);
	end_free(e);
}

static void ask__of_the_loop_that_has_it(void **state)
{
	struct tux_end *e = end_of(&loops[0]), *f = end_of(&loops[1]);

	(void)state;
	tux_recall_ask(table, e);
	tux_recall_ask(table, f);
	assert_int_equal(turn(&loops[1]), 1);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_OPEN);
	assert_int_equal(tux_recall_look(table, f), TUX_RECALL_DONE);
	assert_int_equal(turn(&loops[0]), 1);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	end_free(e);
	end_free(f);
}

/* The parent has closed what the child asks for, and has another connection in
 * its place. */
static void ask__of_an_earlier_connection(void **state)
{
	struct tux_end *e = end_of(&loops[0]), was = *e;

	(void)state;
	tux_loop_recall_over(&loops[0], e);
	end_free(e);
	e = end_of(&loops[0]);
	assert_int_equal(e->index, was.index);
	tux_recall_ask(table, &was);
	assert_int_equal(turn(&loops[0]), 0);
	assert_int_equal(told, 0);
	assert_int_equal(e->dx->tx.pinned, 0);
	/* TCP alone had carried it. */
	assert_int_equal(tux_recall_look(table, &was), TUX_RECALL_DONE);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_OPEN);
	/* When the entry is about the other one, nothing is known of it. */
	tux_loop_recall_over(&loops[0], e);
	assert_int_equal(tux_recall_look(table, &was), TUX_RECALL_REFUSED);
	end_free(e);
}

/* ... and was on Tux until its end. */
static void over__refuses_what_had_moved(void **state)
{
	struct tux_end *e = end_of(&loops[0]);

	(void)state;
	atomic_store(&e->dx->tx.state, TUX_TX_SWITCHED);
	tux_loop_recall_over(&loops[0], e);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_REFUSED);
	end_free(e);
}

/* The parent has closed it, and its last bytes are on their way. */
static void ask__of_what_is_closing(void **state)
{
	struct tux_end *e = end_of(&loops[0]);

	(void)state;
	e->closed = true;
	tux_recall_ask(table, e);
	assert_int_equal(turn(&loops[0]), 1);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_REFUSED);
	assert_int_equal(e->dx->tx.pinned, 0);
	end_free(e);
}

/* A child of an earlier fork asks after one of a later fork. */
static void ask__the_latest_counts(void **state)
{
	struct tux_end *e = end_of(&loops[0]), was = *e;

	(void)state;
	end_free(e);
	e = end_of(&loops[0]);
	tux_recall_ask(table, e);
	tux_recall_ask(table, &was);
	turn(&loops[0]);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	end_free(e);
}

/* The loop must not sleep before it has looked. */
static void ask__is_seen_before_a_sleep(void **state)
{
	struct tux_end *e = end_of(&loops[1]);

	(void)state;
	assert_true(tux_loop_unasked(&loops[1]));
	tux_recall_ask(table, e);
	assert_false(tux_loop_unasked(&loops[1]));
	assert_true(tux_loop_unasked(&loops[0]));
	turn(&loops[1]);
	assert_true(tux_loop_unasked(&loops[1]));
	end_free(e);
}

/* A thread of the parent had asked for plain TCP, and the loops may be gone. */
static void plain__is_an_answer(void **state)
{
	struct tux_end *e = end_of(&loops[0]);

	(void)state;
	tux_recall_plain(e);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	end_free(e);
}

/* Time alone does not count, nor do turns before it: the machine may have stood
 * still. */
static void answer__not_refused_for_time(void **state)
{
	struct tux_end *e = end_of(&loops[0]);

	(void)state;
	atomic_store(&e->dx->rx.state, TUX_RX_SWITCHED);
	tux_recall_ask(table, e);
	turn(&loops[0]);
	loops[0].now += TUX_SEC(5);
	for (unsigned n = 0; n < 9999; n++)
		turn(&loops[0]);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_OPEN);
	atomic_store(&e->dx->rx.state, TUX_RX_PLAIN);
	later(&loops[0]);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	end_free(e);
}

/* A thread of the parent is in the middle of a call: it is not waited for. */
static void answer__when_no_thread_is_inside(void **state)
{
	struct tux_end *e = end_of(&loops[0]);

	(void)state;
	assert_true(tux_latch_try(&e->dx->rx.latch));
	tux_recall_ask(table, e);
	assert_int_equal(turn(&loops[0]), 1);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_OPEN);
	assert_int_equal(loops[0].recalled_n, 1);
	tux_latch_drop(&e->dx->rx.latch);
	loops[0].now = loops[0].recalled_at;
	turn(&loops[0]);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	assert_int_equal(loops[0].recalled_n, 0);
	end_free(e);
}

/* It stays on Tux: the child is told so after 5000 looks, a second at least. */
static void answer__refused_in_time(void **state)
{
	struct tux_end *e = end_of(&loops[0]);

	(void)state;
	atomic_store(&e->dx->rx.state, TUX_RX_SWITCHED);
	tux_recall_ask(table, e);
	for (unsigned n = 1; n < 5000; n++)
		later(&loops[0]);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_OPEN);
	later(&loops[0]);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_REFUSED);
	assert_int_equal(loops[0].recalled_n, 0);
	assert_int_equal(told, 0);
	/* Another question changes nothing, until it has become plain. */
	tux_recall_ask(table, e);
	assert_int_equal(turn(&loops[0]), 1);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_REFUSED);
	atomic_store(&e->dx->rx.state, TUX_RX_PLAIN);
	tux_recall_ask(table, e);
	assert_int_equal(turn(&loops[0]), 1);
	assert_int_equal(tux_recall_look(table, e), TUX_RECALL_DONE);
	assert_int_equal(told, 1);
	assert_int_equal(loops[0].recalled_n, 0);
	end_free(e);
}

static void over__forgets_what_was_taken_up(void **state)
{
	struct tux_end *e = end_of(&loops[0]);

	(void)state;
	atomic_store(&e->dx->rx.state, TUX_RX_SWITCHED);
	tux_recall_ask(table, e);
	turn(&loops[0]);
	assert_int_equal(loops[0].recalled_n, 1);
	tux_loop_recall_over(&loops[0], e);
	assert_int_equal(loops[0].recalled_n, 0);
	end_free(e);
}

/* The owner has ended without an answer; what becomes of @e in a child of it. */
static int orphaned(struct tux_end *e)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	table->owner.pid = pid;
	return tux_recall(e);
}

static void recall__of_an_owner_that_has_ended(void **state)
{
	const struct tux_key key = { 1, 2 };
	struct tux_end *e = end_of(&loops[0]), *f = end_of(&loops[0]);
	struct tux_end *g = end_of(&loops[0]);
	uint64_t at;

	(void)state;
	tux_recall_follow(table, e);
	tux_recall_follow(table, f);
	tux_recall_follow(table, g);
	assert_int_equal(orphaned(e), 0);
	assert_true(tux_duplex_announce(f->dx, 0, &key, true, &at));
	assert_int_equal(orphaned(f), -ESRCH);
	assert_true(tux_duplex_arm(g->dx, 1, 0, &key, true));
	assert_int_equal(orphaned(g), -ESRCH);
	assert_int_equal(orphaned(e), 0);
	end_free(e);
	end_free(f);
	end_free(g);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(ask__is_answered_once),
		CASE(ask__for_a_while),
		CASE(ask__by_one_that_is_not_counted),
		CASE(ask__of_one_that_is_shut),
		CASE(ask__by_another_process),
		CASE(ask__of_the_loop_that_has_it),
		CASE(ask__of_an_earlier_connection),
		CASE(ask__of_what_is_closing),
		CASE(ask__the_latest_counts),
		CASE(ask__is_seen_before_a_sleep),
		CASE(plain__is_an_answer),
		CASE(over__refuses_what_had_moved),
		CASE(answer__when_no_thread_is_inside),
		CASE(answer__refused_in_time),
		CASE(answer__not_refused_for_time),
		CASE(over__forgets_what_was_taken_up),
		CASE(recall__of_an_owner_that_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
