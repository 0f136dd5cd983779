/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes and their children, and sockets that leave the program's sight.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum { SHARED_MOST = 2 << 20 };

static bool works(int from, int to)
{
	pair_poke(from);
	return pair_expect(to, 1);
}

/* 0 if the child ended well. */
static int ended(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* As Redis does for a snapshot: the child has the descriptors, and no use. */
static void idle_child(struct pair *p)
{
	pid_t pid = fork();

	if (pid == 0) {
		poll(NULL, 0, 50);
		_exit(0);
	}
	for (int i = 0; i < 100; i++)
		CHECK(works(p->a, p->b) && works(p->b, p->a));
	CHECK(ended(pid) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(works(p->a, p->b) && works(p->b, p->a));
}

static void closing_child(struct pair *p)
{
	pid_t pid = fork();

	if (pid == 0) {
		close(p->a);
		close(p->b);
		exit(0);
	}
	CHECK(ended(pid) == 0);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
}

/* As PostgreSQL does: the child gets a connection that nobody has read. */
static void serving_child(void)
{
	struct pair p;
	pid_t pid;

	pair_fresh(&p);
	pid = fork();
	if (pid == 0) {
		close(p.b);
		for (int i = 0; i < 100; i++)
			if (!pair_expect(p.a, 1) || write(p.a, "y", 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(p.a);
	for (int i = 0; i < 100; i++) {
		pair_poke(p.b);
		CHECK(pair_expect(p.b, 1));
	}
	CHECK(ended(pid) == 0);
	close(p.b);
}

/* In a child, which uses what the parent has on Tux. */
static int asks(void *arg)
{
	const struct pair *p = arg;

	for (int i = 0; i < 100; i++) {
		pair_poke(p->a);
		if (!pair_expect(p->a, 1))
			return 1;
	}
	return 0;
}

/* The parent goes on with it, too. */
static void answers(const struct pair *p, pid_t pid)
{
	for (int i = 0; i < 100; i++) {
		CHECK(pair_expect(p->b, 1));
		pair_poke(p->b);
	}
	CHECK(ended(pid) == 0);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
}

/* The peer learns of the end. */
static void closes(struct pair *p)
{
	struct pollfd f = { .fd = p->b, .events = POLLIN };
	char c;

	close(p->a);
	p->a = -1;
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1 && read(p->b, &c, 1) == 0);
}

/* As a server that forks for each request. */
static void answering_child(struct pair *p)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(asks(p));
	answers(p, pid);
}

/* Whatever a child does first with what the parent has on Tux. */
static bool first_call(int n, int fd)
{
	struct pollfd f = { .fd = fd, .events = POLLIN | POLLOUT };
	int v = 65536, ep;
	socklen_t len = sizeof(v);
	fd_set set;

	switch (n) {
	case 0:
		return !setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &v, sizeof(v));
	case 1:
		return !getsockopt(fd, SOL_SOCKET, SO_ERROR, &v, &len) && !v;
	case 2:
		return !ioctl(fd, FIONREAD, &v) && !v;
	case 3:
		return poll(&f, 1, 0) >= 0;
	case 4:
		FD_ZERO(&set);
		FD_SET(fd, &set);
		return select(fd + 1, NULL, &set, NULL, NULL) == 1;
	case 5:
		ep = epoll_create1(0);
		return !pair_add(ep, fd, EPOLLOUT) && pair_until(ep, fd, EPOLLOUT);
	case 6:
		return dup(fd) >= 0 && !close(fd);
	case 7:
		return !shutdown(fd, SHUT_WR);
	default:
		exit(0);
	}
}

static void child_of_any_call(void)
{
	enum { CALLS = 9 };

	for (int i = 0; i < CALLS; i++) {
		struct pair p;
		pid_t pid;

		pair_open(&p, true);
		pid = fork();
		if (pid == 0)
			_exit(!first_call(i, p.a));
		CHECK(ended(pid) == 0);
		CHECK(i == 7 || works(p.a, p.b));
		CHECK(works(p.b, p.a));
		pair_close(&p);
	}
}

/* ... and has connections of its own when its function returns. */
static int dials(void *arg)
{
	int fd = pair_dial(*(const uint16_t *)arg);

	for (int i = 0; i < 100; i++)
		if (!pair_expect(fd, 1) || write(fd, "y", 1) != 1)
			return 1;
	return 0;
}

static void clone_that_returns(void)
{
	static char stack[64 * 1024];
	uint16_t port;
	int l = pair_listen(&port), fd;
	pid_t pid = clone(dials, stack + sizeof(stack), SIGCHLD, &port);

	fcntl(l, F_SETFL, 0);
	fd = accept(l, NULL, NULL);
	for (int i = 0; i < 100; i++) {
		pair_poke(fd);
		CHECK(pair_expect(fd, 1));
	}
	CHECK(ended(pid) == 0);
	close(fd);
	close(l);
}

static void child_by_clone(struct pair *p)
{
	static char stack[64 * 1024];

	answers(p, clone(asks, stack + sizeof(stack), SIGCHLD, p));
}

static void child_by_number(struct pair *p)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(asks(p));
	answers(p, pid);
}

/* It shares its parent's descriptors, and no hook sees that it is a child. */
static void child_with_files(struct pair *p)
{
	static char stack[64 * 1024];

	answers(p, clone(asks, stack + sizeof(stack), SIGCHLD | CLONE_FILES, p));
	closes(p);
}

#ifdef __x86_64__
/* ... nor one by the program's own instruction. */
static void child_by_itself(struct pair *p)
{
	long pid = SYS_fork;

	__asm__ volatile("syscall" : "+a"(pid) : : "rcx", "r11", "memory");
	if (pid == 0)
		_exit(asks(p));
	answers(p, (pid_t)pid);
	closes(p);
}
#endif

static void child_by_clone3(struct pair *p)
{
	struct clone_args how = { .exit_signal = SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof(how));

	if (pid == 0)
		_exit(asks(p));
	answers(p, pid);
}

/* The child has ended, so the connection moves again, and the next child asks, too. */
static void alone_again(void)
{
	struct pair p;

	pair_open(&p, true);
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(asks(&p));
		answers(&p, pid);
		pair_move(&p);
	}
	for (int i = 0; i < 100; i++)
		CHECK(works(p.a, p.b) && works(p.b, p.a));
	pair_close(&p);
}

