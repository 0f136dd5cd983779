/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss_sim - one-way latency of messages over a path that loses, in virtual time
 *
 * Two hosts, and between them a link of 10 Gb/s that delays and loses at random,
 * both ways alike.  Messages of one size are sent at Poisson instants, whether
 * those before have arrived or not, and each is counted from its instant until
 * its reader has it.  Processing takes no time.  Contenders: Tux messages with
 * and without order, on the real core; and kernel TCP, by its model.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../t/sim/sim.h"
#include "arrivals.h"
#include "base/bytes.h"
#include "conn/msgbox.h"
#include "ktcp.h"
#include "latency.h"
#include "option.h"

enum {
	SIZE_MAX_ = 16384,
	BATCH = 32,
	QUEUE = 1 << 20,		/* messages that wait for room, at most */
	OPEN_MS = 50,			/* until the first */
	DRAIN_S = 10,
	HEADERS = 32,			/* of TCP, timestamps included */
};

static const uint64_t RATE = 1250000000;	/* bytes a second */

struct flow {
	struct sim *s;
	const char *contender;
	unsigned flags;			/* of Tux messages */
	uint32_t size, loss;		/* loss: of a million */
	tux_time rtt, from, until;	/* measured in between */
	struct arrivals arrivals;
	uint64_t *queue;		/* instants; waiting, or with TCP */
	uint64_t head, tail;
	struct histogram latency;
	/* Tux */
	struct sim_end *a, *b;
	bool a_due, b_due;
	/* TCP */
	struct ktcp tcp;
	tux_time timer_at;
};

static struct flow flow;		/* sim_host's events have no other arg */

static void count(struct flow *f, tux_time sent)
{
	if (sent >= f->from && sent < f->until)
		histogram_add(&f->latency, f->s->now - sent);
}

/* ---- Tux --------------------------------------------------------------- */

static void ring(struct sim_end *e)
{
	atomic_fetch_or(&e->dx->rung, TUX_DOORBELL_MESSAGE);
	sim_host_bell(e);
}

static void tux_pump(struct flow *f)
{
	uint8_t buf[SIZE_MAX_] = { 0 };
	struct iovec v = { buf, f->size };
	uint64_t ref;

	while (f->tail != f->head) {
		tux_put64(buf, f->queue[f->tail % QUEUE]);
		if (tux_msgbox_send(f->a->box, &v, 1, f->flags, false, &ref))
			return;
		f->tail++;
		ring(f->a);
	}
}

static void a_looks(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	(void)s, (void)n, (void)m;
	((struct flow *)arg)->a_due = false;
	tux_pump(arg);
}

static void b_looks(struct sim *s, void *arg, uint64_t k, uint64_t l)
{
	struct flow *f = arg;
	struct tux_msg m[BATCH];
	unsigned i, n;

	(void)s, (void)k, (void)l;
	f->b_due = false;
	while ((n = tux_msgbox_take(f->b->box, m, BATCH))) {
		for (i = 0; i < n; i++)
			count(f, tux_get64(m[i].p));
		if (tux_msgbox_release(f->b->box, m, n))
			ring(f->b);
	}
}

static void on_ready(struct sim_end *e)
{
	struct flow *f = &flow;
	bool *due = e->side ? &f->b_due : &f->a_due;

	if (*due)
		return;
	*due = true;
	sim_at(f->s, f->s->now, e->side ? b_looks : a_looks, f, 0, 0);
}

static void tux_begin(struct flow *f)
{
	struct sim_conn *k;
	unsigned i;

	sim_messages(f->s, &f->a, &f->b);
	k = f->a->conn;
	k->foul = true;			/* the simulation's own checks: off */
	k->tcp.delay = f->rtt / 2;
	for (i = 0; i < 2; i++) {
		k->end[i].paused = true;
		k->end[i].host->ready = on_ready;
	}
}

/* ---- the path ---------------------------------------------------------- */

static void join(struct flow *f)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct sim_link *l = sim_link(&f->s->host[i], &f->s->host[!i]);

		l->delay = f->rtt / 2;
		l->loss = f->loss;
		l->neck = sim_add_neck(f->s, RATE, TUX_SEC(1));
	}
}

/* When what leaves @from now arrives; TUX_NEVER: it is lost. */
static tux_time cross(struct flow *f, unsigned from, uint32_t len)
{
	return sim_net_cross(f->s, sim_link(&f->s->host[from],
					    &f->s->host[!from]), len);
}

/* ---- TCP --------------------------------------------------------------- */

static void tcp_timer(struct sim *s, void *arg, uint64_t n, uint64_t m);

static void tcp_arm(struct flow *f)
{
	tux_time at = ktcp_deadline(&f->tcp);

	if (at >= f->timer_at)
		return;
	f->timer_at = at;
	sim_at(f->s, at < f->s->now ? f->s->now : at, tcp_timer, f, 0, 0);
}

static void tcp_timer(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct flow *f = arg;

	(void)n, (void)m;
	if (f->timer_at > s->now)
		return;
	f->timer_at = TUX_NEVER;
	ktcp_expire(&f->tcp, s->now);
	tcp_arm(f);
}

static void segment_arrives(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct flow *f = arg;

	(void)m;
	ktcp_segment_in(&f->tcp, n, s->now);
	tcp_arm(f);
}

static void on_segment(void *arg, uint64_t n, uint32_t len)
{
	struct flow *f = arg;
	tux_time at = cross(f, 0, len + HEADERS);

	if (at != TUX_NEVER)
		sim_at(f->s, at, segment_arrives, f, n, 0);
}

