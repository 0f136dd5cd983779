/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer - sockets that are announced by tuxd's programs
 *
 *   peer serve ADDR PORT N [WORD]...  listens, echoes a byte of each of N
 *   peer ask ADDR PORT N [WORD]...    connects N times, sends a byte
 *
 * Both print a line for each connection: its key, and what the peer announced;
 * or "tcp" and the reason.  Words:
 *   plain        marks nothing
 *   late         marks when it listens already
 *   twice        ... and once more
 *   again        connects to nowhere first, with the same socket
 *   port=N       announces this UDP port
 *   why=N        announces that it will not move, for this reason
 *   tfo          TCP Fast Open
 *   md5=ADDR     signatures of what comes from there, and goes there
 *   fork         a child process accepts
 *   pass         another process reads, which was sent the descriptor
 *   count        prints how many hold it, as it is lent and taken back
 *   shy          no process of this user may look at it
 *   hold         stays until it is ended, and prints its number and descriptor
 *   users=N      of quota: as each of N users, which takes root
 *
 *   peer quota N           marks N listeners: how many are announced
 *   peer reuse ADDR PORT   two listeners there, of which one closes
 *   peer steal PID FD      tries to get the descriptor of another process
 *   peer big               an option of 8 KB: does the kernel get all of it?
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handshake/mark.h"

enum { QUOTA_MAX = 4096, FIRST_USER = 2000, BIG = 8192, BIG_RCVBUF = 65536,
       PATIENCE_S = 10 };

static struct {
	bool plain, late, twice, again, tfo, fork, pass, count, shy, hold;
	unsigned port, why, users;
	const char *md5;
} how;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- what is marked, and what came of it ---- */

static uint64_t nonce(void)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		die("getrandom");
	return n | 1;
}

static int mark_socket(int fd)
{
	int r = tux_mark(fd, nonce(), (uint16_t)how.port, how.why);

	if (r)
		printf("mark %s\n", tux_reason_word((unsigned)-r));
	return r;
}

static void tell(int fd)
{
	struct tux_mark_peer p;
	int r = tux_mark_read(fd, &p);

	if (r)
		printf("tcp %s\n", tux_reason_word((unsigned)-r));
	else
		printf("key %016" PRIx64 "%016" PRIx64 " port %u version %u\n",
		       p.key.k0, p.key.k1, p.port, p.version);
	fflush(stdout);
}

/* ---- descriptors in messages ---- */

union space {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void send_socket(int to, int fd)
{
	union space space = { 0 };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &space, .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(to, &m, 0) != 1)
		die("sendmsg");
}

static int receive_socket(int from)
{
	union space space;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &space, .msg_controllen = sizeof(space) };
	int fd;

	if (recvmsg(from, &m, 0) != 1)
		die("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* Another process, which shares nothing with this one but a socket pair, gets
 * the descriptor and tells. */
static void tell_elsewhere(int fd)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("socketpair");
	if (!fork()) {
		close(fd);
		tell(receive_socket(pair[1]));
		_exit(0);
	}
	send_socket(pair[0], fd);
	wait(NULL);
	close(pair[0]);
	close(pair[1]);
}

/* ---- how many hold a socket ---- */

static void held(const char *when, int fd)
{
	struct tux_mark_held h;
	int r = tux_mark_held(fd, &h);

	if (r)
		printf("%s %s\n", when, strerror(-r));
	else
		printf("%s %u%s%s\n", when, h.n, h.active ? " active" : "",
		       h.read ? " read" : "");
	fflush(stdout);
}

/* A call takes a reference of its own while another thread is there. */
static void *idle(void *arg)
{
	return read(*(int *)arg, &(char){ 0 }, 1) ? NULL : arg;
}

static void count_beside_thread(int fd)
{
	pthread_t t = 0;
	int end[2];

	if (pipe(end) || pthread_create(&t, NULL, idle, &end[0]))
		die("a thread");
	held("thread", fd);
	close(end[1]);
	pthread_join(t, NULL);
}

