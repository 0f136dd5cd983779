/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heirs - connections that several processes hold since a fork
 *
 * As long as there are several, a connection stays on TCP, whichever of them
 * uses it.  When one is left, it moves, if no other has used it.
 *
 *	heirs [counted]
 *
 * With "counted", tuxd's programs tell how many the kernel counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../filter.h"
#include "client.h"
#include "pair.h"

enum { TURNS = 60, MOVES = 20 };

static bool counted;		/* the kernel's count is known */

/* ---- bytes and children ----------------------------------------------- */

struct child {
	pid_t pid;
	int up, down;		/* pipes: what the child says, what it is told */
};

/* A child, or 0 in it: its ends are in @c then. */
static pid_t begin(struct child *c)
{
	int up[2], down[2];

	if (pipe2(up, O_CLOEXEC) || pipe2(down, O_CLOEXEC))
		client_fail("pipe: %s", strerror(errno));
	c->pid = fork();
	if (c->pid < 0)
		client_fail("fork: %s", strerror(errno));
	c->up = c->pid ? up[0] : up[1];
	c->down = c->pid ? down[1] : down[0];
	close(c->pid ? up[1] : up[0]);
	close(c->pid ? down[0] : down[1]);
	return c->pid;
}

static void wait_word(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		client_fail("no word from the other process");
}

static void word(int fd)
{
	if (write(fd, "", 1) != 1)
		client_fail("no word for the other process");
}

/* In a child: does nothing until it is told to go. */
static void idle(struct child *c)
{
	char byte;

	while (read(c->down, &byte, 1) == 1)
		;
	exit(0);
}

/* Has it go, and says how it ended. */
static int ended(struct child *c)
{
	int status = -1;

	close(c->down);
	waitpid(c->pid, &status, 0);
	close(c->up);
	return status;
}

/* ---- cases ------------------------------------------------------------ */

static void snapshot(struct pair *p)
{
	struct child c;

	if (!begin(&c))
		idle(&c);
	pair_talk(p, TURNS);
	CHECK(!pair_moved(p));
	CHECK(ended(&c) == 0);
	pair_move(p);
	pair_talk(p, TURNS);
}

static void duplicated(struct pair *p)
{
	int more = dup(p->a);

	snapshot(p);
	close(more);
	pair_talk(p, TURNS);
}

static void two_children(struct pair *p)
{
	struct child c, d;

	if (!begin(&c))
		idle(&c);
	if (!begin(&d)) {
		close(c.down);
		idle(&d);
	}
	CHECK(ended(&c) == 0);
	pair_talk(p, TURNS);
	CHECK(!pair_moved(p));
	CHECK(ended(&d) == 0);
	pair_move(p);
}

static void closed_in_child(struct pair *p)
{
	struct child c;

	if (!begin(&c)) {
		close(p->a);
		close(p->b);
		word(c.up);
		idle(&c);
	}
	wait_word(c.up);
	pair_move(p);
	CHECK(ended(&c) == 0);
}

/* No poll() ends before its time, though bytes change their path meanwhile. */
static void moving(struct pair *p)
{
	pair_talk(p, TURNS);
	for (int i = 0; i < MOVES; i++) {
		struct pair more;

		pair_fresh(&more);
		pair_talk(&more, TURNS);
		pair_close(&more);
	}
}

/* A process has gone, and did not count itself out. */
static void gone(struct pair *p)
{
	if (counted)
		pair_move(p);
	pair_talk(p, TURNS);
	CHECK(counted || !pair_moved(p));
}

static void killed(struct pair *p)
{
	struct child c;

	if (!begin(&c))
		idle(&c);
	kill(c.pid, SIGKILL);
	CHECK(WIFSIGNALED(ended(&c)));
	gone(p);
}

static void leaves(int sig)
{
	(void)sig;
	_exit(2);
}

