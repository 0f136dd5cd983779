/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raw - an echo over AF_XDP and nothing else: no protocol, no losses mended, no
 * sum; the limit of what a stack over AF_XDP can reach
 *
 * Client and server take one queue of an interface each, with the program and
 * the rings that the stack itself uses.  The client's frames go to everybody on
 * the link: it is for a veth, or a cable.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "afxdp/prog.h"
#include "afxdp/xsk.h"
#include "sys/clock.h"
#include "wire/eth.h"
#include "option.h"
#include "report.h"
#include "tux_bpf.h"

enum {
	FRAMES = 1024,
	HDRS = TUX_ETH_HDR + TUX_ETH_V4_HDRS,
	PAYLOAD_MIN = 16, PAYLOAD_MAX = 1472,
	DEPTH_MAX = 256,
	PORT = 9000,
	LOST_MS = 1000,			/* silence after which all is lost */
};

struct raw {
	const char *ifname;
	struct tux_addr local, peer;
	struct tux_xsk xsk;
	struct tux_prog prog;
	bool spin, server;
	uint32_t size, depth;
	tux_time warmup, time;
};

/* What a payload begins with; the rest is filler. */
struct question {
	uint16_t magic;			/* as the program wants it */
	uint16_t zero;
	uint32_t n;			/* which one */
};

struct client {
	struct raw *r;
	struct report *report;
	tux_time asked[DEPTH_MAX];	/* by number, modulo */
	uint32_t next, got;		/* to be asked, to be answered */
	bool counts;
	uint8_t filler[PAYLOAD_MAX];
};

static volatile sig_atomic_t stopped;

static void on_term(int sig)
{
	stopped = sig;
}

static void check(int err, const char *what)
{
	if (err)
		option_fail(1, "%s: %s", what, strerror(err < 0 ? -err : err));
}

/* ---- the interface ---- */

static void take(struct raw *r)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	unsigned ifindex = if_nametoindex(r->ifname);

	if (!ifindex)
		option_fail(1, "%s: %s", r->ifname, strerror(errno));
	setrlimit(RLIMIT_MEMLOCK, &all);
	tux_prog_init(&r->prog);
	if (tux_prog_load(&r->prog) || tux_prog_attach(&r->prog, ifindex))
		option_fail(1, "%s: needs AF_XDP, which does not work here",
			    r->ifname);
	check(tux_xsk_open(&r->xsk, FRAMES), "socket");
	check(tux_xsk_bind(&r->xsk, ifindex, 0, XDP_COPY), "bind");
	check(tux_prog_queue(&r->prog, 0, r->xsk.fd), "queue");
	check(tux_prog_add(&r->prog, &r->local), "flow");
}

static void give_back(struct raw *r)
{
	tux_prog_close(&r->prog);
	tux_xsk_close(&r->xsk);
}

/* Waits for frames, not longer than LOST_MS. */
static unsigned receive(struct raw *r, struct tux_xsk_frame *f)
{
	unsigned n = tux_xsk_rx(&r->xsk, f, TUX_XSK_BATCH);
	struct pollfd p = { .fd = r->xsk.fd, .events = POLLIN };

	if (n || r->spin)
		return n;
	poll(&p, 1, LOST_MS);
	return tux_xsk_rx(&r->xsk, f, TUX_XSK_BATCH);
}

static void kick(struct raw *r)
{
	int err;

	do
		err = tux_xsk_kick(&r->xsk);
	while (err == -EAGAIN && !stopped);
	check(err, "send");
}

/* ---- server ---- */

static void swap(uint8_t *a, uint8_t *b, size_t n)
{
	uint8_t t[TUX_ETH_MAC];

	memcpy(t, a, n);
	memcpy(a, b, n);
	memcpy(b, t, n);
}

/* The sum of the IPv4 header is the same afterwards; that of UDP is none. */
static void turn_round(uint8_t *p)
{
	uint8_t *ip = p + TUX_ETH_HDR, *udp = ip + 20;

	swap(p, p + TUX_ETH_MAC, TUX_ETH_MAC);
	swap(ip + 12, ip + 16, 4);
	swap(udp, udp + 2, 2);
}

static void serve(struct raw *r)
{
	struct tux_xsk_frame f[TUX_XSK_BATCH];
	unsigned i, n = receive(r, f), sent = 0;

	for (i = 0; i < n; i++) {
		uint16_t to = tux_xsk_build(&r->xsk);
		uint8_t *p;

		if (to == TUX_UMEM_NONE)
			break;
		p = tux_umem_at(&r->xsk.umem, to);
		memcpy(p, f[i].p, f[i].len);
		turn_round(p);
		tux_xsk_send(&r->xsk, to, 0, f[i].len);
		sent++;
	}
	if (sent)
		kick(r);
}

/* ---- client ---- */

static void ask(struct client *c, tux_time now)
{
	static const struct tux_eth_macs macs = {
		.to = { 255, 255, 255, 255, 255, 255 },
		.from = { 2, 0, 0, 0, 0, 1 },
	};
	struct question q = { htons(TUX_BPF_MAGIC), 0, c->next };
	struct raw *r = c->r;
	uint16_t f = tux_xsk_build(&r->xsk);
	uint8_t *p = tux_umem_at(&r->xsk.umem, f) + TUX_ETH_ROOM;
	size_t hdrs;

	if (f == TUX_UMEM_NONE)
		option_fail(1, "no frame to send");
	memcpy(p, &q, sizeof(q));
	memcpy(p + sizeof(q), c->filler, r->size - sizeof(q));
	hdrs = tux_eth_build(p, r->size, &macs, &r->local, &r->peer,
			     TUX_ECN_NONE);
	tux_xsk_send(&r->xsk, f, TUX_ETH_ROOM - hdrs, hdrs + r->size);
	c->asked[c->next++ % DEPTH_MAX] = now;
}

