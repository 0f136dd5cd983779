/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * returned - what a program may do with a connection that was on Tux and is on
 * TCP again, so that its calls are the kernel's and its end is asleep
 *
 * "moves again" needs processors that never count as busy: see path.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "pair.h"

enum { TURNS = 300, MANY = 10000 };

/* ---- bytes ---- */

static void put(int fd, size_t n)
{
	static const char zeros[MANY];

	CHECK(n <= sizeof(zeros) && send(fd, zeros, n, 0) == (ssize_t)n);
}

static bool talks(int a, int b)
{
	for (int i = 0; i < TURNS; i++) {
		pair_poke(a);
		if (!pair_expect(b, 1))
			return false;
		pair_poke(b);
		if (!pair_expect(a, 1))
			return false;
	}
	return true;
}

/* The end of the stream, or @err. */
static bool ends(int fd, int err)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c;

	while (poll(&p, 1, PAIR_PATIENCE_MS) < 0 && errno == EINTR)
		;
	return err ? read(fd, &c, 1) == -1 && errno == err :
		     read(fd, &c, 1) == 0;
}

/* ---- cases ---- */

static void goes_on(struct pair *p)
{
	CHECK(talks(p->a, p->b));
	CHECK(talks(p->b, p->a));
}

static void moves_again(struct pair *p)
{
	pair_move(p);
	pair_return(p);
	pair_move(p);
	CHECK(talks(p->a, p->b));
}

static void copied(struct pair *p)
{
	int fd = dup(p->a);

	close(p->a);
	p->a = fd;
	CHECK(talks(p->a, p->b));
}

static void wants_tcp(struct pair *p)
{
	int on = 1;

	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)));
	CHECK(talks(p->a, p->b));
}

static void shut_for_writing(struct pair *p)
{
	put(p->a, MANY);
	CHECK(!shutdown(p->a, SHUT_WR));
	CHECK(pair_expect(p->b, MANY) && ends(p->b, 0));
	put(p->b, MANY);
	CHECK(pair_expect(p->a, MANY));
}

static void shut_for_reading(struct pair *p)
{
	CHECK(!shutdown(p->a, SHUT_RD));
	CHECK(ends(p->a, 0));
	put(p->a, MANY);
	CHECK(pair_expect(p->b, MANY));
}

static void closed(struct pair *p)
{
	put(p->a, MANY);
	close(p->a);
	CHECK(pair_expect(p->b, MANY) && ends(p->b, 0));
	p->a = -1;
}