static void ack_arrives(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct ktcp_ack *a = (struct ktcp_ack *)(uintptr_t)n;
	struct flow *f = arg;

	(void)m;
	ktcp_ack_in(&f->tcp, a, s->now);
	tcp_arm(f);
	free(a);
}

static void on_ack(void *arg, const struct ktcp_ack *a)
{
	struct flow *f = arg;
	tux_time at = cross(f, 1, HEADERS);
	struct ktcp_ack *copy;

	if (at == TUX_NEVER)
		return;
	copy = malloc(sizeof(*copy));
	*copy = *a;
	sim_at(f->s, at, ack_arrives, f, (uintptr_t)copy, 0);
}

static void on_deliver(void *arg, uint64_t off)
{
	struct flow *f = arg;

	for (; (f->tail + 1) * f->size <= off; f->tail++)
		count(f, f->queue[f->tail % QUEUE]);
}

static const struct ktcp_ops tcp_ops = { on_segment, on_ack, on_deliver };

static void tcp_begin(struct flow *f)
{
	sim_add_host(f->s);
	sim_add_host(f->s);
	f->timer_at = TUX_NEVER;
	ktcp_init(&f->tcp, &tcp_ops, f);
}

/* ---- the whole --------------------------------------------------------- */

static bool is_tcp(const struct flow *f)
{
	return !strcmp(f->contender, "kernel-tcp");
}

static void send_one(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct flow *f = arg;

	(void)n, (void)m;
	if (f->head - f->tail == QUEUE)
		option_fail(1, "%s cannot keep up", f->contender);
	f->queue[f->head++ % QUEUE] = s->now;
	if (is_tcp(f)) {
		ktcp_write(&f->tcp, f->size, s->now);
		tcp_arm(f);
	} else {
		tux_pump(f);
	}
	arrivals_step(&f->arrivals);
	if (f->arrivals.next < f->until)
		sim_at(s, f->arrivals.next, send_one, f, 0, 0);
}

static void run(struct flow *f, double rate, uint64_t seed)
{
	f->queue = calloc(QUEUE, sizeof(*f->queue));
	f->s = sim_new(seed, false);
	f->s->mute = true;
	if (is_tcp(f))
		tcp_begin(f);
	else
		tux_begin(f);
	join(f);
	arrivals_init(&f->arrivals, rate, seed, TUX_MSEC(OPEN_MS));
	sim_at(f->s, f->arrivals.next, send_one, f, 0, 0);
	sim_run(f->s, f->until + TUX_SEC(DRAIN_S));
	if (f->tail != f->head)
		option_fail(1, "%s did not bring all", f->contender);
}

static const char usage_text[] =
"usage: bench/loss_sim [OPTION]...\n"
"  --contender NAME  unordered, ordered or kernel-tcp (unordered)\n"
"  --loss PERCENT    of packets, each way (1)\n"
"  --rtt US          (400)\n"
"  --rate R          messages per second (10000)\n"
"  --size BYTES      of a message (1024)\n"
"  --seconds S       how long to measure, after one second (10)\n"
"  --seed N          (1)\n"
"  --cdf FILE        the distribution, as lines \"US FRACTION\"\n"
"Ends with a line messages=N p50=US p90=US p99=US p99.9=US max=US\n";

static void usage(FILE *to, int code)
{
	fputs(usage_text, to);
	exit(code);
}

int main(int argc, char **argv)
{
	static const struct option opt[] = {
		{ "contender", 1, 0, 'c' }, { "loss", 1, 0, 'l' },
		{ "rtt", 1, 0, 'd' }, { "rate", 1, 0, 'r' },
		{ "size", 1, 0, 'z' }, { "seconds", 1, 0, 's' },
		{ "seed", 1, 0, 'n' }, { "cdf", 1, 0, 'f' },
		{ "help", 0, 0, 'h' }, { 0 },
	};
	struct flow *f = &flow;
	tux_time seconds = TUX_SEC(10);
	const char *cdf = NULL;
	double rate = 10000, loss = 1;
	uint64_t seed = 1;
	int k;

	f->contender = "unordered";
	f->size = 1024;
	f->rtt = TUX_USEC(400);
	while ((k = getopt_long(argc, argv, "h", opt, NULL)) != -1) {
		switch (k) {
		case 'c': f->contender = optarg; break;
		case 'l': loss = strtod(optarg, NULL); break;
		case 'd': f->rtt = TUX_USEC(option_number("rtt", optarg, 1,
							  1000000)); break;
		case 'r': rate = option_rate("rate", optarg); break;
		case 'z': f->size = (uint32_t)option_number("size", optarg, 8,
							    SIZE_MAX_); break;
		case 's': seconds = option_seconds("seconds", optarg); break;
		case 'n': seed = option_number("seed", optarg, 0,
					       UINT64_MAX); break;
		case 'f': cdf = optarg; break;
		case 'h': usage(stdout, 0); break;
		default: usage(stderr, 2);
		}
	}
	if (optind != argc || !(loss >= 0 && loss <= 50))
		usage(stderr, 2);
	if (!strcmp(f->contender, "ordered"))
		f->flags = TUX_MSG_ORDERED;
	else if (strcmp(f->contender, "unordered") && !is_tcp(f))
		usage(stderr, 2);
	f->loss = (uint32_t)(loss * 10000);
	f->from = TUX_SEC(1);
	f->until = f->from + seconds;
	run(f, rate, seed);
	latency_print(&f->latency);
	if (cdf && latency_write(&f->latency, cdf))
		option_fail(1, "%s cannot be written", cdf);
	free(f->queue);
	sim_free(f->s, NULL);
	return 0;
}
