/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path manager: when it looks after what.
 */
#include "../kernel/kernel.h"

#include <inttypes.h>
#include <sys/mman.h>

static tux_time ms(unsigned n)
{
	return TUX_SEC(100) + TUX_MSEC(n);
}

/* A flow that its connection has left. */
static void come_and_go(struct kernel *k, uint16_t port, tux_time now)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(port);

	tux_paths_leave(&k->p, tux_flows_add(&k->p.flows, &local, &peer), now);
}

static bool turn(struct kernel *k, tux_time now)
{
	if (now < k->p.due_at)
		return false;
	tux_paths_tick(&k->p, now);
	return true;
}

/* ---- deadlines ---- */

static void admit__keeps_the_deadline(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(1);
	struct kernel *k = *state;
	struct tux_flow *flow;
	unsigned i;

	for (i = 0; i < 10; i++) {
		kernel_route(k, 0);
		if (!i)
			kernel_iface(k, 1, 0, NULL);
		assert_int_equal(tux_paths_admit(&k->p, &local, &peer, &flow,
						 ms(i * 100)),
				 -TUX_REASON_LINK_DOWN);
		assert_int_equal(k->p.due_at, ms(1000));
	}
}

static void leave__keeps_the_deadline(void **state)
{
	struct kernel *k = *state;

	come_and_go(k, 1, ms(0));
	come_and_go(k, 2, ms(900));
	assert_int_equal(k->p.due_at, ms(1000));
}

static void event__keeps_the_deadline(void **state)
{
	struct kernel *k = *state;
	unsigned i;

	come_and_go(k, 1, ms(0));
	for (i = 1; i < 10; i++) {
		kernel_tell(k, RTM_NEWNEIGH, sizeof(struct ndmsg));
		tux_paths_event(&k->p, TUX_PATHS_NEIGH, ms(i * 100));
	}
	assert_int_equal(k->p.due_at, ms(1000));
}

/* One connection after the other, and news of neighbours, without end. */
static void tick__comes_under_churn(void **state)
{
	struct kernel *k = *state;
	unsigned i, ticks = 0;

	for (i = 0; i < 100; i++) {
		come_and_go(k, (uint16_t)(i + 1), ms(i * 100));
		kernel_tell(k, RTM_NEWNEIGH, sizeof(struct ndmsg));
		tux_paths_event(&k->p, TUX_PATHS_NEIGH, ms(i * 100));
		ticks += turn(k, ms(i * 100));
		assert_in_range(k->p.flows.n, 1, 21);
	}
	assert_int_equal(ticks, 9);
}

static void tick__is_not_due_when_all_is_over(void **state)
{
	struct kernel *k = *state;

	come_and_go(k, 1, ms(0));
	assert_true(turn(k, ms(1000)));
	assert_int_equal(k->p.flows.n, 0);
	assert_int_equal(k->p.due_at, TUX_NEVER);
}

/* ---- routes ---- */

enum { PEERS = 150, SOME = 64 };

/* The kernel answers @n questions about routes; how many are asked, by what is due at
 * @now? */
static unsigned routes_asked(struct kernel *k, unsigned n, tux_time now)
{
	unsigned i;

	for (i = 0; i < n; i++)
		kernel_route(k, i);
	tux_paths_tick(&k->p, now);
	return kernel_questions(k);
}

/* Routes of many peers, found between packets. */
static void tick__finds_some_routes_at_a_time(void **state)
{
	struct kernel *k = *state;
	unsigned i;

	for (i = 0; i < PEERS; i++)
		come_and_go(k, (uint16_t)(i + 1), ms(0));
	k->p.reroute_at = k->p.rerouted_at = ms(1);
	assert_int_equal(routes_asked(k, SOME, ms(1)), SOME);
	assert_true(k->p.due_at <= ms(1));
	/* They change once more: that is for later. */
	kernel_tell(k, RTM_NEWROUTE, sizeof(struct rtmsg));
	tux_paths_event(&k->p, TUX_PATHS_NEIGH, ms(1));
	assert_int_equal(routes_asked(k, SOME, ms(1)), SOME);
	assert_true(k->p.due_at <= ms(1));
	assert_int_equal(routes_asked(k, PEERS - 2 * SOME, ms(2)),
			 PEERS - 2 * SOME);
	assert_int_equal(k->p.reroute_at, ms(1001));
	k->p.tick_at = TUX_NEVER;
	k->p.reroute_again = false;
	for (i = 0; i < 3; i++)
		routes_asked(k, SOME, ms(1001));
	assert_int_equal(k->p.reroute_at, TUX_NEVER);
}

