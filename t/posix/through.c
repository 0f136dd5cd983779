/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls on connections that are on TCP go through to the kernel as they are: for
 * each there is one system call, with the program's own arguments.
 *
 * The parent traces the child.  The child says what it is about to do, and what
 * the kernel is to see of it, in memory that both share.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "pair.h"

enum {
	CALLS = 16,		/* more than any case makes */
	ARGS = 6,
	PAIRS = 16,
	TURNS = 32,		/* enough for a claim */
	AGAIN_MS = 900,		/* a little less than a second */
	MARK = SYS_getppid,	/* begins and ends a case */
};

/* Some processors have no other call than the longer one. */
#ifdef SYS_poll
#define POLL SYS_poll, 3
#define EPOLL_WAIT SYS_epoll_wait, 4
#else
#define POLL SYS_ppoll, 2
#define EPOLL_WAIT SYS_epoll_pwait, 4
#endif

struct call {
	uint64_t nr, arg[ARGS];
};

struct plan {			/* of a case; the child writes it */
	char name[64];
	struct call call[CALLS];
	unsigned args[CALLS];	/* how many of them count */
	unsigned n;
	double since;		/* pair_ms(): what it needs was begun then; 0:
				 * it is no matter */
	double until;		/* ... it may yet become true; 0: it may not */
	bool again;		/* it cannot be told: do it again */
};

static struct plan *plan;
static bool young;		/* the connections may move yet */
static bool rested;		/* ... but they were claimed in vain */
static bool returned;		/* ... or they were on Tux, and are on TCP again */

/* ---- the child: what it does ---- */

static void begin(const char *name)
{
	plan->n = 0;
	plan->since = plan->until = 0;
	snprintf(plan->name, sizeof(plan->name), "%s", name);
}

/* The kernel is to see call @nr with @args arguments, that are these. */
static void want(long nr, unsigned args, ...)
{
	struct call *c = &plan->call[plan->n];
	va_list ap;

	plan->args[plan->n++] = args;
	c->nr = (uint64_t)nr;
	va_start(ap, args);
	for (unsigned i = 0; i < args; i++)
		c->arg[i] = va_arg(ap, uint64_t);
	va_end(ap);
}

#define I(v) ((uint64_t)(int64_t)(v))
#define P(p) ((uint64_t)(uintptr_t)(p))

static void mark(void)
{
	syscall(MARK);
}

/* The call of the case that has begun. */
#define MAKE(call) \
	do { \
		mark(); \
		call; \
		mark(); \
	} while (0)

