/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a connection, and the path of each direction: each transition of
 * the tables, and that a debug build ends at every other.  The source is
 * compiled in, so that this is tested in any build.
 */
#ifndef TUX_DEBUG
#define TUX_DEBUG
#endif
#undef NDEBUG
#include "../../../lib/conn/state.c"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

struct machine {
	const uint8_t *next;		/* the table */
	unsigned n;			/* its states */
	const char *legal;		/* pairs of digits, from and to */
	void (*go)(struct tux_conn *c, unsigned from, unsigned to);
	enum tux_trace_what trace;
	uint32_t dirty;
};

static void go_life(struct tux_conn *c, unsigned from, unsigned to)
{
	c->life = (enum tux_life)from;
	tux_conn_set_life(c, (enum tux_life)to);
	assert_int_equal(c->life, to);
}

static void go_tx(struct tux_conn *c, unsigned from, unsigned to)
{
	c->tx.path = (enum tux_path)from;
	tux_conn_set_tx(c, (enum tux_path)to);
	assert_int_equal(c->tx.path, to);
}

static void go_rx(struct tux_conn *c, unsigned from, unsigned to)
{
	c->rx.path = (enum tux_path)from;
	tux_conn_set_rx(c, (enum tux_path)to);
	assert_int_equal(c->rx.path, to);
}

/* OPENING 0, OWNING 1, REFUSED 2, PROVED 3, DEAD 4, GONE 5. */
static const struct machine life = {
	tux_life_next, TUX_LIFE_N, "01 05 12 13 15 25 34 35 45",
	go_life, TUX_TRACE_LIFE, TUX_DIRTY_LIFE,
};

/* PLAIN 0, TUX 1, FRAMES 2, RAW 3. */
static const struct machine tx = {
	tux_tx_next, TUX_PATH_N, "01 12 20 21 23",
	go_tx, TUX_TRACE_TX_PATH, TUX_DIRTY_PATH,
};

static const struct machine rx = {
	tux_rx_next, TUX_PATH_N, "01 10 12 13 20 21 23",
	go_rx, TUX_TRACE_RX_PATH, TUX_DIRTY_PATH,
};

static bool is_legal(const struct machine *m, unsigned from, unsigned to)
{
	const char pair[] = { (char)('0' + from), (char)('0' + to), 0 };

	return strstr(m->legal, pair);
}

static struct tux_trace told;
static unsigned told_n;

static void on_trace(void *arg, void *user, const struct tux_trace *t)
{
	(void)arg;
	(void)user;
	told = *t;
	told_n++;
}

static struct tux_conn *conn(void)
{
	static struct tux_core core;
	static struct tux_conn c;

	core.trace = on_trace;
	c = (struct tux_conn){ .core = &core };
	told_n = 0;
	return &c;
}

/* It is made, marked and told. */
static void makes(const struct machine *m, unsigned from, unsigned to)
{
	struct tux_conn *c = conn();

	m->go(c, from, to);
	assert_int_equal(c->dirty, m->dirty);
	assert_int_equal(told_n, 1);
	assert_int_equal(told.what, m->trace);
	assert_true(told.n[0] == from && told.n[1] == to);
}

/* It ends the process, with a word why. */
static void aborts(const struct machine *m, unsigned from, unsigned to)
{
	char text[1000] = "";
	int fd[2], status;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fd[1], 2);
		prctl(PR_SET_DUMPABLE, 0);
		signal(SIGABRT, SIG_DFL);
		m->go(conn(), from, to);
		_exit(0);
	}
	close(fd[1]);
	assert_true(read(fd[0], text, sizeof(text) - 1) >= 0);
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, "the table has no such transition"));
}

static void each(const struct machine *m)
{
	unsigned from, to;

	for (from = 0; from < m->n; from++) {
		for (to = 0; to < m->n; to++) {
			bool legal = is_legal(m, from, to);

			assert_int_equal(m->next[from] >> to & 1, legal);
			if (legal)
				makes(m, from, to);
			else
				aborts(m, from, to);
		}
		assert_int_equal(m->next[from] >> m->n, 0);
	}
}

static void set_life__each_of_the_table(void **state)
{
	(void)state;
	each(&life);
}

static void set_tx__each_of_the_table(void **state)
{
	(void)state;
	each(&tx);
}

static void set_rx__each_of_the_table(void **state)
{
	(void)state;
	each(&rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_life__each_of_the_table),
		cmocka_unit_test(set_tx__each_of_the_table),
		cmocka_unit_test(set_rx__each_of_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