/* A route that is the same is no news. */
static void tick__a_route_that_stays_changes_nothing(void **state)
{
	struct kernel *k = *state;

	come_and_go(k, 1, ms(0));
	k->p.reroute_at = ms(1);
	assert_int_equal(routes_asked(k, 1, ms(1)), 1);
	k->p.changed = false;
	k->p.reroute_at = ms(2);
	assert_int_equal(routes_asked(k, 1, ms(2)), 1);
	assert_false(k->p.changed);
	k->p.flows.at[0].why = TUX_REASON_ENCAPSULATED;
	k->p.reroute_at = ms(3);
	assert_int_equal(routes_asked(k, 1, ms(3)), 1);
	assert_true(k->p.changed);
}

/* ---- bonds and the like ---- */

enum { UP = IFF_UP | IFF_LOWER_UP };

static int admit(struct kernel *k)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(1);
	struct tux_flow *flow;

	return tux_paths_admit(&k->p, &local, &peer, &flow, ms(0));
}

static void admit__no_bond(void **state)
{
	struct kernel *k = *state;

	kernel_route(k, 0);
	kernel_iface(k, 1, UP, "bond");
	assert_int_equal(admit(k), -TUX_REASON_BUNDLED);
	assert_int_equal(k->p.nic.state, TUX_NIC_OFF);
	assert_int_equal(kernel_questions(k), 2);
}

/* Whatever it is, it stands for others. */
static void admit__no_interface_with_ports(void **state)
{
	struct kernel *k = *state;

	kernel_route(k, 0);
	kernel_iface(k, 1, UP, NULL);
	kernel_ports(k->asked_by_nic, k->p.nic.ask.seq + 1, true);
	assert_int_equal(admit(k), 1);
	kernel_nic_ends(k, ms(0));
	assert_int_equal(k->p.nic.state, TUX_NIC_OFF);
	assert_int_equal(k->p.why, TUX_REASON_BUNDLED);
}

/* While an interface changes, the kernel answers no question about one. */
static void admit__asks_for_the_route_only(void **state)
{
	struct kernel *k = *state;

	k->p.iface = (struct tux_iface){
		.index = KERNEL_INDEX, .mtu = KERNEL_MTU, .up = true,
	};
	kernel_route(k, 0);
	assert_int_equal(admit(k), 1);
	assert_int_equal(kernel_questions(k), 1);
}

/* The route names the bond, and the user a part of it. */
static void admit__no_part_of_a_bond(void **state)
{
	struct kernel *k = *state;

	memcpy(k->p.ifname, "eth1", sizeof("eth1"));
	k->p.iface.index = KERNEL_INDEX + 1;
	k->p.iface.up = k->p.iface.bundled = true;
	kernel_route(k, 0);
	assert_int_equal(admit(k), -TUX_REASON_BUNDLED);
	assert_int_equal(k->p.nic.state, TUX_NIC_OFF);
}

static void event__a_bond_takes_the_interface(void **state)
{
	struct kernel *k = *state;

	kernel_taken(k);
	kernel_link(k, RTM_NEWLINK, UP | IFF_SLAVE);
	tux_paths_event(&k->p, TUX_PATHS_NEIGH, ms(0));
	assert_int_not_equal(k->p.nic.state, TUX_NIC_ON);
	assert_int_equal(k->p.why, TUX_REASON_BUNDLED);
}

static void event__another_interface_takes_nothing(void **state)
{
	struct kernel *k = *state;

	kernel_taken(k);
	kernel_link(k, RTM_NEWLINK, UP);
	tux_paths_event(&k->p, TUX_PATHS_NEIGH, ms(0));
	assert_int_equal(k->p.nic.state, TUX_NIC_ON);
}

/* To attach a program makes such news, and an answer would come only after. */
static void event__news_of_the_interface_ask_nothing(void **state)
{
	struct kernel *k = *state;

	kernel_taken(k);
	kernel_link(k, RTM_NEWLINK, 0);
	tux_paths_event(&k->p, TUX_PATHS_NEIGH, ms(0));
	assert_int_equal(kernel_questions(k), 0);
	assert_false(k->p.iface.up);
	assert_true(k->p.changed);
}