static void count(int fd)
{
	int pair[2], more = dup(fd);
	pid_t child;

	held("dup", fd);
	close(more);
	held("first", fd);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("socketpair");
	send_socket(pair[0], fd);
	held("sent", fd);
	more = receive_socket(pair[1]);
	held("received", fd);
	send_socket(pair[0], more);
	close(more);
	close(pair[1]);
	held("lost", fd);
	count_beside_thread(fd);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	held("forked", fd);
	kill(child, SIGKILL);
	wait(NULL);
	held("killed", fd);
}

static void finish_one(int fd)
{
	if (how.count)
		count(fd);
	if (how.pass)
		tell_elsewhere(fd);
	else
		tell(fd);
	if (how.count)
		held("told", fd);
	if (how.hold) {
		printf("holds %d %d\n", getpid(), fd);
		fflush(stdout);
		pause();
	}
	close(fd);
}

/* ---- sockets ---- */

struct where {
	struct sockaddr_storage sa;
	socklen_t len;
};

static struct where where(const char *ip, unsigned port)
{
	struct where w = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&w.sa;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&w.sa;

	if (inet_pton(AF_INET, ip, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		w.len = sizeof(*v4);
	} else if (inet_pton(AF_INET6, ip, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		w.len = sizeof(*v6);
	} else {
		die(ip);
	}
	return w;
}

static void set(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("setsockopt");
}

static int open_socket(const struct where *w)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = socket(w->sa.ss_family, SOCK_STREAM, 0);

	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)))
		die("SO_RCVTIMEO");
	return fd;
}

static void sign(int fd)
{
	struct tcp_md5sig k = { .tcpm_keylen = 4, .tcpm_key = "tuxd" };
	struct where w;

	if (!how.md5)
		return;
	w = where(how.md5, 0);
	memcpy(&k.tcpm_addr, &w.sa, w.len);
	if (setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &k, sizeof(k)))
		die("TCP_MD5SIG");
}

static int open_listener(const struct where *w, bool reuse)
{
	int fd = open_socket(w);

	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (reuse)
		set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (how.tfo)
		set(fd, IPPROTO_TCP, TCP_FASTOPEN, 16);
	if (!how.plain && !how.late)
		mark_socket(fd);
	if (bind(fd, (const struct sockaddr *)&w->sa, w->len) ||
	    listen(fd, 64))
		die("listen");
	if (how.late)
		mark_socket(fd);
	if (how.twice)
		mark_socket(fd);
	sign(fd);
	return fd;
}

