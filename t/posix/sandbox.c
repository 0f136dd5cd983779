/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that may not make all system calls.
 */
#include <errno.h>
#include <sys/socket.h>

#include "../filter.h"
#include "pair.h"

enum { TURNS = 60 };

static void goes_on(struct pair *p)
{
	pair_talk(p, TURNS);
	pair_move(p);
}

int main(void)
{
	/* RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 of a systemd unit. */
	if (filter_refuse(SYS_socket, UINT32_MAX, AF_NETLINK, EAFNOSUPPORT, 0))
		pair_case("a process without netlink", goes_on);
	else
		pair_skip("a process without netlink", "no seccomp");
	return pair_done();
}