/* ---- giving back ---- */

static void look_after(struct kernel *k, tux_time from, tux_time to)
{
	tux_time t;

	for (t = from; t < to; t += TUX_MSEC(100))
		turn(k, t);
}

/* The interface was taken @times, and its last connection goes now. */
static void taken(struct kernel *k, unsigned times)
{
	kernel_taken(k);
	k->p.unused = (struct tux_backoff){
		.len = TUX_SEC(5) << (times - 1), .at = ms(0),
	};
	come_and_go(k, 1, ms(0));
}

static void tick__gives_back_soon(void **state)
{
	struct kernel *k = *state;

	taken(k, 1);
	look_after(k, ms(0), ms(5000));
	assert_int_equal(k->p.nic.state, TUX_NIC_ON);
	look_after(k, ms(5000), ms(9000));
	assert_int_not_equal(k->p.nic.state, TUX_NIC_ON);
}

static void tick__gives_back_late_what_was_taken_often(void **state)
{
	struct kernel *k = *state;

	taken(k, 4);
	look_after(k, ms(0), ms(40000));
	assert_int_equal(k->p.nic.state, TUX_NIC_ON);
	look_after(k, ms(40000), ms(44000));
	assert_int_not_equal(k->p.nic.state, TUX_NIC_ON);
}

/* The interface has been taken, as its thread tells, and a connection of @port
 * ends at once: for how many seconds is it kept? */
static unsigned visited(struct kernel *k, uint16_t port, tux_time now)
{
	tux_time t = now;

	kernel_taken(k);
	kernel_nic_took(k, now);
	come_and_go(k, port, now);
	while (k->p.nic.state == TUX_NIC_ON && t < now + TUX_SEC(1000)) {
		t += TUX_MSEC(100);
		turn(k, t);
	}
	kernel_nic_ends(k, t);
	return (unsigned)((t - now) / TUX_SEC(1));
}

static void tick__keeps_it_longer_each_time(void **state)
{
	static const unsigned kept[] = { 5, 10, 20, 40, 80 };
	struct kernel *k = *state;
	tux_time now = ms(0);
	unsigned i, s;

	for (i = 0; i < N_OF(kept); i++) {
		s = visited(k, (uint16_t)(i + 1), now);
		assert_in_range(s, kept[i], kept[i] + 2);
		now += TUX_SEC(s + 1);
	}
}

/* A connection that comes in time finds it there, and when it has gone, it is
 * kept for as long once more. */
static void tick__a_connection_in_time_finds_it(void **state)
{
	struct kernel *k = *state;

	taken(k, 2);
	look_after(k, ms(0), ms(9000));
	assert_int_equal(k->p.nic.state, TUX_NIC_ON);
	come_and_go(k, 2, ms(9000));
	look_after(k, ms(9000), ms(18000));
	assert_int_equal(k->p.nic.state, TUX_NIC_ON);
	look_after(k, ms(18000), ms(22000));
	assert_int_not_equal(k->p.nic.state, TUX_NIC_ON);
}

static void tick__an_idle_connection_keeps_it(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(2);
	struct kernel *k = *state;

	taken(k, 1);
	tux_flows_add(&k->p.flows, &local, &peer);
	look_after(k, ms(0), ms(7200000));
	assert_int_equal(k->p.nic.state, TUX_NIC_ON);
}

/* ---- sockets carry what the interface does not ---- */

/* Connections that move @n packets a second, for @s seconds from second @i on. */
static void busy(struct kernel *k, unsigned i, unsigned s, unsigned n)
{
	for (; s && k->p.nic.state == TUX_NIC_ON; i++, s--) {
		k->p.nic.n = 1;
		k->p.nic.xsk[0].moved.rx += n;
		turn(k, ms(i * 1000));
		k->p.nic.n = 0;
	}
}

static void tick__mixed_gives_back_what_is_idle(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(2);
	struct kernel *k = *state;

	k->p.mixed = true;
	taken(k, 1);
	tux_flows_add(&k->p.flows, &local, &peer);
	busy(k, 1, 20, 32);
	assert_int_equal(k->p.nic.state, TUX_NIC_ON);
	busy(k, 21, 4, 31);
	assert_int_equal(k->p.nic.state, TUX_NIC_ON);
	k->p.rx = 0;		/* and none from now on */
	look_after(k, ms(25000), ms(26000));
	assert_int_not_equal(k->p.nic.state, TUX_NIC_ON);
	assert_false(tux_paths_wanted(&k->p));
}

