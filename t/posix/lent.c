/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lent - connections whose descriptors travel in messages (SCM_RIGHTS)
 *
 * As long as a message or another process may have one, it stays on TCP.  When
 * one descriptor is left, it moves, if no other process has used it.  That needs
 * tuxd's programs.
 *
 *	lent [half]
 *
 * With "half", it is half-closed by the process that has sent it, and stays.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "pair.h"

enum { TURNS = 500, BYTES = 5000, UNREAD = 10 };

/* ---- bytes ------------------------------------------------------------ */

static void stays(struct pair *p)
{
	pair_talk(p, TURNS);
	CHECK(!pair_preloaded() || !pair_moved(p));
}

/* ---- messages --------------------------------------------------------- */

struct wire {			/* a Unix socket and its other end */
	int in, out;
};

static struct wire wire_open(void)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		client_fail("socketpair: %s", strerror(errno));
	return (struct wire){ fd[0], fd[1] };
}

static void wire_close(struct wire *w)
{
	close(w->in);
	close(w->out);
}

union space {
	struct cmsghdr c;
	char bytes[CMSG_SPACE(2 * sizeof(int))];
};

static ssize_t lend(struct wire *w, const int *fd, size_t n)
{
	char byte = 'm';
	struct iovec iov = { &byte, 1 };
	union space space = { .c = { CMSG_LEN(n * sizeof(int)), SOL_SOCKET,
				     SCM_RIGHTS } };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &space,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)) };

	memcpy(CMSG_DATA(&space.c), fd, n * sizeof(int));
	return sendmsg(w->in, &m, 0);
}

static void lend_one(struct wire *w, int fd)
{
	CHECK(lend(w, &fd, 1) == 1);
}

/* The first descriptor of a message; room for no other. */
static int taken_with(struct wire *w, int flags)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	union space space;
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &space, .msg_controllen = CMSG_LEN(sizeof(int)) };
	int fd;

	if (recvmsg(w->out, &m, flags) != 1 || !CMSG_FIRSTHDR(&m))
		client_fail("no descriptor came: %s", strerror(errno));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static int taken(struct wire *w)
{
	return taken_with(w, 0);
}

/* ---- in one process --------------------------------------------------- */

static void never_received(struct pair *p)
{
	struct wire w = wire_open();

	lend_one(&w, p->a);
	stays(p);
	wire_close(&w);
	pair_move(p);
}

static void to_itself(struct pair *p)
{
	struct wire w = wire_open();
	int old = p->a;

	lend_one(&w, old);
	p->a = taken(&w);
	stays(p);
	close(old);
	pair_move(p);
	wire_close(&w);
}

/* Its sender has read some bytes meanwhile, and others are in the kernel's
 * socket. */
static void after_bytes(struct pair *p)
{
	static char bytes[BYTES];
	struct wire w = wire_open();

	lend_one(&w, p->a);
	CHECK(write(p->b, bytes, BYTES) == BYTES);
	CHECK(pair_expect(p->a, BYTES - UNREAD));
	close(p->a);
	p->a = taken(&w);
	CHECK(pair_expect(p->a, UNREAD));
	pair_move(p);
	wire_close(&w);
}

static void peeked(struct pair *p)
{
	struct wire w = wire_open();
	int first, second;

	lend_one(&w, p->a);
	first = taken_with(&w, MSG_PEEK);
	close(p->a);
	p->a = first;
	stays(p);
	second = taken(&w);
	stays(p);
	close(second);
	pair_move(p);
	wire_close(&w);
}

static void truncated(struct pair *p)
{
	struct wire w = wire_open();
	int fd[2] = { w.in, p->a };

	CHECK(lend(&w, fd, 2) == 1);
	stays(p);
	close(taken(&w));
	pair_move(p);
	wire_close(&w);
}

static void duplicated(struct pair *p)
{
	struct wire w = wire_open();
	int more;

	lend_one(&w, p->a);
	close(p->a);
	p->a = taken(&w);
	more = dup(p->a);
	stays(p);
	close(more);
	pair_move(p);
	wire_close(&w);
}