static int reach(const struct where *w)
{
	struct where nowhere = *w;
	int fd = open_socket(w);

	if (!how.plain)
		mark_socket(fd);
	if (how.again) {
		((struct sockaddr_in *)&nowhere.sa)->sin_port = htons(1);
		if (!connect(fd, (struct sockaddr *)&nowhere.sa, nowhere.len))
			die("somebody listens at port 1");
		mark_socket(fd);
	}
	sign(fd);
	if (how.tfo)
		set(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
	if (connect(fd, (const struct sockaddr *)&w->sa, w->len))
		die("connect");
	return fd;
}

/* A process that was stopped and continued gets EINTR from a call with a
 * timeout, whatever its handlers say: signal(7). */
static int await(int listener)
{
	return (int)TEMP_FAILURE_RETRY(accept(listener, NULL, NULL));
}

static bool take(int fd, char *byte)
{
	return TEMP_FAILURE_RETRY(read(fd, byte, 1)) == 1;
}

/* ---- commands ---- */

static void echo(int listener)
{
	int fd = await(listener);
	char byte;

	if (fd < 0)
		die("accept");
	if (!take(fd, &byte) || write(fd, &byte, 1) != 1)
		die("echo");
	finish_one(fd);
}

static int serve(const struct where *w, unsigned n)
{
	int fd = open_listener(w, false);

	printf("ready\n");
	fflush(stdout);
	while (n--) {
		if (!how.fork) {
			echo(fd);
		} else if (!fork()) {
			echo(fd);
			_exit(0);
		} else {
			wait(NULL);
		}
	}
	return 0;
}

static int ask(const struct where *w, unsigned n)
{
	char byte = 'x';
	int fd;

	while (n--) {
		fd = reach(w);
		if (write(fd, &byte, 1) != 1 || !take(fd, &byte))
			die("ask");
		finish_one(fd);
	}
	return 0;
}

/* A listener that is marked again learns whether it is announced. */
static bool announced(int fd)
{
	return !tux_mark(fd, nonce(), 0, TUX_REASON_NONE);
}

static unsigned announced_of(unsigned n)
{
	const struct where w = where("127.0.0.1", 0);
	unsigned i, got = 0;
	int fd;

	for (i = 0; i < n; i++) {
		fd = open_listener(&w, false);
		got += announced(fd);
	}
	return got;
}

static unsigned announced_of_users(unsigned n)
{
	const struct rlimit many = { 2 * QUOTA_MAX, 2 * QUOTA_MAX };
	unsigned i, got = 0;

	if (how.users && setrlimit(RLIMIT_NOFILE, &many))
		die("setrlimit");
	for (i = 0; i < how.users; i++) {
		if (setreuid(FIRST_USER + i, (uid_t)-1))
			die("setreuid");
		got += announced_of(n / how.users);
	}
	return got;
}

static int quota(unsigned n)
{
	if (n > QUOTA_MAX)
		n = QUOTA_MAX;
	printf("announced %u of %u\n",
	       how.users ? announced_of_users(n) : announced_of(n), n);
	fflush(stdout);
	if (how.hold)
		pause();
	return 0;
}

static int reuse(const struct where *w)
{
	int one = open_listener(w, true), two = open_listener(w, true);
	char byte;
	int c, s;

	close(one);
	c = reach(w);
	if (write(c, "x", 1) != 1)
		die("write");
	s = await(two);
	if (s < 0 || !take(s, &byte))
		die("accept");
	tell(c);
	tell(s);
	return 0;
}

static int steal(int pid, int fd)
{
	int p = (int)syscall(SYS_pidfd_open, pid, 0), got;
	char path[64];

	got = p < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, p, fd, 0);
	printf("pidfd_getfd: %s\n", got < 0 ? strerror(errno) : "ok");
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	printf("open: %s\n", access(path, R_OK) ? strerror(errno) : "ok");
	return 0;
}

static int big(void)
{
	static char value[BIG];
	const int want = BIG_RCVBUF;
	int fd = socket(AF_INET, SOCK_STREAM, 0), is = 0;
	socklen_t len = sizeof(is);

	memcpy(value, &want, sizeof(want));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, value, sizeof(value)) ||
	    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &is, &len))
		die("SO_RCVBUF");
	printf("rcvbuf %d\n", is);
	return 0;
}

/* ---- words ---- */

static void take_word(const char *word)
{
	static const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "plain", &how.plain }, { "late", &how.late },
		{ "twice", &how.twice },
		{ "again", &how.again }, { "tfo", &how.tfo },
		{ "fork", &how.fork }, { "pass", &how.pass },
		{ "count", &how.count },
		{ "shy", &how.shy }, { "hold", &how.hold },
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (!strcmp(flags[i].name, word)) {
			*flags[i].flag = true;
			return;
		}
	}
	if (!strncmp(word, "md5=", 4))
		how.md5 = word + 4;
	else if (sscanf(word, "port=%u", &how.port) != 1 &&
		 sscanf(word, "users=%u", &how.users) != 1 &&
		 sscanf(word, "why=%u", &how.why) != 1)
		die(word);
}

static void take_words(int argc, char **argv, int from)
{
	for (; from < argc; from++)
		take_word(argv[from]);
}

static unsigned number(const char *text)
{
	return (unsigned)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct where w;

	if (!strcmp(what, "big"))
		return big();
	if (!strcmp(what, "quota") && argc > 2) {
		take_words(argc, argv, 3);
		return quota(number(argv[2]));
	}
	if (argc < 4)
		return 2;
	if (!strcmp(what, "steal"))
		return steal((int)number(argv[2]), (int)number(argv[3]));
	w = where(argv[2], number(argv[3]));
	if (!strcmp(what, "reuse"))
		return reuse(&w);
	if (argc < 5)
		return 2;
	take_words(argc, argv, 5);
	if (how.shy)
		prctl(PR_SET_DUMPABLE, 0);
	return !strcmp(what, "serve") ? serve(&w, number(argv[4])) :
	       ask(&w, number(argv[4]));
}