static void stir__takes_it_again(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(2);
	struct kernel *k = *state;

	k->p.mixed = k->p.given_back = true;
	tux_flows_add(&k->p.flows, &local, &peer);
	tux_paths_udp_used(&k->p, 31, ms(0));
	tux_paths_udp_used(&k->p, 31, ms(101));
	assert_false(tux_paths_wanted(&k->p));
	tux_paths_udp_used(&k->p, 1, ms(201));
	assert_true(tux_paths_wanted(&k->p));
	assert_int_equal(k->p.due_at, ms(201));
}

static void admit__mixed_has_a_flow_while_it_gives_way(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(1);
	struct kernel *k = *state;
	struct tux_flow *f;

	k->p.mixed = true;
	k->p.why = TUX_REASON_GIVES_WAY;
	k->p.retry_at = TUX_NEVER;
	kernel_route(k, 0);
	kernel_iface(k, 1, UP, NULL);
	kernel_route(k, 2);
	assert_int_equal(tux_paths_admit(&k->p, &local, &peer, &f, ms(0)), 0);
	assert_int_equal(tux_paths_closed(&k->p, f), TUX_REASON_GIVES_WAY);
	assert_int_equal(k->p.places.n, 1);
}

/* ---- is the program still attached? ---- */

/* There is none, so the path manager finds that out as soon as it asks. */
static void tick__asks_for_the_program_when_nothing_arrives(void **state)
{
	struct kernel *k = *state;
	unsigned i;

	taken(k, 1);
	k->p.nic.n = 1;
	for (i = 1; i < 4; i++) {
		k->p.nic.xsk[0].moved.rx += 10;
		assert_true(turn(k, ms(i * 1000)));
		assert_int_equal(k->p.nic.state, TUX_NIC_ON);
	}
	k->p.nic.n = 0;		/* so nothing can arrive any more */
	assert_true(turn(k, ms(i++ * 1000)));
	assert_true(turn(k, ms(i * 1000)));
	assert_int_equal(k->p.why, TUX_REASON_DETACHED);
}

/* ---- other programs ---- */

static void carried(struct kernel *k, uint64_t bytes)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "  eth0: %" PRIu64 " 0 0 0 0 0 0 "
			 "0 0 0 0 0 0 0 0 0\n", bytes);

	assert_int_equal(pwrite(k->p.counters, line, (size_t)n, 0), n);
}

/* With a connection, for @s seconds from @from on, in which others carry @rate
 * bytes each. */
static void others(struct kernel *k, unsigned from, unsigned s, uint64_t rate)
{
	unsigned i;

	for (i = from; i < from + s; i++) {
		carried(k, k->carried += rate);
		turn(k, ms(i * 1000));
		kernel_nic_ends(k, ms(i * 1000));
	}
}

static void connected(struct kernel *k, bool yields)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(2);

	k->p.yields = yields;
	k->p.counters = memfd_create("dev", 0);
	kernel_taken(k);
	strcpy(k->p.iface.name, "eth0");
	carried(k, 0);
	come_and_go(k, 1, ms(0));
	tux_flows_add(&k->p.flows, &local, &peer);
}

static void tick__gives_way_to_bulk(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(2);
	struct kernel *k = *state;
	struct tux_flow *f;

	connected(k, true);
	f = tux_flows_find(&k->p.flows, &local, &peer);
	others(k, 1, 3, 700000000);
	assert_int_equal(k->p.nic.state, TUX_NIC_OFF);
	assert_int_equal(tux_paths_closed(&k->p, f), TUX_REASON_GIVES_WAY);
	assert_true(k->p.changed);
	others(k, 4, 10, 700000000);
	assert_int_equal(tux_paths_closed(&k->p, f), TUX_REASON_GIVES_WAY);
}

/* Not only when it has been unused for long enough. */
static void tick__gives_way_when_the_connections_have_gone(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(2);
	struct kernel *k = *state;

	connected(k, true);
	tux_paths_leave(&k->p, tux_flows_find(&k->p.flows, &local, &peer),
			ms(0));
	others(k, 1, 3, 700000000);
	assert_int_equal(k->p.nic.state, TUX_NIC_OFF);
	assert_int_equal(k->p.why, TUX_REASON_GIVES_WAY);
}

