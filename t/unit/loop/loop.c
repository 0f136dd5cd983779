/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop over UDP that nobody drives but the test, and memory that runs out.
 */
#include "loop/loop.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "../scarce.h"
#include "conn/conn.h"
#include "conn/conn_in.h"
#include "conn/conn_life.h"
#include "conn/hello.h"
#include "conn/settle.h"
#include "udp/udp.h"

static unsigned strangers;

static void on_stranger(void *arg, struct tux_loop *l,
			const struct tux_dgram *d)
{
	(void)arg, (void)l, (void)d;
	strangers++;
}

static void on_refused(void *arg, const struct tux_end *e, enum tux_reason why)
{
	(void)arg;
	(void)e;
	(void)why;
}

struct fixture {
	struct tux_ends ends;
	struct tux_loop *l;
};

static int open_loop(struct fixture *f)
{
	struct tux_loop_opts o = {
		.link = &tux_udp, .link_opts = { .ifname = "lo" },
		.ends = &f->ends, .ack_delay = TUX_MSEC(1),
		.stranger = on_stranger,
		.refused = on_refused,
	};
	int err = tux_ends_init(&f->ends);

	return err ? err : tux_loop_new(&f->l, &o);
}

static void close_loop(struct fixture *f)
{
	tux_loop_free(f->l);
	tux_ends_fini(&f->ends);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(open_loop(f), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close_loop(f);
	free(f);
	return 0;
}

/* Each area in turn: it says so, leaves nothing, and works the next time. */
static void new__any_area_fails(void **state)
{
	struct fixture f = { .l = NULL };
	unsigned fds = test_files();
	bool failed = true;
	int at, err;

	(void)state;
	for (at = 1; failed; at++) {
		memset(&f, 0, sizeof(f));
		scarce_begin(at);
		err = open_loop(&f);
		failed = scarce_failed();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		if (!err)
			tux_loop_turn(f.l);
		else
			assert_null(f.l);
		close_loop(&f);
		assert_int_equal(scarce_live, 0);
		assert_int_equal(test_files(), fds);
	}
	assert_true(at > 6);
	scarce_begin(0);
}

static void new__idle_takes_little(void **state)
{
	struct fixture f[4];
	unsigned fds = test_files(), i, n = sizeof(f) / sizeof(f[0]);
	long before;

	(void)state;
	scarce_begin(0);
	before = scarce_dirty();
	for (i = 0; i < n; i++) {
		assert_int_equal(open_loop(&f[i]), 0);
		while (tux_loop_turn(f[i].l))
			;
	}
	assert_true(test_files() <= fds + 3 * n);
	if (scarce_counts())
		assert_true(scarce_dirty() - before <= (long)n * 64);
	for (i = 0; i < n; i++)
		close_loop(&f[i]);
}

static void ring__is_heard_in_a_turn(void **state)
{
	struct fixture *f = *state;

	while (tux_loop_turn(f->l))
		;
	assert_true(tux_loop_quiet(f->l));
	/* Nobody is there, and that does no harm. */
	tux_loop_ring(f->l, 5);
	assert_false(tux_loop_quiet(f->l));
	assert_int_equal(tux_loop_turn(f->l), 1);
	assert_true(tux_loop_quiet(f->l));
	assert_true(tux_loop_deadline(f->l) == TUX_NEVER);
}

/* Who rings between the last look and sleep is not missed. */
static void prepare_sleep__not_with_something_to_do(void **state)
{
	struct fixture *f = *state;

	while (tux_loop_turn(f->l))
		;
	assert_true(tux_loop_prepare_sleep(f->l));
	tux_loop_finish_sleep(f->l, TUX_LOOP_UNTOLD);
	tux_loop_ring(f->l, 5);
	assert_false(tux_loop_prepare_sleep(f->l));
	tux_loop_finish_sleep(f->l, TUX_LOOP_UNTOLD);
}

/* A sleeper is woken by whoever rings. */
static void prepare_sleep__a_ring_wakes(void **state)
{
	struct fixture *f = *state;
	struct pollfd p[TUX_LOOP_FDS];
	unsigned n;

	while (tux_loop_turn(f->l))
		;
	n = tux_loop_fds(f->l, p);
	assert_true(n >= 1);
	assert_int_equal(p[0].fd, f->l->held.epfd);
	assert_true(tux_loop_prepare_sleep(f->l));
	assert_int_equal(poll(p, 1, 0), 0);
	tux_loop_ring(f->l, 5);
	assert_int_equal(poll(p, 1, 0), 1);
	tux_loop_finish_sleep(f->l, TUX_LOOP_READABLE);
	while (tux_loop_turn(f->l))
		;
	assert_int_equal(poll(p, 1, 0), 0);
}

/* The sleep has asked epoll already: a turn right behind it does not. */
static void finish_sleep__is_a_look_at_epoll(void **state)
{
	struct fixture *f = *state;
	struct pollfd bell = { f->l->held.bell_fd, POLLIN, 0 };

	while (tux_loop_turn(f->l))
		;
	f->l->looked_at = 0;
	tux_wake_kick(bell.fd);
	tux_loop_prepare_sleep(f->l);
	tux_loop_finish_sleep(f->l, TUX_LOOP_NOTHING);
	tux_loop_turn(f->l);
	assert_int_equal(poll(&bell, 1, 0), 1);
	f->l->looked_at = 0;
	tux_loop_prepare_sleep(f->l);
	tux_loop_finish_sleep(f->l, TUX_LOOP_UNTOLD);
	tux_loop_turn(f->l);
	assert_int_equal(poll(&bell, 1, 0), 0);
}

/* What another loop got, and does not know: neither do we. */
static void forward__is_taken_in(void **state)
{
	struct fixture *f = *state;
	uint8_t junk[64] = { 0 };
	struct tux_dgram d = {
		.from = { .ip = { [10] = 0xff, 0xff }, .port = 9 },
		.p = junk, .len = sizeof(junk),
	};

	tux_loop_forward(f->l, &d);
	assert_false(tux_loop_quiet(f->l));
	assert_true(tux_loop_turn(f->l) > 0);
	assert_true(tux_loop_quiet(f->l));
	assert_int_equal(tux_core_stats(f->l->core)->datagrams_rx, 1);
	assert_int_equal(tux_core_stats(f->l->core)->damaged, 1);
	/* It does not go round. */
	assert_int_equal(strangers, 0);
}

/* ---- effects ---- */

static unsigned gone_n;
/* A thread of the application, asleep. */
static struct sleeper {
	struct tux_bell *bell;
	int fd;
	_Atomic uint32_t owed;
} sleeper;

static bool is_woken(void)
{
	struct pollfd p = { sleeper.fd, POLLIN, 0 };

	return poll(&p, 1, 0) == 1;
}

static void on_ready(void *user, struct tux_wakes *wakes)
{
	(void)user;
	if (!sleeper.bell)
		return;
	tux_wakes_ring(wakes, sleeper.bell, sleeper.fd, &sleeper.owed, 0);
	assert_false(is_woken());
}

static enum tux_reason decided;

static void on_decided(void *user, bool tux, enum tux_reason why)
{
	(void)user, (void)tux;
	decided = why;
}

static void on_gone(void *user)
{
	(void)user;
	gone_n++;
}

static bool returns;		/* of ends that are claimed */

/* An end of @f, which has just been claimed. */
static struct tux_end *fresh(struct fixture *f)
{
	const struct tux_addr a = { { [10] = 0xff, 0xff, 127, 0, 0, 1 }, 9 };
	struct tux_end *e = tux_ends_get(&f->ends);

	f->l->o.ready = on_ready;
	f->l->o.decided = on_decided;
	f->l->o.gone = on_gone;
	e->dx = calloc(1, tux_duplex_size(4096));
	tux_duplex_init(e->dx, 4096);
	e->tuple.active = e->tuple.passive = a;
	e->mtu = 1472;
	e->active = true;
	e->returns = returns;
	atomic_store(&e->loop, f->l);
	atomic_fetch_add(&f->l->end_n, 1);
	assert_true(tux_duplex_rings(e->dx, TUX_DOORBELL_TOUCH));
	tux_loop_ring(f->l, e->index);
	tux_loop_turn(f->l);
	return e;
}

/* An end of @f, which has begun to open: nobody is there. */
static struct tux_end *opening(struct fixture *f)
{
	struct tux_end *e = fresh(f);

	assert_non_null(e->conn);
	return e;
}

static void close_end(struct fixture *f, struct tux_end *e)
{
	struct tux_duplex *dx = e->dx;

	gone_n = 0;
	tux_duplex_rings(dx, TUX_DOORBELL_ABORT);
	tux_loop_ring(f->l, e->index);
	tux_loop_turn(f->l);
	assert_int_equal(gone_n, 1);
	free(dx);
}

/* A closed connection that has broken is gone when its RESET has left.  The loop
 * carries that out in the same turn, and does not sleep upon it. */
static void turn__effects_of_its_sending(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e = opening(f);
	struct tux_duplex *dx = e->dx;

	gone_n = 0;
	e->closed = e->conn->closed = true;
	e->conn->life = TUX_LIFE_PROVED;
	e->conn->peer_id = 1;
	tux_conn_die(e->conn, EPROTO, TUX_REASON_PROTOCOL);
	tux_loop_turn(f->l);
	assert_int_equal(gone_n, 1);
	assert_null(e->conn);
	free(dx);
}

/* The threads that a turn has something for are woken at its end: a thread that
 * ran before would take the processor from the thread that drives. */
static void turn__wakes_at_its_end(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e = opening(f);
	struct tux_duplex *dx = e->dx;

	assert_int_equal(tux_wake_init(&sleeper.bell, &sleeper.fd, 8), 0);
	tux_bell_set_asleep(sleeper.bell, true);
	e->conn->life = TUX_LIFE_PROVED;
	e->conn->peer_id = 1;
	tux_conn_die(e->conn, EPROTO, TUX_REASON_PROTOCOL);
	tux_loop_turn(f->l);
	assert_false(tux_bell_quiet(sleeper.bell));
	assert_true(is_woken());
	assert_int_equal(sleeper.owed, 0);
	tux_wake_fini(sleeper.bell, sleeper.fd);
	sleeper.bell = NULL;
	e->closed = true;
	assert_true(tux_duplex_rings(dx, TUX_DOORBELL_CLOSE));
	tux_loop_ring(f->l, e->index);
	tux_loop_turn(f->l);
	free(dx);
}

/* ---- ends that are given up ---- */

/* The peer has not answered the series of HELLOs. */
static void stay_silent(struct fixture *f, struct tux_end *e)
{
	gone_n = 0;
	decided = TUX_REASON_NONE;
	e->conn->open.tries = 100;
	tux_hello_expire(e->conn, e->conn->open.at);
	tux_conn_settle(e->conn, f->l->now);
	tux_loop_turn(f->l);
	assert_int_equal(decided, TUX_REASON_PEER_SILENT);
}

static void turn__gives_up_on_a_silent_peer(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e = opening(f);
	uint32_t n = atomic_load(&f->l->end_n);

	e->returns = true;
	stay_silent(f, e);
	assert_int_equal(gone_n, 1);
	assert_null(e->conn);
	assert_int_equal(atomic_load(&f->l->end_n), n - 1);
	/* Its application closes it, which is too late. */
	tux_duplex_rings(e->dx, TUX_DOORBELL_CLOSE);
	tux_loop_ring(f->l, e->index);
	tux_loop_turn(f->l);
	assert_int_equal(gone_n, 1);
	free(e->dx);
}

/* The peer answers late: its silence is no reason any more, though nothing has
 * moved yet. */
static void turn__tells_that_silence_is_over(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e = opening(f);

	stay_silent(f, e);
	e->conn->open.why = TUX_REASON_NONE;
	tux_conn_mark(e->conn, TUX_DIRTY_LIFE);
	tux_conn_settle(e->conn, f->l->now);
	tux_loop_turn(f->l);
	assert_int_equal(decided, TUX_REASON_NONE);
	close_end(f, e);
}

/* The application of this one goes on with the duplex. */
static void turn__gives_up_only_if_told(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e = opening(f);

	stay_silent(f, e);
	assert_int_equal(gone_n, 0);
	assert_non_null(e->conn);
	close_end(f, e);
}

/* A peer that has announced Tux may come late, and decides when. */
static void turn__waits_for_a_peer_that_begins(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e = opening(f);

	e->returns = true;
	e->active = false;
	e->peer_port = 7;
	stay_silent(f, e);
	assert_int_equal(gone_n, 0);
	close_end(f, e);
}

/* ---- IPsec ---- */

/* A policy that protects TCP of IPv4, outwards. */
static void protect(struct fixture *f)
{
	struct tux_spd_entry p = {
		.index = 1, .dir = TUX_SPD_OUT, .proto = IPPROTO_TCP,
		.v4 = true, .sure = true,
	};

	/* Without privilege, there is no table yet. */
	if (!f->l->xfrm.spd.at)
		assert_int_equal(tux_spd_init(&f->l->xfrm.spd), 0);
	tux_spd_clear(&f->l->xfrm.spd);
	tux_spd_add(&f->l->xfrm.spd, &p);
	f->l->xfrm.open = true;
	f->l->link->changed = true;
}

static void expose(struct fixture *f)
{
	tux_spd_clear(&f->l->xfrm.spd);
	f->l->link->changed = true;
}

static void turn__no_connection_that_ipsec_protects(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e;

	decided = TUX_REASON_NONE;
	protect(f);
	e = fresh(f);
	assert_null(e->conn);
	assert_int_equal(e->stage, TUX_END_FRESH);
	assert_int_equal(decided, TUX_REASON_IPSEC);
	expose(f);
	tux_loop_turn(f->l);
	assert_non_null(e->conn);
	close_end(f, e);
}

static enum tux_reason busy_why;

static int busy_admit(struct tux_link *l, const struct tux_addr *local,
		      const struct tux_addr *peer, uint32_t *handle,
		      tux_time now)
{
	(void)l, (void)local, (void)peer, (void)handle, (void)now;
	return -(int)busy_why;
}

/* An end of @f that the link refuses, for @why. */
static struct tux_end *refused(struct fixture *f, enum tux_reason why)
{
	const struct tux_link_ops *ops = f->l->link->ops;
	struct tux_link_ops busy = *ops;
	struct tux_end *e;

	busy.admit = busy_admit;
	busy_why = why;
	gone_n = 0;
	returns = true;
	f->l->link->ops = &busy;
	e = fresh(f);
	f->l->link->ops = ops;
	returns = false;
	return e;
}

static void turn__gives_up_what_the_link_refuses(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e = refused(f, TUX_REASON_INTERFACE_BUSY);

	assert_int_equal(gone_n, 1);
	assert_int_equal(e->stage, TUX_END_OVER);
	assert_true(e->over);
	free(e->dx);
}

static void turn__waits_for_a_link_that_is_down(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e = refused(f, TUX_REASON_LINK_DOWN);

	assert_int_equal(gone_n, 0);
	assert_int_equal(e->stage, TUX_END_FRESH);
	assert_int_equal(decided, TUX_REASON_LINK_DOWN);
	f->l->link->changed = true;
	tux_loop_turn(f->l);
	assert_int_equal(e->stage, TUX_END_OPEN);
	assert_int_equal(decided, TUX_REASON_NONE);
	close_end(f, e);
}

/* A link with flows, of which the first is HANDLE. */
enum { HANDLE = 7, FULL_FLUSHES = 8 };

static struct {
	unsigned asked, sent, flushed;
	uint32_t for_flow, of_flow;	/* tx()'s, and send()'s */
	bool full, blocks;
	uint8_t buf[TUX_PKT_MAX];
} wire;

static int wire_admit(struct tux_link *l, const struct tux_addr *local,
		      const struct tux_addr *peer, uint32_t *handle,
		      tux_time now)
{
	(void)l, (void)local, (void)peer, (void)now;
	*handle = HANDLE;
	return 0;
}

static uint8_t *wire_tx(struct tux_link *l, uint32_t handle, size_t *cap)
{
	(void)l;
	wire.asked++;
	wire.for_flow = handle;
	*cap = sizeof(wire.buf);
	return wire.full ? NULL : wire.buf;
}

static void wire_send(struct tux_link *l, uint32_t handle, size_t len,
		      const struct tux_addr *to, const struct tux_addr *from,
		      uint8_t ecn)
{
	(void)l, (void)len, (void)to, (void)from, (void)ecn;
	wire.sent++;
	wire.of_flow = handle;
}

static void wire_flush(struct tux_link *l)
{
	wire.flushed++;
	l->blocked = wire.full && wire.blocks;
}

/* An end of @f that wants to send its first packet, over that link. */
static struct tux_end *wired(struct fixture *f, struct tux_link_ops *ops,
			     bool full, bool blocks)
{
	memset(&wire, 0, sizeof(wire));
	wire.full = full;
	wire.blocks = blocks;
	*ops = *f->l->link->ops;
	ops->admit = wire_admit;
	ops->tx = wire_tx;
	ops->send = wire_send;
	ops->flush = wire_flush;
	f->l->link->ops = ops;
	return fresh(f);
}

static void unwire(struct fixture *f, struct tux_end *e)
{
	wire.full = false;
	close_end(f, e);
	f->l->link->ops = &tux_udp;
}

static void turn__builds_for_the_flow_of_the_lead(void **state)
{
	struct fixture *f = *state;
	struct tux_link_ops ops;
	struct tux_end *e = wired(f, &ops, false, false);

	assert_int_equal(wire.sent, 1);
	assert_int_equal(wire.asked, 1);
	assert_int_equal(wire.for_flow, HANDLE);
	assert_int_equal(wire.of_flow, HANDLE);
	/* It has nothing to send after all. */
	tux_conn_kick(e->conn);
	tux_loop_turn(f->l);
	assert_int_equal(wire.asked, 2);
	assert_int_equal(wire.sent, 1);
	unwire(f, e);
}

static void turn__sends_so_many_batches(void **state)
{
	struct fixture *f = *state;
	struct tux_link_ops ops;
	struct tux_end *e = wired(f, &ops, true, false);

	assert_int_equal(wire.asked, FULL_FLUSHES);
	assert_int_equal(wire.flushed, FULL_FLUSHES);
	assert_true(f->l->more);
	wire.full = false;
	tux_loop_turn(f->l);
	assert_false(f->l->more);
	assert_int_equal(wire.sent, 1);
	unwire(f, e);
}

static void turn__waits_for_a_link_without_room(void **state)
{
	struct fixture *f = *state;
	struct tux_link_ops ops;
	struct tux_end *e = wired(f, &ops, true, true);

	assert_int_equal(wire.asked, 1);
	assert_int_equal(wire.flushed, 1);
	assert_int_equal(wire.sent, 0);
	wire.full = false;
	tux_loop_turn(f->l);
	assert_int_equal(wire.sent, 1);
	unwire(f, e);
}

static void turn__a_policy_bars_a_connection(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e = opening(f);

	assert_false(e->conn->barred);
	protect(f);
	tux_loop_turn(f->l);
	assert_true(e->conn->barred && e->blocked);
	expose(f);
	tux_loop_turn(f->l);
	assert_false(e->conn->barred || e->blocked);
	close_end(f, e);
}

/* Nothing is known of policies while no descriptor is left to ask with. */
static void turn__no_descriptor_to_ask_for_policies(void **state)
{
	struct fixture *f = *state;
	struct rlimit was, none;
	struct tux_end *e;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_XFRM);

	if (fd < 0)
		skip();
	close(fd);
	decided = TUX_REASON_NONE;
	getrlimit(RLIMIT_NOFILE, &was);
	none = was;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	e = fresh(f);
	setrlimit(RLIMIT_NOFILE, &was);
	assert_null(e->conn);
	assert_int_equal(decided, TUX_REASON_NO_FD);
	assert_false(f->l->xfrm.open);
	f->l->link->changed = true;
	tux_loop_turn(f->l);
	assert_true(f->l->xfrm.open);
	assert_non_null(e->conn);
	close_end(f, e);
}