/* A program that the child has started holds it for two seconds more, and then writes:
 * the connection has not moved meanwhile, though the child has ended.  Other bytes go on
 * for a second behind that, be the program as late as it may. */
static void program_of_a_child(void)
{
	struct pair p;
	double end = pair_ms() + PAIR_PATIENCE_MS;
	int writes = 0;
	pid_t pid;

	pair_open(&p, true);
	pid = fork();
	if (pid == 0) {
		char line[64];

		snprintf(line, sizeof(line), "(sleep 2; printf z >&%d) &", p.a);
		_exit(asks(&p) || system(line));
	}
	for (int i = 0; i < 100; i++) {
		CHECK(pair_expect(p.b, 1));
		pair_poke(p.b);
	}
	CHECK(ended(pid) == 0);
	while (pair_ms() < end) {
		struct pollfd f = { .fd = p.b, .events = POLLIN };
		char c = 0;

		pair_poke(p.a);
		CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1);
		while (read(p.b, &c, 1) == 1) {
			if (c == 'z')
				end = pair_ms() + 1000;
			writes += c == 'z';
		}
		pair_poke(p.b);
		CHECK(pair_expect(p.a, 1));
		poll(NULL, 0, 5);
	}
	CHECK(writes == 1);
	CHECK(works(p.a, p.b) && works(p.b, p.a));
	pair_close(&p);
}