static void tick__gives_way_within_a_tenth_of_a_second(void **state)
{
	struct kernel *k = *state;
	unsigned t, bulk;

	connected(k, true);
	look_after(k, ms(0), ms(1000));
	for (t = 1000, bulk = 0; k->p.nic.state == TUX_NIC_ON && bulk < 1000;
	     t += 5, bulk += 5) {
		carried(k, k->carried += 3500000);
		turn(k, ms(t));
	}
	assert_int_equal(k->p.why, TUX_REASON_GIVES_WAY);
	assert_in_range(bulk, 20, 100);
}

static void tick__stays_beside_a_trickle(void **state)
{
	struct kernel *k = *state;

	connected(k, true);
	others(k, 1, 100, 20000000);
	assert_int_equal(k->p.nic.state, TUX_NIC_ON);
}

static void tick__stays_if_it_is_told_so(void **state)
{
	struct kernel *k = *state;

	connected(k, false);
	others(k, 1, 100, 700000000);
	assert_int_equal(k->p.nic.state, TUX_NIC_ON);
}

static void tick__tries_again_after_the_bulk(void **state)
{
	struct kernel *k = *state;

	connected(k, true);
	others(k, 1, 3, 700000000);
	others(k, 4, 4, 0);
	assert_int_equal(k->p.why, TUX_REASON_GIVES_WAY);
	others(k, 8, 10, 0);
	assert_int_not_equal(k->p.why, TUX_REASON_GIVES_WAY);
}

/* ---- routes ---- */

static void news_of_routes(struct kernel *k, tux_time now)
{
	kernel_tell(k, RTM_NEWROUTE, sizeof(struct rtmsg));
	tux_paths_event(&k->p, TUX_PATHS_NEIGH, now);
}

static void event__routes_are_found_soon(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(1);
	struct kernel *k = *state;

	tux_flows_add(&k->p.flows, &local, &peer);
	news_of_routes(k, ms(0));
	assert_int_equal(k->p.due_at, ms(100));
	news_of_routes(k, ms(99));
	assert_int_equal(kernel_questions(k), 0);
	assert_true(turn(k, ms(100)));
	assert_int_equal(kernel_questions(k), 1);
}

/* Finding them takes the loop's time, for each flow. */
static void event__routes_are_found_once_a_second(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(1);
	struct kernel *k = *state;
	unsigned i;

	tux_flows_add(&k->p.flows, &local, &peer);
	k->p.retry_at = TUX_NEVER;
	for (i = 0; i < 1000; i++) {
		news_of_routes(k, ms(i * 10));
		turn(k, ms(i * 10));
	}
	assert_int_equal(kernel_questions(k), 10);
}

static int init(void **state)
{
	return kernel_init(state, NULL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, init, kernel_fini)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(admit__keeps_the_deadline),
		T(leave__keeps_the_deadline),
		T(event__keeps_the_deadline),
		T(tick__comes_under_churn),
		T(tick__is_not_due_when_all_is_over),
		T(event__routes_are_found_soon),
		T(event__routes_are_found_once_a_second),
		T(stir__takes_it_again),
		T(admit__mixed_has_a_flow_while_it_gives_way),
		T(tick__asks_for_the_program_when_nothing_arrives),
	};

	const struct CMUnitTest taken_tests[] = {
		T(tick__finds_some_routes_at_a_time),
		T(tick__a_route_that_stays_changes_nothing),
		T(admit__no_bond),
		T(admit__no_interface_with_ports),
		T(admit__asks_for_the_route_only),
		T(admit__no_part_of_a_bond),
		T(event__a_bond_takes_the_interface),
		T(event__another_interface_takes_nothing),
		T(event__news_of_the_interface_ask_nothing),
		T(tick__gives_back_soon),
		T(tick__gives_back_late_what_was_taken_often),
		T(tick__keeps_it_longer_each_time),
		T(tick__a_connection_in_time_finds_it),
		T(tick__an_idle_connection_keeps_it),
		T(tick__mixed_gives_back_what_is_idle),
		T(tick__gives_way_to_bulk),
		T(tick__gives_way_when_the_connections_have_gone),
		T(tick__gives_way_within_a_tenth_of_a_second),
		T(tick__stays_beside_a_trickle),
		T(tick__stays_if_it_is_told_so),
		T(tick__tries_again_after_the_bulk),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	return cmocka_run_group_tests(taken_tests, kernel_deny, NULL) + failed;
}
