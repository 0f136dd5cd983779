/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that close whatever there is, as daemons do: their connections, if
 * spared, go on, and new ones can be made.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum { MOST = 30000 };

static bool exchanges(struct pair *p)
{
	for (int i = 0; i < 20; i++) {
		pair_poke(p->a);
		if (!pair_expect(p->b, 1))
			return false;
		pair_poke(p->b);
		if (!pair_expect(p->a, 1))
			return false;
	}
	return true;
}

/* Closes all but the pair and the standard ones; then both must work. */
static void goes_on(void (*closing)(const struct pair *p))
{
	struct pair p, q;

	pair_open(&p, true);
	closing(&p);
	CHECK(exchanges(&p));
	pair_open(&q, true);
	CHECK(exchanges(&q));
	pair_close(&q);
	pair_close(&p);
}

static void each(const struct pair *p)
{
	struct rlimit l;

	getrlimit(RLIMIT_NOFILE, &l);
	for (int fd = 3; fd < (int)l.rlim_cur && fd < MOST; fd++)
		if (fd != p->a && fd != p->b)
			CHECK(close(fd) == 0 || errno == EBADF);
}

static void in_ranges(const struct pair *p)
{
	unsigned x = (unsigned)(p->a < p->b ? p->a : p->b);
	unsigned y = (unsigned)(p->a < p->b ? p->b : p->a);

	if (x > 3)
		CHECK(close_range(3, x - 1, 0) == 0);
	if (y > x + 1)
		CHECK(close_range(x + 1, y - 1, 0) == 0);
	CHECK(close_range(y + 1, ~0u, 0) == 0);
}

static void from_there_on(const struct pair *p)
{
	closefrom((p->a < p->b ? p->b : p->a) + 1);
}

static void by_loop(void)
{
	goes_on(each);
}

static void by_range(void)
{
	goes_on(in_ranges);
}

static void by_closefrom(void)
{
	goes_on(from_there_on);
}

/* What is closed by number is closed. */
static void really(void)
{
	int low = dup(1), high = fcntl(1, F_DUPFD, 100);

	CHECK(close_range((unsigned)high, ~0u, 0) == 0);
	CHECK(fcntl(low, F_GETFD) >= 0);
	CHECK(fcntl(high, F_GETFD) == -1);
	closefrom(low);
	CHECK(fcntl(low, F_GETFD) == -1);
}

/* A daemon's child closes all that it was left, and its parent's go on. */
static void in_a_child(void)
{
	struct pair p;
	int status = -1;
	pid_t pid;

	pair_open(&p, true);
	pid = fork();
	if (!pid) {
		closefrom(3);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(exchanges(&p));
	pair_close(&p);
}

int main(void)
{
	pair_once("each number is closed", by_loop);
	pair_once("close_range", by_range);
	pair_once("closefrom", by_closefrom);
	pair_once("what is the program's is closed", really);
	pair_once("closefrom and exec in a child", in_a_child);
	return pair_done();
}