/* It is in one call of the connection or another all the time. */
static void busy(struct pair *p, struct child *c)
{
	char byte;

	signal(SIGTERM, leaves);
	word(c->up);
	for (;;) {
		recv(p->a, &byte, 1, MSG_DONTWAIT);
		recv(p->b, &byte, 1, MSG_DONTWAIT);
	}
}

static void ended_by_handler(struct pair *p)
{
	struct child c;
	int status;

	if (!begin(&c))
		busy(p, &c);
	wait_word(c.up);
	poll(NULL, 0, 20);
	kill(c.pid, SIGTERM);
	status = ended(&c);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	pair_move(p);
}

static void both_use(struct pair *p)
{
	struct child c;

	if (!begin(&c)) {
		for (int i = 0; i < TURNS; i++) {
			wait_word(c.down);
			if (!pair_carries(p->a, p->b, 'c') ||
			    !pair_carries(p->b, p->a, 'd'))
				_exit(1);
			word(c.up);
		}
		idle(&c);
	}
	for (int i = 0; i < TURNS; i++) {
		word(c.down);
		wait_word(c.up);
		CHECK(pair_carries(p->a, p->b, 'p'));
		CHECK(pair_carries(p->b, p->a, 'q'));
	}
	CHECK(!pair_moved(p));
	CHECK(ended(&c) == 0);
	pair_talk(p, TURNS);
	pair_talk(p, TURNS);
	CHECK(!pair_moved(p));
}

