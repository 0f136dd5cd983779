/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forger - a process that misuses what tuxd's programs offer
 *
 *   forger marks N       marks N sockets and keeps them until it is ended:
 *                        "marked N each BYTES first US last US", a mark's time
 *                        in the first and in the last thousandth
 *   forger nonsense N    N options at tuxd's level, of any name, length and
 *                        address, on sockets of any kind; all but marks fail
 *   forger shake IFACE MAC FROM TO PORT KIND
 *                        a TCP handshake of its own making, on the link, from
 *                        FROM to PORT of TO at the Ethernet address MAC; its
 *                        option is of KIND (kinds[] below).  Sends a byte:
 *                        "echoed", or "refused"
 *   forger spray ADDR SECONDS
 *                        garbage, HELLOs and other packets, to all UDP ports
 *                        of ADDR in turn: "sprayed N"
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sock_diag.h>

#include "announce_bpf.h"
#include "base/bytes.h"
#include "handshake/mark.h"
#include "../net/segment.h"
#include "tuxd_bpf.h"
#include "wire/key.h"
#include "wire/pkt.h"

enum {
	SPARE_FDS = 64,
	OPTION = 20, OPTIONS_MAX = 40,
	IP_AT = 14, TCP_AT = 34, FRAME = 2048,
	WAIT_MS = 2000,
	BATCH = 64, SPRAYED = 256,
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned number(const char *text)
{
	return (unsigned)strtoul(text, NULL, 10);
}

static double micros(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static uint32_t any(void)
{
	return (uint32_t)mrand48();
}

/* ---- many marks ---- */

struct told {			/* by the processes that mark */
	unsigned marked;
	unsigned each;		/* bytes */
	double first, last;	/* us, of a thousand marks */
};

static unsigned option_memory(int fd)
{
	uint32_t m[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(m);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, m, &len))
		die("SO_MEMINFO");
	return m[SK_MEMINFO_OPTMEM];
}

static void mark_some(struct told *t, unsigned n, unsigned thousand)
{
	double took = 0, began;
	unsigned i;
	int fd = -1, err;

	for (i = 0; i < n; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (fd < 0)
			die("socket");
		began = micros();
		err = tux_mark(fd, i + 1, 0, TUX_REASON_NONE);
		took += micros() - began;
		if (err)
			break;
		if (i % thousand != thousand - 1)
			continue;
		t->last = took / thousand;
		t->first = t->first > 0 ? t->first : t->last;
		took = 0;
	}
	for (n = 0; n < thousand; n++)	/* one socket, again and again */
		tux_mark(fd, n + 1, 0, TUX_REASON_NONE);
	t->marked += i;
	t->each = option_memory(fd);
}

static int marks(unsigned n)
{
	struct told *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned at, k, thousand = n / 100;
	struct rlimit most;
	int ready[2];
	char byte;

	if (t == MAP_FAILED || getrlimit(RLIMIT_NOFILE, &most) || pipe(ready))
		die("marks");
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
	for (at = 0; at < n; at += k) {
		k = (unsigned)most.rlim_max - SPARE_FDS;
		k = k < n - at ? k : n - at;
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			mark_some(t, k, thousand);
			close(ready[1]);
			pause();
		}
		close(ready[1]);	/* it ends when the child is ready */
		if (read(ready[0], &byte, 1) != 0 || pipe(ready))
			die("pipe");
	}
	printf("marked %u each %u first %.1f last %.1f\n", t->marked, t->each,
	       t->first, t->last);
	fflush(stdout);
	pause();
	return 0;
}

/* ---- options that make no sense ---- */

static int nonsense(unsigned n)
{
	static uint8_t value[16384];
	const int fd[] = {
		socket(AF_INET, SOCK_STREAM, 0),
		socket(AF_INET6, SOCK_STREAM, 0),
		socket(AF_INET, SOCK_DGRAM, 0),
		socket(AF_UNIX, SOCK_STREAM, 0),
	};
	const int names[] = { 0, TUX_BPF_MARK, TUX_BPF_READ, TUX_BPF_CONF };
	unsigned i, done = 0;
	int name;

	for (i = 0; i < n; i++) {
		name = any() % 4 ? names[any() % 4] + (int)(any() % 256) :
				   (int)any();
		if (!setsockopt(fd[any() % 4], TUX_BPF_LEVEL, name,
				any() % 8 ? value + any() % 64 :
					    (void *)(uintptr_t)any(),
				(socklen_t)(any() % 4 ? any() % 64 : any())))
			done += (name & ~0xff) != TUX_BPF_MARK;
	}
	printf("nonsense %u done %u\n", n, done);
	return 0;
}

