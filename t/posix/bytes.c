/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every call that moves bytes, with what it promises about them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pair.h"

ssize_t __read_chk(int fd, void *buf, size_t len, size_t size);
ssize_t __recv_chk(int fd, void *buf, size_t len, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t len, size_t size, int flags,
		       struct sockaddr *addr, socklen_t *alen);

static const char text[] = "0123456789abcdefghij";
enum { TEXT = sizeof(text) - 1 };

/* @fd has exactly @want to give; takes it. */
static bool holds(int fd, const char *want)
{
	size_t n = strlen(want);
	char buf[256];

	return pair_arrive(fd, (int)n) && read(fd, buf, sizeof(buf)) == (ssize_t)n &&
	       memcmp(buf, want, n) == 0;
}

static void read_write(struct pair *p)
{
	char buf[64] = "";

	CHECK(write(p->b, text, TEXT) == TEXT);
	CHECK(pair_arrive(p->a, TEXT));
	CHECK(read(p->a, buf, 5) == 5 && memcmp(buf, text, 5) == 0);
	CHECK(read(p->a, buf, sizeof(buf)) == TEXT - 5);
	CHECK(memcmp(buf, text + 5, TEXT - 5) == 0);
	CHECK(read(p->a, buf, sizeof(buf)) == -1 && errno == EAGAIN);
	CHECK(read(p->a, buf, 0) == 0);
	CHECK(write(p->a, buf, 0) == 0);
}

static void fortified(struct pair *p)
{
	char buf[64];
	socklen_t len = 7;
	struct sockaddr_in a;

	CHECK(write(p->b, text, 9) == 9);
	CHECK(pair_arrive(p->a, 9));
	CHECK(__read_chk(p->a, buf, 3, sizeof(buf)) == 3 && buf[0] == '0');
	CHECK(__recv_chk(p->a, buf, 3, sizeof(buf), 0) == 3 && buf[0] == '3');
	CHECK(__recvfrom_chk(p->a, buf, 3, sizeof(buf), 0, (void *)&a, &len) ==
	      3 && buf[0] == '6' && len == 0);
}

/* Not constants: the compiler would know that they are wrong. */
static volatile int too_few = -1, too_many = IOV_MAX + 1;

static void vectors(struct pair *p)
{
	struct iovec v[32];
	char buf[32];

	for (int i = 0; i < 32; i++)
		v[i] = (struct iovec){ (char *)(uintptr_t)text + i / 2 % TEXT,
				       i % 2 };
	CHECK(writev(p->b, v, 32) == 16);
	CHECK(pair_arrive(p->a, 16));
	for (int i = 0; i < 32; i++)
		v[i] = (struct iovec){ buf + i, 1 };
	CHECK(readv(p->a, v, 11) == 11);
	CHECK(readv(p->a, v + 11, 20) == 5);
	CHECK(memcmp(buf, text, 16) == 0);
	CHECK(readv(p->a, v, 4) == -1 && errno == EAGAIN);
	CHECK(readv(p->a, v, too_few) == -1 && errno == EINVAL);
	CHECK(writev(p->a, v, too_many) == -1 && errno == EINVAL);
}

/* No compiler is to know how long they are. */
static volatile size_t too_long = SIZE_MAX;

static void vectors_too_long(struct pair *p)
{
	char buf[2];
	struct iovec v[2] = { { buf, 1 }, { buf + 1, too_long } };
	struct mmsghdr m[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		m[i].msg_hdr.msg_iov = v;
		m[i].msg_hdr.msg_iovlen = 2 - (size_t)i;
	}
	CHECK(writev(p->b, v, 2) == -1 && errno == EINVAL);
	CHECK(sendmsg(p->b, &m[0].msg_hdr, 0) == -1 && errno == EINVAL);
	CHECK(sendmmsg(p->b, m, 2, 0) == -1 && errno == EINVAL);
	CHECK(write(p->b, text, 3) == 3);
	CHECK(pair_arrive(p->a, 3));
	CHECK(readv(p->a, v, 2) == -1 && errno == EINVAL);
	CHECK(recvmsg(p->a, &m[0].msg_hdr, 0) == -1 && errno == EINVAL);
	CHECK(recvmmsg(p->a, m, 2, 0, NULL) == -1 && errno == EINVAL);
	CHECK(holds(p->a, "012"));
}