/* As a server that hands each connection to a child, once it has read from it. */
static void left_to_child(struct pair *p)
{
	struct pollfd f = { .fd = p->b, .events = POLLIN };
	int go[2];
	pid_t pid;
	char c;

	CHECK(pipe(go) == 0);
	pid = fork();
	if (pid == 0) {
		close(p->b);
		close(go[1]);
		if (read(go[0], &c, 1) != 0)
			_exit(2);
		for (int i = 0; i < 100; i++) {
			pair_poke(p->a);
			if (!pair_expect(p->a, 1))
				_exit(1);
		}
		_exit(0);
	}
	close(p->a);
	p->a = -1;
	CHECK(poll(&f, 1, 20) == 0);
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < 100; i++) {
		CHECK(pair_expect(p->b, 1));
		pair_poke(p->b);
	}
	CHECK(ended(pid) == 0);
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == 1 && read(p->b, &c, 1) == 0);
}

/* The parent's only thread sleeps in a call of its own meanwhile. */
static void child_of_a_sleeper(struct pair *p)
{
	double began = pair_ms();
	pid_t pid = fork();

	if (pid == 0) {
		pair_poke(p->a);
		pair_poke(p->b);
		_exit(!pair_expect(p->b, 1) || !pair_expect(p->a, 1));
	}
	CHECK(ended(pid) == 0);
	CHECK(pair_ms() - began < PAIR_PATIENCE_MS);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
}

/* The child of @owner, which is @owner's connection to us by now: writes on it when
 * it is told to. */
static void heir(int fd, const int *up, const int *down)
{
	char c;

	if (write(up[1], "r", 1) == 1 && read(down[0], &c, 1) == 1)
		pair_poke(fd);
	_exit(0);
}

/* Talks until the connection has moved, and has a child. */
static void owner(uint16_t port, const int *up, const int *down)
{
	int fd = pair_dial(port);

	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1,
	     PAIR_PATIENCE_MS);
	for (int i = 0; i < 100; i++)
		if (write(fd, "x", 1) != 1 || !pair_expect(fd, 1))
			_exit(1);
	if (!fork())
		heir(fd, up, down);
	for (;;)
		pause();
}

/* A signal has ended or stopped the process that has the connection on Tux.  Its
 * child writes on it: that arrives, or the connection breaks. */
static void child_of_the_silent(int sig)
{
	uint16_t port;
	int l = pair_listen(&port), fd, up[2], down[2];
	struct pollfd p = { .events = POLLIN };
	pid_t pid;
	char c;

	CHECK(pipe(up) == 0 && pipe(down) == 0);
	pid = fork();
	if (pid == 0)
		owner(port, up, down);
	fcntl(l, F_SETFL, 0);
	p.fd = fd = accept(l, NULL, NULL);
	for (int i = 0; i < 100; i++)
		CHECK(read(fd, &c, 1) == 1 && write(fd, &c, 1) == 1);
	CHECK(read(up[0], &c, 1) == 1);
	kill(pid, sig);
	CHECK(write(down[1], "g", 1) == 1);
	CHECK(poll(&p, 1, PAIR_PATIENCE_MS) == 1);
	CHECK(read(fd, &c, 1) != 1 || c == 'x');
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	close(l);
	for (int i = 0; i < 2; i++) {
		close(up[i]);
		close(down[i]);
	}
}

static void child_of_the_killed(void)
{
	child_of_the_silent(SIGKILL);
}

static void child_of_the_stopped(void)
{
	child_of_the_silent(SIGSTOP);
}

/* A client that knows nothing of Tux. */
static void stranger(uint16_t port)
{
	char path[] = "PATH=/bin:/usr/bin", *none[] = { path, NULL }, to[16];

	if (fork())
		return;
	snprintf(to, sizeof(to), "%u", port);
	execle("/bin/bash", "bash", "-c",
	       "exec 3<>/dev/tcp/127.0.0.1/$0; printf a >&3\n"
	       "read -r -n 1 -u 3 x; [ \"$x\" = b ] && printf c >&3\n",
	       to, (char *)NULL, none);
	_exit(127);
}