/* ---- a handshake of its own making ---- */

struct forged {
	uint8_t p[OPTIONS_MAX];
	size_t len;
};

/* How an option differs from one that is right. */
static const struct kind {
	const char *name;
	uint8_t len;		/* as it says, 0: OPTION */
	uint8_t really;		/* bytes, 0: OPTION */
	uint16_t port;
	uint8_t version, why;
	bool hash, nonce;	/* ... is wrong; is 0 */
	int more;		/* 1: a wrong one follows; -1: is before */
} kinds[] = {
	{ "good", .port = 4001 },
	{ "hash", .hash = true },
	{ "nonce", .nonce = true },
	{ "two", .more = 1, .port = 4001 },
	{ "two-wrong", .more = -1 },
	{ "short", .len = 4, .really = 4 },
	{ "old", .len = 16, .really = 16 },
	{ "long", .len = 40, .really = 40 },
	{ "beyond", .len = 200 },
	{ "none", .len = 1 },
	{ "port-0", .port = 0 },
	{ "port-65535", .port = 65535 },
	{ "version-255", .version = 255 },
	{ "why-255", .why = 255 },
	{ .name = NULL },
};

static void put_option(struct forged *f, const struct kind *k, bool wrong,
		       const struct tux_tuple *t)
{
	const uint64_t nonce = k->nonce ? 0 : 0x7766554433221101;
	uint8_t *p = f->p + f->len;

	p[0] = TUX_OPT_KIND;
	p[1] = k->len ? k->len : OPTION;
	tux_put16(p + 2, TUX_OPT_ID);
	if (!k->really || k->really >= OPTION) {
		tux_put64(p + 4, nonce);
		tux_put32(p + 12, tux_key_places(t, nonce) ^ wrong);
		tux_put16(p + 16, k->port);
		p[18] = k->version ? k->version : TUX_OPT_VERSION;
		p[19] = k->why;
	}
	f->len += k->really ? k->really : OPTION;
}

static struct forged forge(const struct kind *k, const struct tux_tuple *t)
{
	struct forged f = { .len = 0 };

	if (k->more < 0)
		put_option(&f, k, true, t);
	put_option(&f, k, k->hash, t);
	if (k->more > 0)
		put_option(&f, k, true, t);
	return f;
}

static int open_link(const char *name)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	struct packet_mreq all = {
		.mr_ifindex = at.sll_ifindex, .mr_type = PACKET_MR_PROMISC,
	};
	struct timeval patience = { .tv_usec = 100000 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all,
		       sizeof(all)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)))
		die(name);
	return fd;
}

/* A segment to @own with all of @flags and @want bytes of data: what answers it
 * is in *@s. */
static bool hear(int fd, const struct tux_addr *own, uint8_t flags, size_t want,
		 struct segment *s)
{
	double until = micros() + WAIT_MS * 1e3;
	uint8_t f[FRAME];
	size_t ip_len;
	ssize_t n;

	while (micros() < until) {
		n = recv(fd, f, sizeof(f), 0);
		if (n < TCP_AT + 20 || f[IP_AT + 9] != IPPROTO_TCP ||
		    memcmp(f + IP_AT + 16, own->ip + 12, 4) ||
		    tux_get16(f + TCP_AT + 2) != own->port)
			continue;
		ip_len = tux_get16(f + IP_AT + 2);
		if ((f[TCP_AT + 13] & flags) != flags ||
		    ip_len < 20u + 4 * (f[TCP_AT + 12] >> 4) + want)
			continue;
		s->ack = tux_get32(f + TCP_AT + 4) + 1;
		s->seq = tux_get32(f + TCP_AT + 8);
		return true;
	}
	return false;
}

static struct tux_addr addr(const char *ip, uint16_t port)
{
	struct tux_addr a = { .ip = { [10] = 0xff, 0xff }, .port = port };

	if (inet_pton(AF_INET, ip, a.ip + 12) != 1)
		die(ip);
	return a;
}

static void out(int fd, const struct tux_eth_macs *m,
		const struct tux_tuple *t, const struct segment *s)
{
	uint8_t p[SEGMENT_MAX];
	size_t len = segment_build(p, m, &t->active, &t->passive, s);

	if (send(fd, p, len, 0) != (ssize_t)len)
		die("send");
}

