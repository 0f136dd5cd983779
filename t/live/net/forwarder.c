/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forwarder - a wire between two interfaces that damages what it carries
 *
 *   forwarder IFA IFB [--seed S] [--loss P] [--dup P] [--reorder P]
 *             [--corrupt P] [--spike P] [--delay US] [--jitter US]
 *             [--rate BYTES] [--udp-only] [--spare-resets] [--strip KIND]
 *             [--refuse KIND] [--refuse-answers KIND] [--nat FROM=TO]
 *             [--mark N] [--longest BYTES]
 *
 * Moves Ethernet frames between the two by packet sockets, so it sits where
 * every packet passes, those of AF_XDP too.  Offload headers go along: what a
 * veth left undone stays undone.  --spike holds all up, now and then, for a part
 * of a second; --spare-resets loses no reset of TCP, since the kernel sends none
 * twice; --strip blanks a TCP option in SYNs, --refuse drops SYNs and SYN-ACKs that
 * have it, --refuse-answers those from IFB; with --nat what goes to address FROM
 * from IFA reaches TO behind IFB; --mark sets CE on every N-th UDP packet that has ECT; --longest silently drops UDP in
 * IP packets of more than BYTES, headers included, while the path is narrow.
 * Prints "ready"; SIGUSR1 begins and ends a blackhole for UDP, SIGUSR2
 * the narrowness; SIGTERM ends it, with a line of counts per direction.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>

#include "alter.h"
#include "faults.h"
#include "mark.h"
#include "narrow.h"

enum { FRAME = 70000, BATCH = 64, BUFFER = 32 << 20 };

struct wire {
	const char *name[2];
	int fd[2], signals;
	struct faults faults;
	struct alter alter;
	struct mark mark;
	struct narrow narrow;
};

static void die(const char *what, const char *name)
{
	fprintf(stderr, "forwarder: %s %s: %s\n", what, name, strerror(errno));
	exit(1);
}

static tux_time now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return TUX_SEC(t.tv_sec) + (tux_time)t.tv_nsec;
}

static void set(int fd, int level, int option, int value, const char *name)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		die("setting up", name);
}

/* As much as it may: who is root in a user namespace only gets the usual. */
static void make_room(int fd)
{
	static const int option[] = {
		SO_RCVBUF, SO_SNDBUF, SO_RCVBUFFORCE, SO_SNDBUFFORCE,
	};
	int room = BUFFER;
	size_t i;

	for (i = 0; i < sizeof(option) / sizeof(option[0]); i++)
		setsockopt(fd, SOL_SOCKET, option[i], &room, sizeof(room));
}

static int open_side(const char *name)
{
	struct sockaddr_ll a = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	struct packet_mreq m = {
		.mr_ifindex = a.sll_ifindex, .mr_type = PACKET_MR_PROMISC,
	};
	int fd;

	if (!a.sll_ifindex)
		die("interface", name);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		die("packet socket for", name);
	set(fd, SOL_PACKET, PACKET_VNET_HDR, 1, name);
	set(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, name);
	set(fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1, name);
	make_room(fd);
	if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m)) ||
	    bind(fd, (void *)&a, sizeof(a)))
		die("setting up", name);
	return fd;
}

static void take_in(struct wire *w, unsigned side)
{
	static uint8_t frame[FRAME];
	const struct virtio_net_hdr *offload = (const void *)frame;
	uint8_t *eth = frame + sizeof(*offload);
	int i;

	for (i = 0; i < BATCH; i++) {
		ssize_t n = recv(w->fd[side], frame, sizeof(frame), 0);
		size_t len = (size_t)n - sizeof(*offload);

		if (n < (ssize_t)sizeof(*offload))
			return;
		if (!alter_frame(&w->alter, side, eth, len,
				 offload->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) ||
		    !narrow_frame(&w->narrow, side, eth, len))
			continue;
		mark_frame(&w->mark, side, eth, len);
		faults_add(&w->faults, side, frame, (size_t)n,
			   sizeof(*offload), now());
	}
}

static void put_out(struct wire *w)
{
	struct faults_packet *p;

	while ((p = faults_take(&w->faults, now()))) {
		if (send(w->fd[!p->side], p->bytes, p->len, 0) < 0)
			w->faults.n[p->side].overflowed++;
		free(p);
	}
}

static struct timespec *until(tux_time at, struct timespec *t)
{
	tux_time in = at, present = now();

	if (at == TUX_NEVER)
		return NULL;
	in = at > present ? at - present : 0;
	t->tv_sec = (time_t)(in / TUX_SEC(1));
	t->tv_nsec = (long)(in % TUX_SEC(1));
	return t;
}

static void run(struct wire *w)
{
	struct pollfd p[3] = {
		{ .fd = w->fd[0], .events = POLLIN },
		{ .fd = w->fd[1], .events = POLLIN },
		{ .fd = w->signals, .events = POLLIN },
	};
	struct signalfd_siginfo s;
	struct timespec t;

	for (;;) {
		if (ppoll(p, 3, until(faults_deadline(&w->faults), &t),
			  NULL) < 0 && errno != EINTR)
			die("waiting for", w->name[0]);
		if (p[2].revents && read(w->signals, &s, sizeof(s)) > 0) {
			if (s.ssi_signo == SIGUSR1)
				w->faults.blackhole = !w->faults.blackhole;
			else if (s.ssi_signo == SIGUSR2)
				w->narrow.on = !w->narrow.on;
			else
				return;
		}
		if (p[0].revents)
			take_in(w, 0);
		if (p[1].revents)
			take_in(w, 1);
		put_out(w);
	}
}