static void reset(struct pair *p)
{
	struct linger l = { .l_onoff = 1 };

	CHECK(!setsockopt(p->a, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	close(p->a);
	CHECK(ends(p->b, ECONNRESET));
	p->a = -1;
}

/* ---- epoll ---- */

/* A closed descriptor is in no instance any more. */
static void closed_while_watched(struct pair *p)
{
	int ep = pair_epoll();
	uint32_t seen = 0;

	CHECK(pair_add(ep, p->a, EPOLLIN) == 0);
	close(p->b);
	CHECK(pair_until(ep, p->a, EPOLLIN) & EPOLLIN);
	CHECK(ends(p->a, 0));
	close(p->a);
	for (int i = 0; i < 100; i++)
		seen |= pair_seen(ep, p->a, 0);
	CHECK(!seen);
	close(ep);
	p->a = p->b = -1;
}

/* One shot that a ring has told is armed again on TCP. */
static void armed_again(void)
{
	int ep = pair_epoll();
	struct pair p;

	pair_open(&p, true);
	CHECK(pair_add(ep, p.a, EPOLLIN | EPOLLONESHOT) == 0);
	pair_poke(p.b);
	CHECK(pair_until(ep, p.a, EPOLLIN) == EPOLLIN);
	CHECK(pair_expect(p.a, 1));
	pair_return(&p);
	CHECK(pair_mod(ep, p.a, EPOLLIN | EPOLLONESHOT) == 0);
	pair_poke(p.b);
	CHECK(pair_until(ep, p.a, EPOLLIN) == EPOLLIN);
	CHECK(pair_seen(ep, p.a, 20) == 0);
	CHECK(pair_expect(p.a, 1));
	CHECK(pair_del(ep, p.a) == 0);
	close(ep);
	pair_close(&p);
}

/* ---- other processes ---- */

/* Runs @fn in a child. */
static pid_t child(void (*fn)(const struct pair *p), const struct pair *p)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	fn(p);
	_exit(0);
}

static bool ended_well(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static void answer(const struct pair *p)
{
	close(p->b);
	if (!pair_expect(p->a, MANY))
		_exit(1);
	put(p->a, MANY);
}

static void used_by_a_child(struct pair *p)
{
	pid_t pid = child(answer, p);

	put(p->b, MANY);
	CHECK(pair_expect(p->b, MANY));
	CHECK(ended_well(pid));
	CHECK(talks(p->a, p->b));
}

static void left_to_a_child(struct pair *p)
{
	pid_t pid = child(answer, p);

	close(p->a);
	p->a = -1;
	put(p->b, MANY);
	CHECK(pair_expect(p->b, MANY));
	CHECK(ended_well(pid));
	CHECK(ends(p->b, 0));
}

static void idle(const struct pair *p)
{
	(void)p;
	for (;;)
		pause();
}

static void used_beside_a_child(struct pair *p)
{
	pid_t pid = child(idle, p);

	CHECK(talks(p->a, p->b));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(talks(p->b, p->a));
}

static void echo(const struct pair *p)
{
	close(p->b);
	fcntl(p->a, F_SETFL, 0);
	dup2(p->a, 0);
	dup2(p->a, 1);
	close(p->a);
	execl("/bin/cat", "cat", (char *)NULL);
	_exit(1);
}

static void given_to_a_program(struct pair *p)
{
	pid_t pid = child(echo, p);

	close(p->a);
	p->a = -1;
	put(p->b, MANY);
	CHECK(pair_expect(p->b, MANY));
	CHECK(!shutdown(p->b, SHUT_WR));
	CHECK(ends(p->b, 0));
	CHECK(ended_well(pid));
}

/* ---- messages ---- */

static struct msghdr *message(struct msghdr *m, char *control, size_t len)
{
	static char c;
	static struct iovec v = { &c, 1 };

	*m = (struct msghdr){ .msg_iov = &v, .msg_iovlen = 1,
			      .msg_control = control, .msg_controllen = len };
	return m;
}

static void sent_in_a_message(struct pair *p)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct msghdr m;
	struct cmsghdr *h;
	int s[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	h = CMSG_FIRSTHDR(message(&m, control, sizeof(control)));
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &p->a, sizeof(int));
	CHECK(sendmsg(s[0], &m, 0) == 1);
	close(p->a);
	message(&m, control, sizeof(control));
	CHECK(recvmsg(s[1], &m, 0) == 1);
	memcpy(&p->a, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	CHECK(talks(p->a, p->b));
	close(s[0]);
	close(s[1]);
}

/* ---- all ---- */

static void run(const char *name, void (*fn)(struct pair *p))
{
	for (int turned = 0; turned <= 1; turned++) {
		struct pair p;

		pair_fresh(&p);
		pair_move(&p);
		pair_return(&p);
		if (turned)
			p = (struct pair){ p.b, p.a };
		pair_report(name, fn, &p);
	}
}

int main(void)
{
	run("goes on", goes_on);
	if (access("/proc/thread-self", F_OK))
		run("moves again", moves_again);
	run("copied", copied);
	run("wants TCP", wants_tcp);
	run("shut for writing", shut_for_writing);
	run("shut for reading", shut_for_reading);
	run("closed", closed);
	run("reset", reset);
	run("closed while watched", closed_while_watched);
	pair_once("one shot", armed_again);
	run("used by a child", used_by_a_child);
	run("left to a child", left_to_a_child);
	run("used beside a child", used_beside_a_child);
	run("given to a program", given_to_a_program);
	run("sent in a message", sent_in_a_message);
	return pair_done();
}