/* Other connections come where it was, and are plain TCP for good, too. */
static void others_come(void)
{
	for (int i = 0; i < 3; i++) {
		struct pair p;
		FILE *out;

		pair_open(&p, true);
		out = fdopen(dup(p.a), "w");
		if (!out || fputc('x', out) != 'x' || fclose(out) ||
		    !pair_expect(p.b, 1))
			_exit(1);
		pair_close(&p);
	}
}

/* The rest of the talk is a child's. */
static void takes_over(int fd, const int *up, const int *down)
{
	char c;

	if (read(down[0], &c, 1) == 1 && write(fd, "b", 1) == 1 &&
	    read(fd, &c, 1) == 1 && c == 'c')
		pair_poke(up[1]);
	_exit(0);
}

/* A process that has a connection to a stranger, and a child that holds it, too. */
static void owner_of_a_stranger(const int *up, const int *down, bool closes)
{
	uint16_t port;
	int l = pair_listen(&port), fd;
	char c;

	fcntl(l, F_SETFL, 0);
	stranger(port);
	fd = accept(l, NULL, NULL);
	if (fd < 0 || read(fd, &c, 1) != 1)
		_exit(1);
	if (!fork())
		takes_over(fd, up, down);
	if (closes) {
		close(fd);
		others_come();
	}
	pair_poke(up[1]);
	for (;;)
		pause();
}

static bool told(int fd)
{
	struct pollfd f = { .fd = fd, .events = POLLIN };
	char c;

	return poll(&f, 1, PAIR_PATIENCE_MS) == 1 && read(fd, &c, 1) == 1;
}

/* Nothing of the connection has moved: the process that had claimed it closes it, or
 * is killed, and its child goes on. */
static void child_with_a_stranger(bool closes)
{
	int up[2], down[2];
	pid_t pid;

	CHECK(pipe(up) == 0 && pipe(down) == 0);
	pid = fork();
	if (pid == 0)
		owner_of_a_stranger(up, down, closes);
	CHECK(told(up[0]));
	if (!closes)
		CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	CHECK(write(down[1], "g", 1) == 1);
	CHECK(told(up[0]));
	if (closes)
		CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	for (int i = 0; i < 2; i++) {
		close(up[i]);
		close(down[i]);
	}
}

static void child_of_one_that_closed(void)
{
	child_with_a_stranger(true);
}

static void child_of_the_killed_unmoved(void)
{
	child_with_a_stranger(false);
}

/* How many bytes does this process share with others? */
static size_t shared_bytes(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512], how[8];
	size_t n = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, how) == 3 &&
		    !strcmp(how, "rw-s"))
			n += to - from;
	if (f)
		fclose(f);
	return n;
}

/* Of its parent's connections a child has a table of questions and the counts of
 * holders, and none of the memory in which they lie. */
static void child_shares_little(struct pair *p)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(shared_bytes() > SHARED_MOST);
	CHECK(ended(pid) == 0);
	CHECK(works(p->a, p->b));
}

/* Answers @n times. */
static bool echoes(int fd, int n)
{
	for (int i = 0; i < n; i++)
		if (!pair_expect(fd, 1) || write(fd, "y", 1) != 1)
			return false;
	return true;
}

/* A program that goes to the background, with the connection that it has. */
static void background(bool by_libc)
{
	uint16_t port;
	int l = pair_listen(&port), fd;
	pid_t pid = fork();

	if (pid == 0) {
		close(l);
		fd = pair_dial(port);
		if (!echoes(fd, 100))
			_exit(1);
		if (by_libc ? daemon(1, 1) : fork())
			_exit(0);
		_exit(!echoes(fd, 100));
	}
	fcntl(l, F_SETFL, 0);
	fd = accept(l, NULL, NULL);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 200; i++) {
		pair_poke(fd);
		CHECK(pair_expect(fd, 1));
		if (i == 99)
			CHECK(ended(pid) == 0);
	}
	close(fd);
	close(l);
}

static void background_by_fork(void)
{
	background(false);
}

