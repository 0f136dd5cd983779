/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path manager, with the kernel's side of netlink played here: what it
 * tells, and what it answers.
 */
#include "link/paths.h"

#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"

enum { INDEX = 2, MTU = 1500 };

struct fake {
	struct tux_paths p;
	int epfd;
	int asked, news;		/* the kernel's ends */
};

/* ---- the kernel ---- */

static int play(int *fd)
{
	int both[2];

	close(*fd);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
				    both), 0);
	*fd = both[0];
	return both[1];
}

static int init(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct tux_link_opts o = { .ifname = NULL };

	f->epfd = epoll_create1(0);
	assert_int_equal(tux_paths_init(&f->p, f->epfd, 0, &o), 0);
	f->asked = play(&f->p.neigh.ask.fd);
	f->news = play(&f->p.neigh.notify.fd);
	*state = f;
	return 0;
}

static int fini(void **state)
{
	struct fake *f = *state;

	tux_paths_fini(&f->p);
	close(f->asked);
	close(f->news);
	close(f->epfd);
	free(f);
	return 0;
}

/* How many questions there were, since the last call. */
static unsigned questions(struct fake *f)
{
	char buf[1024];
	unsigned n = 0;

	while (recv(f->asked, buf, sizeof(buf), 0) > 0)
		n++;
	return n;
}

static void put(int fd, const struct nlmsghdr *h)
{
	assert_int_equal(send(fd, h, h->nlmsg_len, 0), h->nlmsg_len);
}

/* The answer to the next question but @ahead: the peer is a neighbour. */
static void answer_route(struct fake *f, unsigned ahead)
{
	char buf[256] = { 0 };
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct rtmsg *m;

	h->nlmsg_type = RTM_NEWROUTE;
	h->nlmsg_seq = f->p.neigh.ask.seq + 1 + ahead;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->rtm_type = RTN_UNICAST;
	mnl_attr_put_u32(h, RTA_OIF, INDEX);
	put(f->asked, h);
}

/* ... and the interface has @flags. */
static void answer_iface(struct fake *f, unsigned ahead, unsigned flags)
{
	char buf[256] = { 0 };
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *m;

	h->nlmsg_type = RTM_NEWLINK;
	h->nlmsg_seq = f->p.neigh.ask.seq + 1 + ahead;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->ifi_index = INDEX;
	m->ifi_flags = flags;
	mnl_attr_put_u32(h, IFLA_MTU, MTU);
	mnl_attr_put_strz(h, IFLA_IFNAME, "eth0");
	put(f->asked, h);
}

static void tell(struct fake *f, uint16_t type, size_t len)
{
	char buf[256] = { 0 };
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);

	h->nlmsg_type = type;
	mnl_nlmsg_put_extra_header(h, len);
	put(f->news, h);
}

/* ---- the loop ---- */

static struct tux_addr at(uint16_t port)
{
	return (struct tux_addr){
		.ip = { [10] = 0xff, 0xff, 10, 0, 0, 1 }, .port = port,
	};
}

static tux_time ms(unsigned n)
{
	return TUX_SEC(100) + TUX_MSEC(n);
}

/* A flow that its connection has left. */
static void come_and_go(struct fake *f, uint16_t port, tux_time now)
{
	struct tux_addr local = at(80), peer = at(port);

	tux_paths_leave(&f->p, tux_flows_add(&f->p.flows, &local, &peer), now);
}

static bool turn(struct fake *f, tux_time now)
{
	if (now < f->p.due_at)
		return false;
	tux_paths_tick(&f->p, now);
	return true;
}

/* ---- deadlines ---- */

static void admit__keeps_the_deadline(void **state)
{
	struct tux_addr local = at(80), peer = at(1);
	struct fake *f = *state;
	struct tux_flow *flow;
	unsigned i;

	for (i = 0; i < 10; i++) {
		answer_route(f, 0);
		answer_iface(f, 1, 0);
		assert_int_equal(tux_paths_admit(&f->p, &local, &peer, &flow,
						 ms(i * 100)),
				 -TUX_REASON_LINK_DOWN);
		assert_int_equal(f->p.due_at, ms(1000));
	}
}

static void leave__keeps_the_deadline(void **state)
{
	struct fake *f = *state;

	come_and_go(f, 1, ms(0));
	come_and_go(f, 2, ms(900));
	assert_int_equal(f->p.due_at, ms(1000));
}

static void event__keeps_the_deadline(void **state)
{
	struct fake *f = *state;
	unsigned i;

	come_and_go(f, 1, ms(0));
	for (i = 1; i < 10; i++) {
		tell(f, RTM_NEWNEIGH, sizeof(struct ndmsg));
		tux_paths_event(&f->p, TUX_PATHS_NEIGH, ms(i * 100));
	}
	assert_int_equal(f->p.due_at, ms(1000));
}

/* One connection after the other, and news of neighbours, without end. */
static void tick__comes_under_churn(void **state)
{
	struct fake *f = *state;
	unsigned i, ticks = 0;

	for (i = 0; i < 100; i++) {
		come_and_go(f, (uint16_t)(i + 1), ms(i * 100));
		tell(f, RTM_NEWNEIGH, sizeof(struct ndmsg));
		tux_paths_event(&f->p, TUX_PATHS_NEIGH, ms(i * 100));
		ticks += turn(f, ms(i * 100));
		assert_in_range(f->p.flows.n, 1, 21);
	}
	assert_int_equal(ticks, 9);
}

static void tick__is_not_due_when_all_is_over(void **state)
{
	struct fake *f = *state;

	come_and_go(f, 1, ms(0));
	assert_true(turn(f, ms(1000)));
	assert_int_equal(f->p.flows.n, 0);
	assert_int_equal(f->p.due_at, TUX_NEVER);
}

/* ---- routes ---- */

static void news_of_routes(struct fake *f, tux_time now)
{
	tell(f, RTM_NEWROUTE, sizeof(struct rtmsg));
	tux_paths_event(&f->p, TUX_PATHS_NEIGH, now);
}

static void event__routes_are_found_soon(void **state)
{
	struct tux_addr local = at(80), peer = at(1);
	struct fake *f = *state;

	tux_flows_add(&f->p.flows, &local, &peer);
	news_of_routes(f, ms(0));
	assert_int_equal(f->p.due_at, ms(100));
	news_of_routes(f, ms(99));
	assert_int_equal(questions(f), 0);
	assert_true(turn(f, ms(100)));
	assert_int_equal(questions(f), 1);
}

/* Finding them takes the loop's time, for each flow. */
static void event__routes_are_found_once_a_second(void **state)
{
	struct tux_addr local = at(80), peer = at(1);
	struct fake *f = *state;
	unsigned i;

	tux_flows_add(&f->p.flows, &local, &peer);
	f->p.retry_at = TUX_NEVER;
	for (i = 0; i < 1000; i++) {
		news_of_routes(f, ms(i * 10));
		turn(f, ms(i * 10));
	}
	assert_int_equal(questions(f), 10);
}

#define T(name) cmocka_unit_test_setup_teardown(name, init, fini)

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
