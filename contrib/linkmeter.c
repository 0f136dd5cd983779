/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linkmeter - what TCP carried over an interface, as the kernel's tc sees it
 *
 *   linkmeter INTERFACE [EVERY_MS]
 *
 * Puts a program that counts TCP payload (bpf/link.bpf.c) on both directions of
 * the interface.  Tux's packets do not come by there: they are UDP, and AF_XDP
 * is elsewhere.  Prints "ready tso=on" or "ready tso=off", with EVERY_MS a line
 * of totals so often; on SIGTERM the last, and takes everything off again.
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "link_bpf.h"

/* What clang made of bpf/link.bpf.c, an ELF object. */
static const _Alignas(8) unsigned char object[] = {
#include "link_bpf.inc"
};

struct meter {
	const char *name;
	struct bpf_object *object;
	struct bpf_tc_hook hook;
	int counts, cpus;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "linkmeter: %s: %s\n", what, strerror(err));
	exit(1);
}

/* ---- on and off ---------------------------------------------------------- */

static int attach(struct meter *m, const char *prog,
		  enum bpf_tc_attach_point at)
{
	struct bpf_program *p;
	DECLARE_LIBBPF_OPTS(bpf_tc_opts, o, .handle = 1, .priority = 1);

	p = bpf_object__find_program_by_name(m->object, prog);
	o.prog_fd = bpf_program__fd(p);
	m->hook.attach_point = at;
	return bpf_tc_attach(&m->hook, &o);
}

static void detach(struct meter *m)
{
	m->hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
	bpf_tc_hook_destroy(&m->hook);
	bpf_object__close(m->object);
}

/* A hook that is somebody else's is not ours to use, or to take off. */
static void hook(struct meter *m)
{
	DECLARE_LIBBPF_OPTS(bpf_tc_hook, h,
			    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	int err;

	h.ifindex = (int)if_nametoindex(m->name);
	if (!h.ifindex)
		die(m->name, errno);
	m->hook = h;
	err = bpf_tc_hook_create(&m->hook);
	if (err)
		die("cannot use tc there", -err);
	err = attach(m, "link_in", BPF_TC_INGRESS);
	if (!err)
		err = attach(m, "link_out", BPF_TC_EGRESS);
	if (err) {
		detach(m);
		die("attaching", -err);
	}
}

static void load(struct meter *m)
{
	int err;

	m->object = bpf_object__open_mem(object, sizeof(object), NULL);
	if (!m->object)
		die("opening the program", errno);
	err = bpf_object__load(m->object);
	if (err)
		die("loading the program", -err);
	m->counts = bpf_object__find_map_fd_by_name(m->object, "counts");
	m->cpus = libbpf_num_possible_cpus();
	if (m->counts < 0 || m->cpus < 1)
		die("finding the counts", ENOENT);
}

/* ---- what it says -------------------------------------------------------- */

static struct link_bpf_count sum(const struct meter *m, uint32_t way)
{
	struct link_bpf_count *c = calloc((size_t)m->cpus, sizeof(*c)), s = { 0 };
	int i;

	if (!c || bpf_map_lookup_elem(m->counts, &way, c))
		die("reading the counts", errno);
	for (i = 0; i < m->cpus; i++) {
		s.bytes += c[i].bytes;
		s.packets += c[i].packets;
	}
	free(c);
	return s;
}

static void print_sums(const struct meter *m)
{
	struct link_bpf_count in = sum(m, LINK_BPF_IN);
	struct link_bpf_count out = sum(m, LINK_BPF_OUT);

	printf("in=%llu out=%llu segs_in=%llu segs_out=%llu source=tc "
	       "lost=no\n", in.bytes, out.bytes, in.packets, out.packets);
	fflush(stdout);
}

/* Does the interface take super-packets of TCP? */
static bool has_tso(const char *name)
{
	struct ethtool_value v = { .cmd = ETHTOOL_GTSO };
	struct ifreq r = { .ifr_data = (void *)&v };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool tso;

	strncpy(r.ifr_name, name, sizeof(r.ifr_name) - 1);
	tso = fd >= 0 && !ioctl(fd, SIOCETHTOOL, &r) && v.data;
	close(fd);
	return tso;
}

static int stop_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
	struct meter m = { 0 };
	struct pollfd p = { .events = POLLIN };
	int every = argc > 2 ? atoi(argv[2]) : 0;

	if (argc < 2 || argc > 3 || every < 0) {
		fprintf(stderr, "usage: linkmeter INTERFACE [EVERY_MS]\n");
		return 2;
	}
	m.name = argv[1];
	p.fd = stop_signals();
	/* Whoever started it may be killed, and could not end it. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	libbpf_set_print(NULL);
	load(&m);
	hook(&m);
	printf("ready tso=%s\n", has_tso(m.name) ? "on" : "off");
	fflush(stdout);
	while (poll(&p, 1, every ? every : -1) <= 0 && !p.revents)
		print_sums(&m);
	print_sums(&m);
	detach(&m);
	return 0;
}