static void report(const struct wire *w)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		const struct faults_counts *n = &w->faults.n[i];

		printf("%s > %s: passed %" PRIu64 " unharmed %" PRIu64
		       " lost %" PRIu64 " doubled %" PRIu64 " reordered %"
		       PRIu64 " corrupted %" PRIu64 " blackholed %" PRIu64
		       " overflowed %" PRIu64 " ect %" PRIu64 " marked %"
		       PRIu64 " too-long %" PRIu64 " fitting %" PRIu64
		       " fragments %" PRIu64 " tcp-bytes %" PRIu64
		       " spikes %" PRIu64 "\n",
		       w->name[i], w->name[!i],
		       n->passed, n->unharmed, n->lost, n->doubled,
		       n->reordered, n->corrupted, n->blackholed,
		       n->overflowed, w->mark.ect_n[i], w->mark.ce_n[i],
		       w->narrow.too_long_n[i], w->narrow.fitting_n[i],
		       w->narrow.fragment_n[i], w->narrow.tcp_bytes[i],
		       n->spikes);
	}
}

static int listen_to_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void usage(void)
{
	fputs("usage: forwarder IFA IFB [--seed S] [--loss P] [--dup P]\n"
	      "       [--reorder P] [--corrupt P] [--delay US] [--jitter US]\n"
	      "       [--rate BYTES] [--spike P] [--udp-only] [--spare-resets]\n"
	      "       [--strip KIND] [--refuse KIND] [--refuse-answers KIND]\n"
	      "       [--nat FROM=TO]\n"
	      "       [--mark N] [--longest BYTES]\n", stderr);
	exit(2);
}

static double number(const char *s, double max)
{
	char *end;
	double n = strtod(s, &end);

	if (end == s || *end || !(n >= 0 && n <= max))
		usage();
	return n;
}

static void parse_nat(struct alter *a, char *s)
{
	char *to = strchr(s, '=');

	if (!to)
		usage();
	*to++ = 0;
	a->nat = true;
	if (inet_pton(AF_INET, s, a->from) != 1 ||
	    inet_pton(AF_INET, to, a->to) != 1)
		usage();
}

static void parse(int argc, char **argv, struct faults_opts *o,
		  struct alter *a, struct mark *m, struct narrow *w)
{
	static const struct option opt[] = {
		{ "seed", 1, 0, 's' }, { "loss", 1, 0, 'l' },
		{ "dup", 1, 0, 'd' }, { "reorder", 1, 0, 'r' },
		{ "corrupt", 1, 0, 'c' }, { "delay", 1, 0, 'y' },
		{ "jitter", 1, 0, 'j' }, { "rate", 1, 0, 'b' },
		{ "udp-only", 0, 0, 'u' }, { "strip", 1, 0, 't' },
		{ "refuse", 1, 0, 'f' }, { "refuse-answers", 1, 0, 'w' },
		{ "nat", 1, 0, 'n' },
		{ "mark", 1, 0, 'm' }, { "longest", 1, 0, 'g' },
		{ "spike", 1, 0, 'p' }, { "spare-resets", 0, 0, 'a' },
		{ 0 },
	};
	int k;

	while ((k = getopt_long(argc, argv, "", opt, NULL)) != -1) {
		if (k == '?')
			usage();
		else if (k == 's')
			o->seed = (uint64_t)number(optarg, 1e15);
		else if (k == 'l')
			o->loss = number(optarg, 1);
		else if (k == 'd')
			o->dup = number(optarg, 1);
		else if (k == 'r')
			o->reorder = number(optarg, 1);
		else if (k == 'c')
			o->corrupt = number(optarg, 1);
		else if (k == 'p')
			o->spike = number(optarg, 1);
		else if (k == 'y')
			o->delay = TUX_USEC(number(optarg, 1e7));
		else if (k == 'j')
			o->jitter = TUX_USEC(number(optarg, 1e7));
		else if (k == 'b')
			o->rate = (uint64_t)number(optarg, 1e12);
		else if (k == 't')
			a->strip = (unsigned)number(optarg, 255);
		else if (k == 'f')
			a->refuse = (unsigned)number(optarg, 255);
		else if (k == 'w')
			*a = (struct alter){
				.refuse = (unsigned)number(optarg, 255),
				.answers = true,
			};
		else if (k == 'n')
			parse_nat(a, optarg);
		else if (k == 'm')
			m->every = (unsigned)number(optarg, 1e9);
		else if (k == 'g')
			w->longest = (unsigned)number(optarg, UINT16_MAX);
		else if (k == 'a')
			o->spare_resets = true;
		else
			o->udp_only = true;
	}
	if (optind != argc - 2)
		usage();
}

int main(int argc, char **argv)
{
	struct faults_opts o = { .seed = 1 };
	struct wire w = { 0 };
	unsigned i;

	parse(argc, argv, &o, &w.alter, &w.mark, &w.narrow);
	faults_init(&w.faults, &o);
	/* A delay is not to be 50 us longer for the kernel's convenience. */
	prctl(PR_SET_TIMERSLACK, 1);
	w.signals = listen_to_signals();
	for (i = 0; i < 2; i++) {
		w.name[i] = argv[optind + (int)i];
		w.fd[i] = open_side(w.name[i]);
	}
	puts("ready");
	fflush(stdout);
	run(&w);
	report(&w);
	faults_fini(&w.faults);
	return 0;
}
