/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shutdown() of a candidate, which another thread may claim at the same time;
 * and connect() to no address.
 */
#include "ground/libc.h"
#include "sock/allow.h"
#include "sock/claim.h"
#include "sock/close.h"
#include "sock/iface.h"
#include "sock/kind.h"
#include "sock/listener.h"
#include "sock/mark.h"
#include "sock/pass.h"
#include "sock/path.h"
#include "../test.h"

enum { FD = 3 };

struct libc libc;

static struct sock sock;
static bool raced;		/* another thread claims it before it can be
				 * made to stay on TCP */
static unsigned refs, by_kernel, by_path, resets;

/* ---- what sock.c calls ---- */

struct sock *sock_claimed(int fd)
{
	assert_int_equal(fd, FD);
	if (sock.stage != SOCK_CLAIMED)
		return NULL;
	refs++;
	return &sock;
}

void pass_reset(int fd)
{
	assert_int_equal(fd, FD);
	/* The kernel has not reset it yet. */
	assert_int_equal(by_kernel, 0);
	resets++;
}

void sock_let_go(struct sock *s, uint64_t n)
{
	assert_ptr_equal(s, &sock);
	refs -= (int)n;
}

bool allow_sandboxed(void)
{
	return false;
}

void claim_stay(int fd, enum tux_reason why)
{
	assert_int_equal(fd, FD);
	if (raced)
		sock.stage = SOCK_CLAIMED;
	if (sock.stage != SOCK_CANDIDATE)
		return;
	sock.stage = SOCK_TCP;
	sock.why = (uint8_t)why;
}

int path_shutdown(struct sock *s, int fd, int how)
{
	(void)s, (void)fd, (void)how;
	by_path++;
	return 0;
}

static int kernel_shutdown(int fd, int how)
{
	(void)fd, (void)how;
	/* It cannot be claimed afterwards. */
	assert_int_not_equal(sock.stage, SOCK_CANDIDATE);
	by_kernel++;
	return 0;
}

_Atomic uint8_t kind_table[FD_MAX];

int close_fresh(int fd)
{
	return fd;
}

void kind_made(int fd, int domain, int type, int protocol)
{
	(void)fd, (void)domain, (void)type, (void)protocol;
}

void claim_accepted(int listener, int fd, const struct tux_addr *peer)
{
	(void)listener, (void)fd, (void)peer;
}

void claim_leave(int fd, const struct tux_addr *peer, enum tux_reason why)
{
	(void)fd, (void)peer, (void)why;
}

void claim_connecting(int fd, const struct tux_addr *peer)
{
	(void)fd, (void)peer;
}

void listener_add(int fd, bool told)
{
	(void)fd, (void)told;
}

bool listener_yield_port(uint16_t port)
{
	(void)port;
	return false;
}

bool iface_addr(struct tux_addr *a, const struct sockaddr_storage *sa)
{
	(void)a, (void)sa;
	return false;
}

enum tux_reason mark_connecting(int fd, const struct tux_addr *peer)
{
	(void)fd, (void)peer;
	return TUX_REASON_NONE;
}

void mark_listening(int fd)
{
	(void)fd;
}

/* ---- shutdown() ---- */

static void shut(enum sock_stage stage, bool race)
{
	sock = (struct sock){ .stage = (uint8_t)stage };
	raced = race;
	refs = by_kernel = by_path = 0;
	assert_int_equal(shutdown(FD, SHUT_WR), 0);
	assert_int_equal(refs, 0);
}

static void shutdown__keeps_a_candidate_on_tcp(void **state)
{
	(void)state;
	shut(SOCK_CANDIDATE, false);
	assert_int_equal(by_kernel, 1);
	assert_int_equal(sock.stage, SOCK_TCP);
	assert_int_equal(sock.why, TUX_REASON_CLOSED);
}

static void shutdown__of_what_is_claimed(void **state)
{
	(void)state;
	shut(SOCK_CLAIMED, false);
	assert_int_equal(by_path, 1);
	assert_int_equal(by_kernel, 0);
}

static void shutdown__of_what_is_claimed_meanwhile(void **state)
{
	(void)state;
	shut(SOCK_CANDIDATE, true);
	assert_int_equal(by_path, 1);
	assert_int_equal(by_kernel, 0);
}

/* ---- connect() to no address ---- */

static int kernel_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	(void)fd, (void)addr, (void)len;
	by_kernel++;
	return 0;
}

static void connect__to_no_address_resets_first(void **state)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	(void)state;
	by_kernel = resets = 0;
	assert_int_equal(connect(FD, &none, sizeof(none)), 0);
	assert_int_equal(resets, 1);
	assert_int_equal(by_kernel, 1);
	/* Too short to say so. */
	assert_int_equal(connect(FD, &none, 1), 0);
	assert_int_equal(resets, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(shutdown__keeps_a_candidate_on_tcp),
		cmocka_unit_test(shutdown__of_what_is_claimed),
		cmocka_unit_test(shutdown__of_what_is_claimed_meanwhile),
		cmocka_unit_test(connect__to_no_address_resets_first),
	};

	libc.shutdown = kernel_shutdown;
	libc.connect = kernel_connect;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