static void background_by_daemon(void)
{
	background(true);
}

/* The listener is the parent's, the connection the child's own. */
static void accepting_child(void)
{
	uint16_t port;
	int l = pair_listen(&port), fd;
	pid_t pid = fork();
	char buf[4];

	if (pid == 0) {
		fcntl(l, F_SETFL, 0);
		fd = accept(l, NULL, NULL);
		for (int i = 0; i < 100; i++)
			if (read(fd, buf, 1) != 1 || write(fd, buf, 1) != 1)
				_exit(1);
		_exit(read(fd, buf, 1) != 0);
	}
	fd = pair_dial(port);
	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1,
	     PAIR_PATIENCE_MS);
	for (int i = 0; i < 100; i++)
		CHECK(works(fd, fd));
	close(fd);
	CHECK(ended(pid) == 0);
	close(l);
}

/* The parent is gone: what it held is the child's. */
static void orphan(void)
{
	uint16_t port;
	int l = pair_listen(&port), fd;
	pid_t pid;
	char c;

	pid = fork();
	if (pid == 0) {
		fcntl(l, F_SETFL, 0);
		if (fork())
			_exit(0);
		fd = accept(l, NULL, NULL);
		while (read(fd, &c, 1) == 1 && write(fd, &c, 1) == 1)
			;
		_exit(0);
	}
	CHECK(ended(pid) == 0);
	fd = pair_dial(port);
	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1,
	     PAIR_PATIENCE_MS);
	for (int i = 0; i < 100; i++)
		CHECK(works(fd, fd));
	close(fd);
	close(l);
}

static void dialing_child(struct pair *p)
{
	uint16_t port;
	int l = pair_listen(&port), fd;
	pid_t pid = fork();
	char c;

	if (pid == 0) {
		fd = pair_dial(port);
		poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1,
	     PAIR_PATIENCE_MS);
		for (int i = 0; i < 100; i++)
			if (!works(fd, fd))
				_exit(1);
		exit(0);
	}
	fcntl(l, F_SETFL, 0);
	fd = accept(l, NULL, NULL);
	while (read(fd, &c, 1) == 1 && write(fd, &c, 1) == 1)
		;
	CHECK(ended(pid) == 0);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
	close(fd);
	close(l);
}

/* It runs in our memory: whatever it closes must not be closed for us. */
static void vforked(struct pair *p)
{
	pid_t pid = vfork();

	if (pid == 0) {
		close(p->a);
		dup2(p->b, 230);
		close_range(3, 300, 0);
		_exit(0);
	}
	CHECK(ended(pid) == 0);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
}

static void shell(struct pair *p)
{
	char line[16] = "";
	FILE *f = popen("echo hello", "r");

	CHECK(f && fgets(line, sizeof(line), f) && !strcmp(line, "hello\n"));
	CHECK(pclose(f) == 0);
	CHECK(system("exit 3") == 3 << 8);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
}

static void executed(struct pair *p)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("sh", "sh", "-c", "exit 4", NULL);
		_exit(1);
	}
	CHECK(ended(pid) == 4);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
}

/* ---- out of sight ------------------------------------------------------- */

static void with_stdio(struct pair *p)
{
	char line[16] = "";
	FILE *f;

	fcntl(p->a, F_SETFL, 0);
	f = fdopen(p->a, "r+");
	/* Refused on a connection that cannot come back to TCP. */
	if (!f) {
		CHECK(errno == EBUSY);
		CHECK(works(p->a, p->b) && works(p->b, p->a));
		return;
	}
	CHECK(write(p->b, "ping\n", 5) == 5);
	CHECK(fgets(line, sizeof(line), f) && !strcmp(line, "ping\n"));
	fputs("pong\n", f);
	fclose(f);
	p->a = -1;
	CHECK(pair_expect(p->b, 5));
	poll(&(struct pollfd){ .fd = p->b, .events = POLLIN }, 1,
	     PAIR_PATIENCE_MS);
	CHECK(read(p->b, line, 1) == 0);
}

