/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that may not make all system calls: since they were started, or
 * since they have said so themselves.
 *
 * Then all connections of the process are on TCP, and the hooks make no call
 * that the program does not make itself: one that the filter does not let
 * through kills the process.
 */
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../filter.h"
#include "client.h"
#include "pair.h"

enum {
	TURNS = 60,
	PLAIN = 8,		/* turns that are looked at, whether TCP has them */
};

/* ---- a filter --------------------------------------------------------- */

/* What the processes below do from then on, and no more. */
static const uint32_t lets[] = {
	SYS_read, SYS_write, SYS_sendto, SYS_recvfrom, SYS_poll, SYS_epoll_wait,
	SYS_epoll_ctl, SYS_epoll_create1, SYS_accept, SYS_close, SYS_dup2,
	SYS_futex, SYS_clock_gettime, SYS_rt_sigreturn, SYS_exit, SYS_exit_group,
};

enum { LETS = sizeof(lets) / sizeof(lets[0]) };

static struct sock_filter code[LETS + 3] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
static struct sock_fprog prog = { LETS + 3, code };

static void write_filter(void)
{
	for (int i = 0; i < LETS; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, lets[i],
			(uint8_t)(LETS - i), 0);
	code[1 + LETS] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[2 + LETS] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						      SECCOMP_RET_ALLOW);
}

/* 'p': by prctl(2); 's': by seccomp(2), in all threads. */
static bool restrict_calls(char how)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	if (how == 'p')
		return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
	return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			SECCOMP_FILTER_FLAG_TSYNC, &prog);
}

/* ---- the process that restricts itself --------------------------------- */

enum wait { READS, POLLS, EPOLLS, NESTS };

struct server {
	int listener, fd;
	enum wait waits;
	int ep, inner;		/* the instance that it waits for; and that
				 * which has its descriptors, maybe the same */
};

/* Waits until it can read. */
static void await(const struct server *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	struct epoll_event e;

	if (s->waits == POLLS)
		poll(&p, 1, -1);
	else if (s->waits >= EPOLLS)
		epoll_wait(s->ep, &e, 1, -1);
}

static void serve_next(struct server *s)
{
	struct pollfd p = { .fd = s->listener, .events = POLLIN };
	struct epoll_event e = { .events = EPOLLIN };

	if (s->fd >= 0)
		close(s->fd);
	poll(&p, 1, -1);
	s->fd = accept(s->listener, NULL, NULL);
	if (s->fd < 0)
		_exit(2);
	if (s->waits >= EPOLLS &&
	    epoll_ctl(s->inner, EPOLL_CTL_ADD, s->fd, &e))
		_exit(3);
}

static void make_instances(struct server *s)
{
	struct epoll_event e = { .events = EPOLLIN };

	s->ep = s->inner = epoll_create1(0);
	if (s->waits != NESTS)
		return;
	s->inner = epoll_create1(0);
	if (epoll_ctl(s->ep, EPOLL_CTL_ADD, s->inner, &e))
		_exit(7);
}

/* What has not been done before the filter was there. */
static bool begins_anew(const struct server *s)
{
	struct epoll_event e = { .events = EPOLLIN }, got;
	int ep = epoll_create1(0), to = dup2(s->fd, s->fd + 100);

	return ep >= 0 && to >= 0 &&
	       !epoll_ctl(ep, EPOLL_CTL_ADD, s->listener, &e) &&
	       !epoll_wait(ep, &got, 1, 0) && !close(to) && !close(ep);
}

static void handler(int sig)
{
	(void)sig;
}

/* Gives back each byte, after it has done what it asks for: 'p' and 's' as
 * above, 'n': the next connection, once this byte has been given back; 'b':
 * begins_anew(); 'q': the end. */
static void serve(struct server *s)
{
	struct sigaction a = {
		.sa_handler = handler,
		.sa_flags = SA_RESTART | (int)SA_RESETHAND,
	};
	char c = 0;

	sigaction(SIGUSR1, &a, NULL);
	make_instances(s);
	serve_next(s);
	while (c != 'q') {
		await(s);
		if (read(s->fd, &c, 1) != 1)
			_exit(4);
		if ((c == 'p' || c == 's') && !restrict_calls(c))
			_exit(5);
		if (c == 'b' && !begins_anew(s))
			_exit(8);
		if (write(s->fd, &c, 1) != 1)
			_exit(6);
		if (c == 'n')
			serve_next(s);
	}
	_exit(0);
}

/* ---- its peer --------------------------------------------------------- */