/* Packets that pass by IPsec need to know what it says. */
static void turn__no_bypass_without_knowledge(void **state)
{
	struct fixture *f = *state;
	struct tux_end *e;

	decided = TUX_REASON_NONE;
	f->l->xfrm.open = f->l->xfrm.blind = f->l->link->bypass = true;
	e = fresh(f);
	assert_null(e->conn);
	assert_int_equal(decided, TUX_REASON_NO_PRIVILEGE);
	close_end(f, e);
}

/* The first half of a turn hears of rings; only the second one sends. */
static void take__sends_nothing(void **state)
{
	struct fixture *f = *state;
	struct tux_link_ops ops;
	struct tux_end *e = wired(f, &ops, true, true);

	wire.full = false;
	tux_loop_ring(f->l, 5);
	assert_int_equal(tux_loop_take(f->l), 1);
	assert_true(tux_loop_quiet(f->l));
	assert_int_equal(wire.sent, 0);
	tux_loop_send(f->l);
	assert_int_equal(wire.sent, 1);
	unwire(f, e);
}

/* The driver must take another turn if a flush has found something. */
static void flush__tells_what_it_found(void **state)
{
	struct fixture *f = *state;

	while (tux_loop_turn(f->l))
		;
	assert_int_equal(tux_loop_flush(f->l), 0);
	f->l->link->changed = true;
	assert_int_equal(tux_loop_flush(f->l), 1);
	assert_int_equal(tux_loop_flush(f->l), 0);
}