static void with_offset(struct pair *p)
{
	char buf[8];
	struct iovec out = { (char *)(uintptr_t)text, 6 };
	struct iovec in = { buf, sizeof(buf) };

	CHECK(pwritev2(p->b, &out, 1, -1, 0) == 6);
	CHECK(pair_arrive(p->a, 6));
	CHECK(preadv2(p->a, &in, 1, -1, 0) == 6 && memcmp(buf, text, 6) == 0);
	CHECK(preadv2(p->a, &in, 1, 0, 0) == -1 && errno == ESPIPE);
	CHECK(pread(p->a, buf, 1, 0) == -1 && errno == ESPIPE);
}

static void flags(struct pair *p)
{
	char buf[64];

	CHECK(send(p->b, text, 10, MSG_NOSIGNAL | MSG_DONTWAIT) == 10);
	CHECK(pair_arrive(p->a, 10));
	CHECK(recv(p->a, buf, 4, MSG_PEEK) == 4 && buf[0] == '0');
	CHECK(recv(p->a, buf, sizeof(buf), MSG_PEEK) == 10 && buf[0] == '0');
	buf[0] = 'x';
	CHECK(recv(p->a, buf, 9, MSG_PEEK | MSG_TRUNC) == 9 && buf[0] == 'x');
	CHECK(recv(p->a, NULL, 3, MSG_TRUNC) == 3);
	CHECK(recv(p->a, buf, 2, MSG_WAITALL) == 2 && buf[0] == '3');
	CHECK(recv(p->a, buf, sizeof(buf), MSG_WAITALL | MSG_DONTWAIT) == 5);
	CHECK(recv(p->a, buf, 1, MSG_PEEK) == -1 && errno == EAGAIN);
	CHECK(send(p->b, text, 4, MSG_MORE) == 4);
	CHECK(send(p->b, text + 4, 4, 0) == 4);
	CHECK(holds(p->a, "01234567"));
}