static bool ask(int fd, char c)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char got = 0;

	return write(fd, &c, 1) == 1 &&
	       poll(&p, 1, PAIR_PATIENCE_MS) == 1 && read(fd, &got, 1) == 1 &&
	       got == c;
}

static bool ask_often(int fd, int n)
{
	while (n > 0 && ask(fd, 't'))
		n--;
	return !n;
}

static uint64_t acked(int fd)
{
	struct tcp_info t = { 0 };
	socklen_t len = sizeof(t);

	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &len);
	return t.tcpi_bytes_acked;
}

/* Does TCP carry none of what goes from here? */
static bool is_moved(int fd)
{
	uint64_t before = acked(fd);

	return ask_often(fd, PLAIN) && acked(fd) == before;
}

static int dial(uint16_t port)
{
	int fd = pair_dial(port);
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	poll(&p, 1, PAIR_PATIENCE_MS);
	return fd;
}

static void move(int fd)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	bool yes = !pair_preloaded();

	while (!yes && pair_ms() < end)
		yes = is_moved(fd);
	CHECK(yes);
}

/* ---- cases ------------------------------------------------------------ */

struct way {
	const char *name;
	enum wait waits;
	char how;
	bool moved;		/* it has, when the process restricts itself */
};

static const struct way *way;

static void restricted(void)
{
	struct server s = { .fd = -1, .waits = way->waits };
	int status = -1, fd;
	uint16_t port;
	pid_t pid;

	s.listener = pair_listen(&port);
	pid = fork();
	if (!pid)
		serve(&s);
	close(s.listener);
	fd = dial(port);
	if (way->moved)
		move(fd);
	CHECK(ask(fd, way->how));
	CHECK(ask_often(fd, TURNS));
	CHECK(!is_moved(fd));
	kill(pid, SIGUSR1);
	CHECK(ask(fd, 'b'));
	CHECK(ask(fd, 'n'));
	close(fd);
	fd = dial(port);
	CHECK(ask_often(fd, TURNS));
	CHECK(!is_moved(fd));
	CHECK(ask(fd, 'q'));
	close(fd);
	waitpid(pid, &status, 0);
	CHECK(status == 0);
}

/* The process that restricts itself has called connect(), and asks. */
static void restricted_client(void)
{
	struct server s = { .fd = -1, .waits = READS };
	int status = -1, fd;
	uint16_t port;
	pid_t pid;

	s.listener = pair_listen(&port);
	pid = fork();
	if (!pid) {
		close(s.listener);
		fd = dial(port);
		if (way->moved)
			move(fd);
		_exit(!restrict_calls(way->how) || !ask_often(fd, TURNS) ||
		      !ask(fd, 'q'));
	}
	poll(&(struct pollfd){ .fd = s.listener, .events = POLLIN }, 1, -1);
	s.fd = accept(s.listener, NULL, NULL);
	for (char c = 0; c != 'q';)
		if (read(s.fd, &c, 1) != 1 || write(s.fd, &c, 1) != 1)
			break;
	waitpid(pid, &status, 0);
	CHECK(status == 0);
	close(s.fd);
	close(s.listener);
}

/* It asks whether there are filters, and goes on without. */
static void asks(struct pair *p)
{
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == -1);
	CHECK(errno == EFAULT || errno == EINVAL);
	CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == -1);
	pair_talk(p, TURNS);
	pair_move(p);
}

static void goes_on(struct pair *p)
{
	pair_talk(p, TURNS);
	pair_move(p);
}

static const struct way ways[] = {
	{ "a filter before the first byte", READS, 'p', false },
	{ "... by seccomp(), of all threads", READS, 's', false },
	{ "a filter after the connection has moved", READS, 'p', true },
	{ "... by seccomp(), of all threads, and poll()", POLLS, 's', true },
	{ "... and poll()", POLLS, 'p', true },
	{ "... and epoll_wait()", EPOLLS, 'p', true },
	{ "... by seccomp(), of all threads, and epoll_wait()", EPOLLS, 's',
	  true },
	{ "... and an instance inside another", NESTS, 'p', true },
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	write_filter();
	pair_case("a question whether there are filters", asks);
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		way = &ways[i];
		pair_once(way->name, restricted);
	}
	way = &ways[0];
	pair_once("a filter of a client, before its first byte",
		  restricted_client);
	way = &ways[2];
	pair_once("... and after the connection has moved", restricted_client);
	/* RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 of a systemd
	 * unit. */
	if (filter_refuse(SYS_socket, UINT32_MAX, AF_NETLINK, EAFNOSUPPORT, 0))
		pair_case("a process without netlink", goes_on);
	else
		pair_skip("a process without netlink", "no seccomp");
	return pair_done();
}