/* A hold ends, and the loop sleeps, also when all connections have gone. */
static void turn__ends_the_hold_of_busy_processors(void **state)
{
	struct fixture *f = *state;

	while (tux_loop_turn(f->l))
		;
	f->l->busy.away = true;
	f->l->busy.next = f->l->now + TUX_SEC(1);
	f->l->away_until = f->l->busy.next;
	assert_true(tux_loop_deadline(f->l) == f->l->busy.next);
	f->l->busy.next = f->l->now;
	tux_loop_turn(f->l);
	tux_loop_turn(f->l);
	assert_false(f->l->busy.away);
	assert_int_equal(f->l->away_until, 0);
	assert_true(tux_loop_deadline(f->l) > f->l->now);
}

static void free__null(void **state)
{
	(void)state;
	tux_loop_free(NULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new__any_area_fails),
		cmocka_unit_test(new__idle_takes_little),
		T(ring__is_heard_in_a_turn),
		T(prepare_sleep__not_with_something_to_do),
		T(finish_sleep__is_a_look_at_epoll),
		T(prepare_sleep__a_ring_wakes),
		T(forward__is_taken_in),
		T(turn__effects_of_its_sending),
		T(turn__wakes_at_its_end),
		T(turn__gives_up_on_a_silent_peer),
		T(turn__tells_that_silence_is_over),
		T(turn__gives_up_only_if_told),
		T(turn__waits_for_a_peer_that_begins),
		T(turn__no_connection_that_ipsec_protects),
		T(turn__gives_up_what_the_link_refuses),
		T(turn__waits_for_a_link_that_is_down),
		T(turn__builds_for_the_flow_of_the_lead),
		T(turn__sends_so_many_batches),
		T(turn__waits_for_a_link_without_room),
		T(take__sends_nothing),
		T(flush__tells_what_it_found),
		T(turn__ends_the_hold_of_busy_processors),
		T(turn__a_policy_bars_a_connection),
		T(turn__no_descriptor_to_ask_for_policies),
		T(turn__no_bypass_without_knowledge),
		cmocka_unit_test(free__null),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