/* Only the process that has called connect() could move it. */
static void active_end(struct pair *p)
{
	struct wire w = wire_open();

	lend_one(&w, p->b);
	close(p->b);
	p->b = taken(&w);
	stays(p);
	wire_close(&w);
}

static void half_closed(struct pair *p)
{
	struct wire w = wire_open();
	char byte;

	lend_one(&w, p->a);
	CHECK(shutdown(p->a, SHUT_WR) == 0);
	close(p->a);
	p->a = taken(&w);
	for (int i = 0; i < TURNS; i++)
		CHECK(pair_carries(p->b, p->a, (char)i));
	CHECK(read(p->b, &byte, 1) == 0);
	wire_close(&w);
}

/* ---- in two ----------------------------------------------------------- */

struct child {
	pid_t pid;
	struct wire to;
	int said;		/* a pipe: it has the descriptor */
};

/* A child that takes a descriptor, writes @n bytes to it and reads as many, and
 * waits to be killed. */
static void begin(struct child *c, struct pair *p, int n)
{
	int said[2];
	char byte;

	c->to = wire_open();
	if (pipe(said))
		client_fail("pipe: %s", strerror(errno));
	c->said = said[0];
	c->pid = fork();
	if (!c->pid) {
		int fd;

		close(p->a);
		close(p->b);
		close(c->to.in);
		fd = taken(&c->to);
		for (; n; n--)
			if (!pair_carries(fd, fd, (char)n))
				_exit(1);
		if (write(said[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(said[1]);
	close(c->to.out);
	lend_one(&c->to, p->a);
	for (; n; n--)
		CHECK(pair_expect(p->b, 1) && write(p->b, &(char){ (char)n },
						    1) == 1);
	if (read(c->said, &byte, 1) != 1)
		client_fail("no word from the other process");
}

static void ended(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->to.in);
	close(c->said);
}

static void killed(struct pair *p)
{
	struct child c;

	begin(&c, p, 0);
	stays(p);
	ended(&c);
	pair_move(p);
}

static void used(struct pair *p)
{
	struct child c;

	begin(&c, p, 5);
	ended(&c);
	stays(p);
	stays(p);
}

/* ---- on Tux ----------------------------------------------------------- */

static void moved(struct pair *p)
{
	struct wire w = wire_open();

	pair_move(p);
	lend_one(&w, p->a);
	close(p->a);
	p->a = taken(&w);
	stays(p);
	wire_close(&w);
}

/* They are in the memory of this process, where a receiver cannot find them: the
 * peer sends them again. */
static void unread(struct pair *p)
{
	struct wire w = wire_open();
	char byte;

	pair_move(p);
	CHECK(write(p->b, "ab", 2) == 2 && pair_arrive(p->a, 2));
	CHECK(read(p->a, &byte, 1) == 1 && byte == 'a');
	lend_one(&w, p->a);
	close(p->a);
	p->a = taken(&w);
	CHECK(pair_arrive(p->a, 1));
	CHECK(read(p->a, &byte, 1) == 1 && byte == 'b');
	stays(p);
	wire_close(&w);
}

static void report(const char *name, void (*fn)(struct pair *p))
{
	struct pair p;

	pair_fresh(&p);
	pair_report(name, fn, &p);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc > 1 && !strcmp(argv[1], "half")) {
		report("a half-closed connection", half_closed);
		return pair_done();
	}
	report("a message that is not received", never_received);
	report("... that is, by its sender", to_itself);
	report("... after bytes that the sender has read", after_bytes);
	report("... that is looked at first", peeked);
	report("... without room for the descriptor", truncated);
	report("two descriptors of what has come", duplicated);
	report("an active end stays on TCP", active_end);
	report("a process that has it and is killed", killed);
	report("... and has used it", used);
	report("a connection on Tux goes back to TCP", moved);
	report("... with the bytes that were not read", unread);
	return pair_done();
}