static int send_fd(int to, int fd)
{
	union { struct cmsghdr c; char room[CMSG_SPACE(sizeof(int))]; } u;
	struct iovec v = { (char *)(uintptr_t)"f", 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = &u, .msg_controllen = sizeof(u) };

	u.c = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&u.c), &fd, sizeof(fd));
	return (int)sendmsg(to, &m, 0);
}

static int recv_fd(int from)
{
	union { struct cmsghdr c; char room[CMSG_SPACE(sizeof(int))]; } u;
	char c;
	struct iovec v = { &c, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = &u, .msg_controllen = sizeof(u) };
	int fd = -1;

	if (recvmsg(from, &m, 0) == 1 && m.msg_controllen)
		memcpy(&fd, CMSG_DATA(&u.c), sizeof(fd));
	return fd;
}

static void handed_over(struct pair *p)
{
	int unix_fd[2], fd;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_fd) == 0);
	if (send_fd(unix_fd[0], p->a) != 1) {
		CHECK(errno == EBUSY);
		CHECK(works(p->a, p->b) && works(p->b, p->a));
	} else {
		fd = recv_fd(unix_fd[1]);
		CHECK(fd >= 0 && works(fd, p->b) && works(p->b, fd));
		CHECK(works(p->a, p->b) && works(p->b, p->a));
		close(fd);
	}
	close(unix_fd[0]);
	close(unix_fd[1]);
}

/* Memcached and DNS servers have both: the program's own port comes first. */
static void own_udp_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	uint16_t port;
	int l = pair_listen(&port), u = socket(AF_INET, SOCK_DGRAM, 0), v;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons(port);
	CHECK(bind(u, (void *)&a, sizeof(a)) == 0);
	v = socket(AF_INET, SOCK_DGRAM, 0);
	CHECK(bind(v, (void *)&a, sizeof(a)) == -1 && errno == EADDRINUSE);
	CHECK(sendto(v, "x", 1, 0, (void *)&a, sizeof(a)) == 1);
	CHECK(pair_expect(u, 1));
	close(u);
	close(v);
	close(l);
}

int main(void)
{
	pair_case("a child that does nothing", idle_child);
	pair_case("a child that closes", closing_child);
	pair_once("a child that serves", serving_child);
	pair_case("a child that answers", answering_child);
	pair_once("a child that calls anything", child_of_any_call);
	pair_case("a child by clone()", child_by_clone);
	pair_once("a child by clone() that returns", clone_that_returns);
	pair_case("a child by SYS_clone", child_by_number);
	pair_case("a child by SYS_clone3", child_by_clone3);
	pair_case("a child by CLONE_FILES", child_with_files);
#ifdef __x86_64__
	pair_case("a child by an instruction", child_by_itself);
#endif
	pair_once("a parent that is alone again", alone_again);
	pair_once("a program of a child that has ended", program_of_a_child);
	pair_case("a child that is left with it", left_to_child);
	pair_once("a parent that ends", background_by_fork);
	pair_once("daemon()", background_by_daemon);
	pair_case("a child of a parent that sleeps", child_of_a_sleeper);
	pair_once("a child whose parent was killed", child_of_the_killed);
	pair_once("a child whose parent is stopped", child_of_the_stopped);
	pair_once("a child of one that closed", child_of_one_that_closed);
	pair_once("a child whose parent was killed, unmoved",
		  child_of_the_killed_unmoved);
	pair_case("a child shares little", child_shares_little);
	pair_once("a child that accepts", accepting_child);
	pair_once("a child whose parent is gone", orphan);
	pair_case("a child that connects", dialing_child);
	pair_case("vfork", vforked);
	pair_case("popen and system", shell);
	pair_case("exec in a child", executed);
	pair_case("fdopen", with_stdio);
	pair_case("SCM_RIGHTS", handed_over);
	pair_once("the program's own UDP port", own_udp_port);
	return pair_done();
}