static void receives(const struct pair *p)
{
	char b[4];
	struct iovec v[2] = { { b, 2 }, { b + 2, 2 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	begin("recv");
	want(SYS_recvfrom, 4, I(p->a), P(b), I(4), I(0));
	MAKE(recv(p->a, b, 4, 0));
	begin("read");
	want(SYS_read, 3, I(p->b), P(b), I(4));
	MAKE((void)!read(p->b, b, 4));
	begin("readv");
	want(SYS_readv, 3, I(p->a), P(v), I(2));
	MAKE((void)!readv(p->a, v, 2));
	begin("recvmsg");
	want(SYS_recvmsg, 3, I(p->a), P(&m), I(MSG_PEEK));
	MAKE(recvmsg(p->a, &m, MSG_PEEK));
}

static void sends(const struct pair *p)
{
	char b[4] = "abcd";
	struct iovec v[2] = { { b, 2 }, { b + 2, 2 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	begin("send");
	want(SYS_sendto, 4, I(p->a), P(b), I(4), I(MSG_NOSIGNAL));
	MAKE(send(p->a, b, 4, MSG_NOSIGNAL));
	begin("write");
	want(SYS_write, 3, I(p->a), P(b), I(4));
	MAKE((void)!write(p->a, b, 4));
	begin("writev");
	want(SYS_writev, 3, I(p->a), P(v), I(2));
	MAKE((void)!writev(p->a, v, 2));
	begin("sendmsg");
	want(SYS_sendmsg, 3, I(p->a), P(&m), I(0));
	MAKE(sendmsg(p->a, &m, 0));
}

/* The other ends have nothing to read. */
static void polls(const struct pair *p, int ms)
{
	struct timespec t = { 0, ms * 1000000 };
	struct pollfd f[2 * PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		f[2 * i] = (struct pollfd){ p[i].a, POLLIN, 0 };
		f[2 * i + 1] = (struct pollfd){ p[i].b, POLLIN, 0 };
	}
	begin(ms ? "poll that waits" : "poll");
	want(POLL, P(f + 2), I(2 * PAIRS - 2), I(ms));
	MAKE(poll(f + 2, 2 * PAIRS - 2, ms));
	begin(ms ? "poll of one that waits" : "poll of one");
	want(POLL, P(f + 2), I(1), I(ms));
	MAKE(poll(f + 2, 1, ms));
	begin(ms ? "ppoll that waits" : "ppoll");
	want(SYS_ppoll, 2, P(f + 2), I(2));
	MAKE(ppoll(f + 2, 2, &t, NULL));
}

static void selects(const struct pair *p, int ms)
{
	struct timespec t = { 0, ms * 1000000 };
	struct timeval tv = { 0, ms * 1000 };
	int top = 0;
	fd_set in;

	FD_ZERO(&in);
	for (int i = 1; i < PAIRS; i++) {
		FD_SET(p[i].a, &in);
		top = p[i].a >= top ? p[i].a + 1 : top;
	}
	begin(ms ? "select that waits" : "select");
	want(SYS_pselect6, 4, I(top), P(&in), P(NULL), P(NULL));
	MAKE(select(top, &in, NULL, NULL, &tv));
	begin(ms ? "pselect that waits" : "pselect");
	want(SYS_pselect6, 4, I(top), P(&in), P(NULL), P(NULL));
	MAKE(pselect(top, &in, NULL, NULL, &t, NULL));
}

static void epolls(const struct pair *p, uint32_t how)
{
	struct epoll_event e = { .events = EPOLLIN | how }, got[4];
	int ep = epoll_create1(0);

	/* The first one takes memory, if something is kept for it. */
	CHECK(pair_add(ep, p->a, EPOLLIN) == 0 && pair_del(ep, p->a) == 0);
	CHECK(pair_add(ep, p->b, EPOLLIN) == 0 && pair_del(ep, p->b) == 0);
	begin(how ? "epoll_ctl of an edge" : "epoll_ctl");
	want(SYS_epoll_ctl, 3, I(ep), I(EPOLL_CTL_ADD), I(p->b));
	MAKE(epoll_ctl(ep, EPOLL_CTL_ADD, p->b, &e));
	begin(how ? "epoll_wait for an edge" : "epoll_wait");
	want(EPOLL_WAIT, I(ep), P(got), I(4), I(0));
	MAKE(epoll_wait(ep, got, 4, 0));
	begin(how ? "epoll_wait, an edge there" : "epoll_wait, with bytes");
	want(EPOLL_WAIT, I(ep), P(got), I(4), I(-1));
	pair_poke(p->a);
	MAKE(epoll_wait(ep, got, 4, -1));
	pair_expect(p->b, 1);
	begin(how ? "epoll_pwait for an edge" : "epoll_pwait that waits");
	want(SYS_epoll_pwait, 4, I(ep), P(got), I(4), I(5));
	MAKE(epoll_pwait(ep, got, 4, 5, NULL));
	close(ep);
}

static void options(const struct pair *p)
{
	socklen_t len = sizeof(int);
	int v;

	begin("fcntl");
	want(SYS_fcntl, 2, I(p->a), I(F_GETFL));
	MAKE(fcntl(p->a, F_GETFL));
	begin("getsockopt");
	want(SYS_getsockopt, 4, I(p->a), I(SOL_SOCKET), I(SO_TYPE), P(&v));
	MAKE(getsockopt(p->a, SOL_SOCKET, SO_TYPE, &v, &len));
	begin("setsockopt");
	want(SYS_setsockopt, 4, I(p->a), I(SOL_SOCKET), I(SO_RCVBUF), P(&v));
	MAKE(setsockopt(p->a, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v)));
}

/* No sockets. */
static void files(void)
{
	struct pollfd f;
	int fd[2];
	char c;

	if (pipe(fd))
		client_fail("pipe: %s", strerror(errno));
	f = (struct pollfd){ fd[0], POLLIN, 0 };
	begin("a pipe");
	want(SYS_write, 3, I(fd[1]), P("x"), I(1));
	want(POLL, P(&f), I(1), I(-1));
	want(SYS_read, 3, I(fd[0]), P(&c), I(1));
	want(SYS_close, 1, I(fd[0]));
	mark();
	(void)!write(fd[1], "x", 1);
	poll(&f, 1, -1);
	(void)!read(fd[0], &c, 1);
	close(fd[0]);
	mark();
	close(fd[1]);
}

/* The close of a connection of which something is kept, if it is young, may be
 * that of a child by vfork(). */
static void want_close(int fd)
{
	if (young)
		want(SYS_getpid, 0);
	want(SYS_close, 1, I(fd));
}

/* A connection that never moves, from its begin to its end.  The descriptors are
 * the next free ones.  Once a second, an accept() tells the listener's peers
 * again how it is with it. */
static void life(bool asks)
{
	struct sockaddr_storage to, from;
	socklen_t len = sizeof(to), room = sizeof(from);
	double since = pair_ms();
	uint16_t port;
	int l = pair_listen(&port), a = dup(l);

	getsockname(l, (struct sockaddr *)&to, &len);
	close(a);
	begin(asks ? "a connection, and the address of its peer" : "a connection");
	plan->since = since;
	want(SYS_socket, 3, I(to.ss_family), I(SOCK_STREAM), I(0));
	want(SYS_connect, 3, I(a), P(&to), I(len));
	want(SYS_accept4, 4, I(l), P(asks ? &from : NULL),
	     P(asks ? &room : NULL), I(SOCK_NONBLOCK));
	want(SYS_sendto, 1, I(a));
	want(SYS_recvfrom, 1, I(a + 1));
	want_close(a);
	want_close(a + 1);
	mark();
	a = socket(to.ss_family, SOCK_STREAM, 0);
	connect(a, (struct sockaddr *)&to, len);
	accept4(l, asks ? (struct sockaddr *)&from : NULL,
		asks ? &room : NULL, SOCK_NONBLOCK);
	send(a, "x", 1, 0);
	recv(a + 1, &port, 1, 0);
	close(a);
	close(a + 1);
	mark();
	close(l);
}

static void turn_around(const struct pair *p)
{
	pair_poke(p->a);
	pair_expect(p->b, 1);
	pair_poke(p->b);
	pair_expect(p->a, 1);
}

/* Has end a been claimed, and given up? */
static void rests(const struct pair *p, double until)
{
	char b[4];

	begin(returned ? "on TCP again" : "claimed in vain");
	plan->until = until;
	want(SYS_recvfrom, 4, I(p->a), P(b), I(4), I(0));
	MAKE(recv(p->a, b, 4, 0));
}

/* Instance @ep has all ends a since before they were claimed. */
static void waits(const struct pair *p, int ep)
{
	struct epoll_event got[4];

	while (epoll_wait(ep, got, 4, 0) > 0)
		;			/* edges that were there before */
	begin("epoll_wait, registered before");
	want(EPOLL_WAIT, I(ep), P(got), I(4), I(0));
	MAKE(epoll_wait(ep, got, 4, 0));
	for (int i = 0; i < PAIRS; i++) {
		pair_poke(p[i].b);
		begin("epoll_wait, registered before, with bytes");
		want(EPOLL_WAIT, I(ep), P(got), I(4), I(-1));
		MAKE(epoll_wait(ep, got, 4, -1));
		if (got[0].data.fd != p[i].a || got[0].events != EPOLLIN)
			client_fail("epoll_wait: %d instead of %d, events %#x",
				    got[0].data.fd, p[i].a, got[0].events);
		pair_expect(p[i].a, 1);
	}
}

/* Ends b do not move, and do not say so; of some pairs end a becomes b. */
static void claim_in_vain(struct pair *p)
{
	double until = pair_ms() + PAIR_PATIENCE_MS;
	int on = 1, ep = pair_epoll();

	for (int i = 0; i < PAIRS; i++)
		if (setsockopt(p[i].b, SOL_SOCKET, SO_ZEROCOPY, &on,
			       sizeof(on)) ||
		    pair_add(ep, p[i].a, EPOLLIN | (i % 4 == 1 ? EPOLLET : 0)))
			client_fail("pair %d: %s", i, strerror(errno));
	for (int i = 0; i < TURNS * PAIRS; i++)
		turn_around(&p[i % PAIRS]);
	for (int i = 0; i < PAIRS; i++) {
		do {
			usleep(10000);
			turn_around(&p[i]);
			rests(&p[i], until);
		} while (plan->again);
	}
	waits(p, ep);
	for (int i = 1; i < PAIRS; i += 2)
		p[i] = (struct pair){ p[i].b, p[i].a };
	close(ep);
}

/* Short requests, for which the pairs move; then long ones, for which they do
 * not stay. */
static void go_and_return(struct pair *p)
{
	double until = pair_ms() + PAIR_PATIENCE_MS;
	int ep = pair_epoll();

	for (int i = 0; i < PAIRS; i++)
		pair_add(ep, p[i].a, EPOLLIN | (i % 4 == 1 ? EPOLLET : 0));
	for (int i = 0; i < PAIRS; i++)
		pair_move(&p[i]);
	for (int i = 0; i < PAIRS; i++)
		pair_return(&p[i]);
	for (int i = 0; i < PAIRS; i++) {
		struct pair other = { p[i].b, p[i].a };

		do {
			usleep(10000);
			rests(&p[i], until);
		} while (plan->again);
		do {
			usleep(10000);
			rests(&other, until);
		} while (plan->again);
	}
	waits(p, ep);
	for (int i = 1; i < PAIRS; i += 2)
		p[i] = (struct pair){ p[i].b, p[i].a };
	close(ep);
}

static void child(void)
{
	struct pair p[PAIRS];

	for (int i = 0; i < PAIRS; i++)
		pair_fresh(&p[i]);
	if (rested)
		claim_in_vain(p);
	if (returned)
		go_and_return(p);
	receives(&p[0]);
	sends(&p[0]);
	/* By now the preload has a thread: while this one sleeps, another one may
	 * claim what may still move. */
	for (int ms = 0; ms <= !(rested || returned); ms++) {
		polls(p, ms);
		selects(p, ms);
	}
	epolls(&p[1], 0);
	epolls(&p[2], EPOLLET);
	options(&p[3]);
	files();
	for (int asks = 0; asks <= 1; asks++) {
		do
			life(asks);
		while (plan->again);
	}
	/* What the preload does at exit is not asked here. */
	for (int i = 0; i < PAIRS; i++)
		pair_close(&p[i]);
}

/* ---- the parent: what the kernel sees ---- */

static struct call seen[CALLS];
static unsigned seen_n;
static int cases, bad;

static void print_call(const char *what, const struct call *c)
{
	printf("# %s: %lld(%#llx, %#llx, %#llx, %#llx)\n", what,
	       (long long)c->nr, (unsigned long long)c->arg[0],
	       (unsigned long long)c->arg[1], (unsigned long long)c->arg[2],
	       (unsigned long long)c->arg[3]);
}

static bool as_planned(unsigned i)
{
	const struct call *c = &plan->call[i];

	if (i >= seen_n || c->nr != seen[i].nr)
		return false;
	for (unsigned k = 0; k < plan->args[i]; k++)
		if ((uint32_t)c->arg[k] != (uint32_t)seen[i].arg[k])
			return false;
	return true;
}

static void judge(void)
{
	bool ok = seen_n == plan->n;

	for (unsigned i = 0; i < plan->n; i++)
		ok = as_planned(i) && ok;
	plan->again = !ok && (plan->since ?
			      pair_ms() > plan->since + AGAIN_MS :
			      pair_ms() < plan->until);
	if (plan->again)
		return;
	printf("%sok %d - %s\n", ok ? "" : "not ", ++cases, plan->name);
	bad += !ok;
	for (unsigned i = 0; !ok && i < plan->n; i++)
		print_call("wanted", &plan->call[i]);
	for (unsigned i = 0; !ok && i < seen_n; i++)
		print_call("seen", &seen[i]);
}

/* A system call begins. */
static void note(const struct __ptrace_syscall_info *s)
{
	static bool inside;

	if (s->entry.nr == MARK) {
		if (inside)
			judge();
		inside = !inside;
		seen_n = 0;
	} else if (inside && seen_n < CALLS) {
		seen[seen_n].nr = s->entry.nr;
		memcpy(seen[seen_n].arg, s->entry.args,
		       sizeof(seen[seen_n].arg));
		seen_n++;
	}
}

/* The child goes on until its next stop, with @sig.  True: it has stopped, as
 * *@status says. */
static bool step(pid_t pid, int sig, int *status)
{
	return !ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)sig) &&
	       waitpid(pid, status, 0) == pid && WIFSTOPPED(*status);
}

/* How the child ends. */
static int follow(pid_t pid)
{
	struct __ptrace_syscall_info s;
	int status, sig = 0;

	while (step(pid, sig, &status)) {
		sig = WSTOPSIG(status);
		if (sig != (SIGTRAP | 0x80))
			continue;
		sig = 0;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(s), &s) > 0 &&
		    s.op == PTRACE_SYSCALL_INFO_ENTRY)
			note(&s);
	}
	return status;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	rested = argc > 1 && !strcmp(argv[1], "rested");
	returned = argc > 1 && !strcmp(argv[1], "returned");
	young = rested || returned || (argc > 1 && !strcmp(argv[1], "young"));
	plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (plan == MAP_FAILED)
		client_fail("mmap: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		client_fail("fork: %s", strerror(errno));
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			client_fail("ptrace: %s", strerror(errno));
		raise(SIGSTOP);
		child();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)))
		client_fail("ptrace: %s", strerror(errno));
	status = follow(pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		client_fail("the child ended with status %#x", status);
	printf("1..%d\n", cases);
	return bad || !cases;
}