static bool shake(int fd, const struct tux_eth_macs *m,
		  const struct tux_tuple *t, const struct kind *k)
{
	struct forged f = forge(k, t);
	struct segment s = { .seq = any(), .flags = SEGMENT_SYN, .options = f.p,
			     .options_len = f.len };

	out(fd, m, t, &s);
	if (!hear(fd, &t->active, SEGMENT_SYN | SEGMENT_ACK, 0, &s))
		return false;
	s.flags = SEGMENT_ACK;
	s.options_len = 0;
	out(fd, m, t, &s);
	s.data = (const uint8_t *)"x";
	s.len = 1;
	out(fd, m, t, &s);
	s.len = 0;
	if (!hear(fd, &t->active, SEGMENT_ACK, 1, &s))
		return false;
	s.flags = SEGMENT_RST;
	out(fd, m, t, &s);
	return true;
}

static int shake_once(char **argv)
{
	const uint8_t own[] = { 2, 0, 0, 0, 0, 9 };
	struct tux_eth_macs m;
	struct tux_tuple t = { addr(argv[4], 40000),
			       addr(argv[5], (uint16_t)number(argv[6])) };
	const struct kind *k = kinds;
	uint8_t *b = m.to;

	memcpy(m.from, own, sizeof(own));
	while (k->name && strcmp(k->name, argv[7]))
		k++;
	if (!k->name ||
	    sscanf(argv[3], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", b, b + 1, b + 2,
		   b + 3, b + 4, b + 5) != TUX_ETH_MAC)
		return 2;
	puts(shake(open_link(argv[2]), &m, &t, k) ? "echoed" : "refused");
	return 0;
}

/* ---- to all ports ---- */

/* What a stranger makes up; its length. */
static size_t make_up(uint8_t *p, unsigned i)
{
	struct tux_pkt h = { .flags = i % 4 == 1 ? TUX_PKT_OPEN : 0,
			     .id = any(), .seq = any() };
	struct tux_hello hello = {
		.flags = TUX_HELLO_WANT | TUX_HELLO_ACTIVE,
		.version = TUX_WIRE_VERSION, .port = (uint16_t)any(),
		.id = any(), .seq = any(), .window = 1 << 20, .nonce = any(),
		.token = any(), .pkt_max = 1472,
		.tuple = { addr("10.77.0.1", (uint16_t)any()),
			   addr("10.77.0.2", (uint16_t)any()) },
	};
	const struct tux_key k = { any(), any() };
	struct tux_writer w;
	size_t j;

	for (j = 0; j < SPRAYED; j++)
		p[j] = (uint8_t)any();
	if (i % 4 == 0)
		return SPRAYED;
	tux_writer_init(&w, p, SPRAYED);
	if (h.flags)
		tux_writer_hello(&w, &hello);
	else
		tux_writer_add(&w, TUX_REC_PING, 0, 0);
	return tux_writer_end(&w, &h, &k);
}

static int spray(const char *ip, unsigned seconds)
{
	static struct mmsghdr msg[BATCH];
	static struct iovec iov[BATCH];
	static uint8_t p[BATCH][SPRAYED];
	struct sockaddr_in to[BATCH];
	double until = micros() + seconds * 1e6;
	int fd = socket(AF_INET, SOCK_DGRAM, 0), n;
	unsigned long sent = 0;
	uint16_t port = 0;
	unsigned i;

	for (i = 0; i < BATCH; i++) {
		to[i] = (struct sockaddr_in){ .sin_family = AF_INET };
		inet_pton(AF_INET, ip, &to[i].sin_addr);
		iov[i] = (struct iovec){ p[i], make_up(p[i], i) };
		msg[i].msg_hdr = (struct msghdr){
			.msg_name = &to[i], .msg_namelen = sizeof(to[i]),
			.msg_iov = &iov[i], .msg_iovlen = 1,
		};
	}
	while (micros() < until) {
		for (i = 0; i < BATCH; i++)
			to[i].sin_port = htons(++port ? port : ++port);
		n = sendmmsg(fd, msg, BATCH, 0);
		sent += n > 0 ? (unsigned)n : 0;
	}
	printf("sprayed %lu\n", sent);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	srand48((long)micros());
	if (!strcmp(what, "marks") && argc == 3)
		return marks(number(argv[2]));
	if (!strcmp(what, "nonsense") && argc == 3)
		return nonsense(number(argv[2]));
	if (!strcmp(what, "shake") && argc == 8)
		return shake_once(argv);
	if (!strcmp(what, "spray") && argc == 4)
		return spray(argv[2], number(argv[3]));
	return 2;
}