static void answered(struct client *c, const struct tux_xsk_frame *f,
		     tux_time now)
{
	struct question q;

	if (f->len != HDRS + c->r->size) {
		c->report->errors++;
		return;
	}
	memcpy(&q, f->p + HDRS, sizeof(q));
	if (q.n != c->got || memcmp(f->p + HDRS + sizeof(q), c->filler,
				    c->r->size - sizeof(q)))
		c->report->errors++;
	c->got = q.n + 1;
	if (c->counts)
		histogram_add(&c->report->latency,
			      now - c->asked[q.n % DEPTH_MAX]);
}

/* What did not come for so long was lost, and is an error. */
static void ask_for(struct client *c, tux_time time)
{
	struct tux_xsk_frame f[TUX_XSK_BATCH];
	tux_time now = tux_clock_read(), end = now + time, heard_at = now;
	unsigned i, n;

	while (now < end && !stopped) {
		if (now - heard_at > TUX_MSEC(LOST_MS)) {
			c->report->errors += c->next - c->got;
			c->got = c->next;
			heard_at = now;
		}
		n = c->next;
		while (c->next - c->got < c->r->depth)
			ask(c, now);
		if (n != c->next)
			kick(c->r);
		n = receive(c->r, f);
		now = tux_clock_read();
		for (i = 0; i < n; i++)
			answered(c, &f[i], now);
		heard_at = n ? now : heard_at;
	}
}

static void measure(struct raw *r, struct report *report)
{
	static struct client c;
	uint32_t i;

	c.r = r;
	c.report = report;
	for (i = 0; i < PAYLOAD_MAX; i++)
		c.filler[i] = (uint8_t)('!' + i % 89);
	ask_for(&c, r->warmup);
	report->errors = 0;
	puts("measuring");
	report_begin(report, tux_clock_read());
	c.counts = true;
	ask_for(&c, r->time);
	report_end(report, tux_clock_read());
	report_print(report);
}

/* ---- the command line ---- */

static void usage(FILE *to, int code)
{
	fputs("usage: bench/raw --interface IF --local A --peer A [OPTION]...\n"
	      "  --server      send back what comes, until ended\n"
	      "  --size BYTES  of a payload, 16 to 1472 (64)\n"
	      "  --in-flight N questions under way, at most 256 (1)\n"
	      "  --seconds S   how long to measure (3)\n"
	      "  --warm-up S   run for so long before (1)\n"
	      "  --spin        look at the ring again and again; else poll()\n"
	      "  --cpu-of PID  count this process in cpu_all, too\n"
	      "Needs privilege.  Prints what bench/load does.\n", to);
	exit(code);
}

static struct tux_addr address(const char *s)
{
	struct tux_addr a = { .ip = { [10] = 0xff, [11] = 0xff },
			      .port = PORT };

	if (inet_pton(AF_INET, s, a.ip + 12) != 1)
		option_fail(2, "%s: not an IPv4 address", s);
	return a;
}

static void set(struct raw *r, struct report *report, int k, const char *what)
{
	switch (k) {
	case 'i': r->ifname = optarg; break;
	case 'l': r->local = address(optarg); break;
	case 'p': r->peer = address(optarg); break;
	case 's': r->server = true; break;
	case 'S': r->spin = true; break;
	case 'z':
		r->size = (uint32_t)option_number(what, optarg, PAYLOAD_MIN,
						  PAYLOAD_MAX);
		break;
	case 'f':
		r->depth = (uint32_t)option_number(what, optarg, 1, DEPTH_MAX);
		break;
	case 't': r->time = option_seconds(what, optarg); break;
	case 'w': r->warmup = option_seconds(what, optarg); break;
	case 'C':
		check(cpu_add(&report->others, (pid_t)option_number(
			what, optarg, 1, INT32_MAX)), "--cpu-of");
		break;
	default: usage(k == 'H' ? stdout : stderr, k == 'H' ? 0 : 2);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "interface", 1, 0, 'i' }, { "local", 1, 0, 'l' },
		{ "peer", 1, 0, 'p' }, { "server", 0, 0, 's' },
		{ "spin", 0, 0, 'S' }, { "size", 1, 0, 'z' },
		{ "in-flight", 1, 0, 'f' }, { "seconds", 1, 0, 't' },
		{ "warm-up", 1, 0, 'w' }, { "cpu-of", 1, 0, 'C' },
		{ "help", 0, 0, 'H' }, { 0 },
	};
	static struct report report;
	static struct raw r = {
		.size = 64, .depth = 1,
		.warmup = TUX_SEC(1), .time = TUX_SEC(3),
	};
	struct sigaction sa = { .sa_handler = on_term };
	int k, i = 0;

	while ((k = getopt_long(argc, argv, "", options, &i)) != -1)
		set(&r, &report, k, options[i].name);
	if (optind != argc || !r.ifname || !r.local.port || !r.peer.port)
		usage(stderr, 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	take(&r);
	if (r.server) {
		while (!stopped)
			serve(&r);
	} else {
		measure(&r, &report);
	}
	give_back(&r);
	return report.errors ? 1 : 0;
}
