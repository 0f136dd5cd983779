/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interfaces as a kernel tells of them.
 */
#include "kernel.h"

/* What Linux 6.1 says of a bond, of a team, of a part of each, and of a veth that
 * is alone, in the byte order of a little machine: cut down to the interface,
 * its flags, its MTU, its name, its master, and what kind of interface it is. */
static const char bond[] =
	"00000100060000004314010000000000"
	"08000400dc050000 0a000300626f6e6430000000"
	"1c00120009000100626f6e64000000000c0002000500010000000000";
static const char bond_part[] =
	"00000100030000000318000000000000"
	"08000400dc050000 0700030061300000 08000a0006000000"
	"1c00120009000100766574680000000009000400626f6e6400000000";
static const char team[] =
	"00000100070000000210000000000000"
	"08000400dc050000 0a0003007465616d30000000"
	"10001200090001007465616d00000000";
static const char team_part[] =
	"00000100050000000310000000000000"
	"08000400dc050000 0700030074300000 08000a0007000000"
	"1c001200090001007665746800000000090004007465616d00000000";
static const char alone[] =
	"00000100020000000210000000000000"
	"08000400dc050000 0700030061310000"
	"10001200090001007665746800000000";
/* ... and Linux 6.18 of a bridge and of a port of it. */
static const char bridge[] =
	"00000100020000000210000000000000"
	"08000400dc050000 0800030062723000"
	"100012000b0001006272696467650000";
static const char bridge_port[] =
	"00000100040000000210000000000000"
	"08000400dc050000 0700030062310000 08000a0002000000"
	"1c0012000900010076657468000000000b0004006272696467650000";

static struct tux_iface look(struct kernel *k, const char *hex)
{
	uint8_t buf[256] = { 0 };
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct tux_iface i;

	h->nlmsg_type = RTM_NEWLINK;
	h->nlmsg_seq = k->p.neigh.ask.seq + 1;
	h->nlmsg_len += (uint32_t)test_hex(buf + h->nlmsg_len, hex);
	kernel_send(k->asked, h);
	assert_int_equal(tux_neigh_iface(&k->p.neigh.ask, 1, NULL, &i), 0);
	return i;
}

static void iface__reads_what_the_kernel_tells(void **state)
{
	struct tux_iface i = look(*state, bond_part);

	assert_int_equal(i.index, 3);
	assert_int_equal(i.mtu, 1500);
	assert_string_equal(i.name, "a0");
	assert_false(i.up);
	assert_true(look(*state, bond).up);
}

static void iface__knows_a_bond(void **state)
{
	assert_true(look(*state, bond).bundled);
	assert_true(look(*state, bond_part).bundled);
}

static void iface__knows_a_team(void **state)
{
	assert_true(look(*state, team).bundled);
	assert_true(look(*state, team_part).bundled);
}

/* A port of a bridge may have routes of its own. */
static void iface__knows_a_bridge(void **state)
{
	assert_true(look(*state, bridge).bundled);
	assert_false(look(*state, bridge_port).bundled);
}

static void iface__knows_what_is_alone(void **state)
{
	assert_false(look(*state, alone).bundled);
}

static void has_ports__looks_for_their_master(void **state)
{
	struct kernel *k = *state;

	kernel_ports(k->asked, k->p.neigh.ask.seq + 1, true);
	assert_true(tux_neigh_has_ports(&k->p.neigh.ask, KERNEL_INDEX));
	kernel_ports(k->asked, k->p.neigh.ask.seq + 1, false);
	assert_false(tux_neigh_has_ports(&k->p.neigh.ask, KERNEL_INDEX));
}

/* ---- news ---- */

static unsigned hear(struct kernel *k, const char *name)
{
	return tux_neigh_read(&k->p.neigh, &k->p.iface, name);
}

static void read__follows_the_interface(void **state)
{
	struct kernel *k = *state;

	kernel_taken(k);
	kernel_link(k, RTM_NEWLINK, 0);
	assert_int_equal(hear(k, ""), TUX_NEIGH_LINKS);
	assert_false(k->p.iface.up);
	assert_string_equal(k->p.iface.name, "eth0");
	kernel_link(k, RTM_DELLINK, 0);
	assert_int_equal(hear(k, ""), TUX_NEIGH_LINKS);
	assert_int_equal(k->p.iface.index, 0);
}

/* News: the neighbour 10.0.0.1 is at @last. */
static void tell_neighbour(struct kernel *k, uint8_t last)
{
	const struct tux_addr a = kernel_addr(0);
	const uint8_t mac[TUX_ETH_MAC] = { 2, 0, 0, 0, 0, last };
	char buf[256] = { 0 };
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct ndmsg *m;

	h->nlmsg_type = RTM_NEWNEIGH;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->ndm_family = AF_INET;
	m->ndm_ifindex = KERNEL_INDEX;
	m->ndm_state = NUD_REACHABLE;
	mnl_attr_put(h, NDA_DST, 4, a.ip + 12);
	mnl_attr_put(h, NDA_LLADDR, sizeof(mac), mac);
	kernel_send(k->news, h);
}

/* Another address is news, since links have copies of it. */
static void read__follows_a_neighbour_that_moves(void **state)
{
	struct kernel *k = *state;
	struct tux_hop *hop = &k->p.neigh.hop[0];

	*hop = (struct tux_hop){
		.addr = kernel_addr(0), .index = KERNEL_INDEX, .refs = 1,
	};
	tell_neighbour(k, 1);
	assert_int_equal(hear(k, ""), TUX_NEIGH_HOPS);
	assert_true(hop->known);
	tell_neighbour(k, 1);
	assert_int_equal(hear(k, ""), 0);
	tell_neighbour(k, 2);
	assert_int_equal(hear(k, ""), TUX_NEIGH_HOPS);
	assert_int_equal(hop->mac[5], 2);
}

static void read__finds_the_interface_by_its_name(void **state)
{
	struct kernel *k = *state;

	kernel_link(k, RTM_NEWLINK, 0);
	assert_int_equal(hear(k, "eth1"), 0);
	kernel_link(k, RTM_NEWLINK, 0);
	assert_int_equal(hear(k, ""), 0);
	kernel_link(k, RTM_NEWLINK, 0);
	assert_int_equal(hear(k, "eth0"), TUX_NEIGH_LINKS);
	assert_int_equal(k->p.iface.index, KERNEL_INDEX);
}

static void read__other_interfaces_are_no_matter(void **state)
{
	struct kernel *k = *state;

	kernel_taken(k);
	k->p.iface.index++;
	kernel_link(k, RTM_NEWLINK, 0);
	kernel_link(k, RTM_DELLINK, 0);
	assert_int_equal(hear(k, "eth0"), 0);
	assert_true(k->p.iface.up);
}

/* Of a port, a bridge tells in the same words, but not all. */
static void read__needs_the_whole(void **state)
{
	struct kernel *k = *state;

	kernel_taken(k);
	kernel_tell(k, RTM_NEWLINK, sizeof(struct ifinfomsg));
	assert_int_equal(hear(k, ""), 0);
	assert_true(k->p.iface.up);
}

static int init(void **state)
{
	return kernel_init(state, NULL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, init, kernel_fini)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(iface__reads_what_the_kernel_tells),
		T(iface__knows_a_bond),
		T(iface__knows_a_team),
		T(iface__knows_a_bridge),
		T(iface__knows_what_is_alone),
		T(has_ports__looks_for_their_master),
		T(read__follows_the_interface),
		T(read__follows_a_neighbour_that_moves),
		T(read__finds_the_interface_by_its_name),
		T(read__other_interfaces_are_no_matter),
		T(read__needs_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