/* More than a page, by either call. */
static void thrown_away(struct pair *p)
{
	static char buf[10000];
	struct iovec v = { buf, sizeof(buf) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	for (int i = 0; i < 2; i++)
		CHECK(write(p->b, buf, sizeof(buf)) == sizeof(buf));
	CHECK(pair_arrive(p->a, 2 * sizeof(buf)));
	buf[0] = 'x';
	CHECK(recvmsg(p->a, &m, MSG_TRUNC) == sizeof(buf) && buf[0] == 'x');
	CHECK(recv(p->a, buf, sizeof(buf), MSG_TRUNC) == sizeof(buf));
	CHECK(recv(p->a, buf, 1, 0) == -1 && errno == EAGAIN);
}

/* Calls without bytes, before and after the end. */
static void no_bytes(struct pair *p)
{
	struct iovec v = { NULL, 0 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	char c;

	CHECK(read(p->a, &c, 0) == 0 && readv(p->a, &v, 1) == 0);
	CHECK(recv(p->a, &c, 0, 0) == -1 && errno == EAGAIN);
	CHECK(recvmsg(p->a, &m, 0) == -1 && errno == EAGAIN);
	pair_poke(p->b);
	CHECK(pair_arrive(p->a, 1));
	CHECK(recv(p->a, &c, 0, 0) == 0 && recvmsg(p->a, &m, 0) == 0);
	CHECK(send(p->b, &c, 0, 0) == 0 && write(p->b, &c, 0) == 0);
	CHECK(holds(p->a, "x"));
	signal(SIGPIPE, SIG_IGN);
	CHECK(shutdown(p->b, SHUT_WR) == 0);
	CHECK(send(p->b, &c, 0, 0) == -1 && errno == EPIPE);
	CHECK(write(p->b, &c, 0) == -1 && errno == EPIPE);
	CHECK(writev(p->b, &v, 1) == 0);
	signal(SIGPIPE, SIG_DFL);
}

static void urgent(struct pair *p)
{
	char c = 0;

	CHECK(recv(p->a, &c, 1, MSG_OOB) == -1);
	CHECK(recv(p->a, &c, 1, MSG_ERRQUEUE) == -1 && errno == EAGAIN);
	/* Refused where the way back to TCP is barred. */
	if (send(p->b, "u", 1, MSG_OOB) != 1) {
		CHECK(errno == EOPNOTSUPP);
		return;
	}
	CHECK(poll(&(struct pollfd){ .fd = p->a, .events = POLLPRI }, 1,
		   PAIR_PATIENCE_MS) == 1);
	CHECK(recv(p->a, &c, 1, MSG_OOB) == 1 && c == 'u');
	CHECK(write(p->b, text, 3) == 3);
	CHECK(pair_expect(p->a, 3));
	CHECK(write(p->a, text, 3) == 3);
	CHECK(holds(p->b, "012"));
}

static void from_to(struct pair *p)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	char buf[32];

	CHECK(sendto(p->b, text, 8, 0, NULL, 0) == 8);
	CHECK(pair_arrive(p->a, 8));
	CHECK(recvfrom(p->a, buf, 4, 0, (void *)&a, &len) == 4 && len == 0);
	CHECK(recvfrom(p->a, buf, 4, 0, NULL, NULL) == 4 && buf[0] == '4');
}

static void messages(struct pair *p)
{
	struct iovec out[2] = { { (char *)(uintptr_t)text, 4 },
				{ (char *)(uintptr_t)text + 4, 6 } };
	struct msghdr m = { .msg_iov = out, .msg_iovlen = 2 };
	char buf[32], control[64], name[32];
	struct iovec in[2] = { { buf, 3 }, { buf + 3, 20 } };

	CHECK(sendmsg(p->b, &m, MSG_NOSIGNAL) == 10);
	CHECK(pair_arrive(p->a, 10));
	m = (struct msghdr){ .msg_iov = in, .msg_iovlen = 2,
			     .msg_control = control,
			     .msg_controllen = sizeof(control),
			     .msg_name = name, .msg_namelen = sizeof(name) };
	CHECK(recvmsg(p->a, &m, MSG_PEEK) == 10);
	CHECK(recvmsg(p->a, &m, 0) == 10 && memcmp(buf, text, 10) == 0);
	CHECK(m.msg_namelen == 0 && m.msg_controllen == 0);
	CHECK(recvmsg(p->a, &m, 0) == -1 && errno == EAGAIN);
}

static void many_messages(struct pair *p)
{
	struct iovec v[3];
	struct mmsghdr m[3];
	char buf[3][4];

	memset(m, 0, sizeof(m));
	for (int i = 0; i < 3; i++) {
		v[i] = (struct iovec){ (char *)(uintptr_t)text + 4 * i, 4 };
		m[i].msg_hdr.msg_iov = &v[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	CHECK(sendmmsg(p->b, m, 3, 0) == 3);
	CHECK(m[0].msg_len == 4 && m[2].msg_len == 4);
	CHECK(pair_arrive(p->a, 12));
	for (int i = 0; i < 3; i++)
		v[i] = (struct iovec){ buf[i], 4 };
	CHECK(recvmmsg(p->a, m, 3, 0, NULL) == 3);
	CHECK(memcmp(buf, text, 12) == 0 && m[1].msg_len == 4);
	CHECK(recvmmsg(p->a, m, 3, MSG_WAITFORONE, NULL) == -1 &&
	      errno == EAGAIN);
	CHECK(write(p->b, text, 5) == 5);
	CHECK(pair_arrive(p->a, 5));
	CHECK(recvmmsg(p->a, m, 3, MSG_WAITFORONE, NULL) == 2);
	CHECK(m[0].msg_len == 4 && m[1].msg_len == 1);
}

static void files(struct pair *p)
{
	FILE *f = tmpfile();
	int fd = fileno(f);
	off_t at = 5;

	CHECK(write(fd, text, TEXT) == TEXT);
	CHECK(sendfile(p->b, fd, &at, 5) == 5 && at == 10);
	CHECK(lseek(fd, 0, SEEK_CUR) == TEXT);
	CHECK(holds(p->a, "56789"));
	CHECK(sendfile(p->b, fd, &at, 100) == TEXT - 10 && at == TEXT);
	CHECK(holds(p->a, "abcdefghij"));
	CHECK(sendfile(p->b, fd, &at, 100) == 0);
	CHECK(lseek(fd, 2, SEEK_SET) == 2);
	CHECK(sendfile(p->b, fd, NULL, 3) == 3);
	CHECK(lseek(fd, 0, SEEK_CUR) == 5);
	CHECK(holds(p->a, "234"));
	fclose(f);
}

static void counts(struct pair *p)
{
	int n = -1;

	CHECK(ioctl(p->a, FIONREAD, &n) == 0 && n == 0);
	CHECK(write(p->b, text, 7) == 7);
	CHECK(pair_arrive(p->a, 7));
	CHECK(ioctl(p->a, FIONREAD, &n) == 0 && n == 7);
	CHECK(holds(p->a, "0123456"));
	CHECK(ioctl(p->a, FIONREAD, &n) == 0 && n == 0);
	for (int i = 0; n != 0 || i == 0; i++) {
		CHECK(ioctl(p->b, TIOCOUTQ, &n) == 0);
		poll(NULL, 0, 1);
		if (i > PAIR_PATIENCE_MS)
			break;
	}
	CHECK(n == 0);
}

/* More than all buffers hold: every byte arrives once, in order. */
static void fill_and_drain(struct pair *p)
{
	enum { LEN = 8 << 20, STEP = 100003 };
	static unsigned char buf[STEP];
	size_t sent = 0, got = 0;
	double end = pair_ms() + PAIR_PATIENCE_MS;
	bool same = true;

	while (got < LEN && pair_ms() < end) {
		size_t len = LEN - sent < STEP ? LEN - sent : STEP;
		ssize_t n;

		for (size_t i = 0; i < len; i++)
			buf[i] = (unsigned char)((sent + i) * 7 >> 3);
		n = len ? write(p->b, buf, len) : 0;
		if (n > 0)
			sent += (size_t)n;
		n = read(p->a, buf, 1 + (got + sent) % STEP);
		for (ssize_t i = 0; i < n; i++)
			same &= buf[i] == (unsigned char)((got + (size_t)i) * 7
							  >> 3);
		if (n > 0)
			got += (size_t)n;
	}
	CHECK(got == LEN && same);
}

enum { SPLICES = 40 };

/* From the end @fd into a pipe and out again to @fd: "x". */
static bool splice_back(int fd, const int pipe[2])
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, PAIR_PATIENCE_MS) == 1 &&
	       splice(fd, NULL, pipe[1], NULL, 1, 0) == 1 &&
	       splice(pipe[0], NULL, fd, NULL, 1, 0) == 1;
}

/* A program that the first splice() tells no goes another way.  If the first one
 * works, all others do: by then bytes may be in the pipe. */
static void splices(struct pair *p)
{
	int pipe_of[2], i;

	CHECK(!pipe(pipe_of));
	for (i = 0; i < SPLICES; i++) {
		pair_poke(p->b);
		if (!splice_back(p->a, pipe_of) || !pair_expect(p->b, 1))
			break;
	}
	CHECK(i == SPLICES || (i == 0 && errno == EINVAL));
	close(pipe_of[0]);
	close(pipe_of[1]);
}

int main(void)
{
	pair_case("read and write", read_write);
	pair_case("what fortified programs call", fortified);
	pair_case("readv and writev", vectors);
	pair_case("vectors that are too long", vectors_too_long);
	pair_case("preadv2 and pwritev2", with_offset);
	pair_case("recv with flags", flags);
	pair_case("MSG_TRUNC", thrown_away);
	pair_case("calls without bytes", no_bytes);
	pair_case("urgent bytes, queued errors", urgent);
	pair_case("recvfrom and sendto", from_to);
	pair_case("recvmsg and sendmsg", messages);
	pair_case("recvmmsg and sendmmsg", many_messages);
	pair_case("sendfile", files);
	pair_case("splice", splices);
	pair_case("FIONREAD and SIOCOUTQ", counts);
	pair_case("eight megabytes", fill_and_drain);
	return pair_done();
}