/* As servers that fork for each connection do it. */
static void handed_over(struct pair *p)
{
	struct child c;

	if (!begin(&c)) {
		close(p->b);
		for (int i = 0; i < TURNS; i++) {
			struct pollfd f = { .fd = p->a, .events = POLLIN };
			char byte;

			if (poll(&f, 1, PAIR_PATIENCE_MS) != 1 ||
			    read(p->a, &byte, 1) != 1 ||
			    write(p->a, &byte, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(p->a);
	for (int i = 0; i < TURNS; i++) {
		CHECK(pair_carries(p->b, p->b, (char)i));
		poll(NULL, 0, 1);
	}
	CHECK(ended(&c) == 0);
	CHECK(pair_drain(p->b) == 0);
	p->a = -1;
}

/* ---- exec ------------------------------------------------------------- */

/* A child that is another program, which has nothing of ours but its pipes. */
static void begin_program(struct child *c)
{
	if (!begin(c)) {
		dup2(c->down, 0);
		dup2(c->up, 1);
		execl("/proc/self/exe", "heirs", "program", (char *)NULL);
		_exit(1);
	}
	wait_word(c->up);
}

/* The same, by calls that run no handlers of fork(). */
static void begin_quickly(struct child *c, bool spawn)
{
	char *argv[] = { (char *)(uintptr_t)"heirs",
			 (char *)(uintptr_t)"program", NULL };
	posix_spawn_file_actions_t actions;
	int up[2], down[2];

	if (pipe2(up, O_CLOEXEC) || pipe2(down, O_CLOEXEC))
		client_fail("pipe: %s", strerror(errno));
	if (spawn) {
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_adddup2(&actions, down[0], 0);
		posix_spawn_file_actions_adddup2(&actions, up[1], 1);
		CHECK(posix_spawn(&c->pid, "/proc/self/exe", &actions, NULL,
				  argv, environ) == 0);
		posix_spawn_file_actions_destroy(&actions);
	} else if (!(c->pid = vfork())) {
		dup2(down[0], 0);
		dup2(up[1], 1);
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	close(up[1]);
	close(down[0]);
	c->up = up[0];
	c->down = down[1];
	wait_word(c->up);
}

static void keep_from_programs(struct pair *p)
{
	fcntl(p->a, F_SETFD, FD_CLOEXEC);
	fcntl(p->b, F_SETFD, FD_CLOEXEC);
}

static void closed_by_exec(struct pair *p)
{
	struct child c;

	keep_from_programs(p);
	begin_program(&c);
	pair_move(p);
	CHECK(ended(&c) == 0);
}

static void shared_with_program(struct pair *p)
{
	struct child c;

	begin_program(&c);
	pair_talk(p, TURNS);
	CHECK(!pair_moved(p));
	CHECK(ended(&c) == 0);
}

static void kept_by_exec(struct pair *p)
{
	shared_with_program(p);
	gone(p);
}

static void quickly(struct pair *p, bool spawn)
{
	struct child c;

	begin_quickly(&c, spawn);
	pair_talk(p, TURNS);
	CHECK(!pair_moved(p));
	CHECK(ended(&c) == 0);
	gone(p);
}

static void kept_by_vfork(struct pair *p)
{
	quickly(p, false);
}

static void kept_by_posix_spawn(struct pair *p)
{
	quickly(p, true);
}

/* One of two descriptors stays. */
static void partly_kept_by_exec(struct pair *p)
{
	int a = dup(p->a), b = dup(p->b);

	keep_from_programs(p);
	shared_with_program(p);
	close(a);
	close(b);
	gone(p);
}

static void failed_exec(struct pair *p)
{
	struct child c;

	keep_from_programs(p);
	if (!begin(&c)) {
		if (execl("/", "heirs", (char *)NULL) != -1 || errno != EACCES)
			_exit(1);
		word(c.up);
		idle(&c);
	}
	wait_word(c.up);
	pair_talk(p, TURNS);
	CHECK(!pair_moved(p));
	CHECK(ended(&c) == 0);
	pair_move(p);
}

static void used_after_failed_exec(struct pair *p)
{
	struct child c;

	keep_from_programs(p);
	if (!begin(&c)) {
		execl("/", "heirs", (char *)NULL);
		if (!pair_carries(p->a, p->b, 'x'))
			_exit(1);
		word(c.up);
		idle(&c);
	}
	wait_word(c.up);
	pair_talk(p, TURNS);
	CHECK(ended(&c) == 0);
	pair_talk(p, TURNS);
	CHECK(!pair_moved(p));
}

/* ---- a fork that fails ------------------------------------------------ */

static void failed_fork(struct pair *p)
{
	CHECK(fork() == -1 && errno == EAGAIN);
	CHECK(fork() == -1 && errno == EAGAIN);
	pair_move(p);
}

static void report(const char *name, void (*fn)(struct pair *p))
{
	struct pair p;

	pair_fresh(&p);
	pair_report(name, fn, &p);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "program")) {
		struct child c = { .up = 1, .down = 0 };

		word(c.up);
		idle(&c);
	}
	counted = argc > 1 && !strcmp(argv[1], "counted");
	signal(SIGPIPE, SIG_IGN);
	report("a child that ends leaves it to its parent", snapshot);
	report("... with two descriptors", duplicated);
	report("... and its brother", two_children);
	report("... and one that closes it", closed_in_child);
	report("... and one that ends in a handler", ended_by_handler);
	report(counted ? "... and one that is killed" :
			 "a child that is killed does not", killed);
	report("one that is used while it moves", moving);
	report("both may use it", both_use);
	report("a child may serve it alone", handed_over);
	report("a program that does not get it leaves it", closed_by_exec);
	report(counted ? "... and one that gets it, when it has ended" :
			 "... and one that gets it does not", kept_by_exec);
	report("... be it by one of two descriptors", partly_kept_by_exec);
	report("... by vfork()", kept_by_vfork);
	report("... by posix_spawn()", kept_by_posix_spawn);
	report("an exec that fails changes nothing", failed_exec);
	report("... if it is used then", used_after_failed_exec);
	/* clone() of a process fails; threads are made as before. */
	if (filter_refuse(SYS_clone, CLONE_VM, 0, EAGAIN, 0))
		report("a fork that fails changes nothing", failed_fork);
	else
		pair_skip("a fork that fails", "no seccomp");
	return pair_done();
}
