/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/tcp_only.h"

#include <sys/socket.h>

#include "sys/sys.h"

bool tux_tcp_only(int level, int name)
{
	return level == SOL_SOCKET &&
	       (name == SO_MARK || name == SO_BINDTODEVICE ||
		name == SO_BINDTOIFINDEX || name == SO_PEEK_OFF);
}

/* The number of option @name; @unset where the kernel does not have it. */
static int value(int fd, int name, int unset)
{
	int v = unset;
	socklen_t len = sizeof(v);

	return tux_sys_getsockopt(fd, SOL_SOCKET, name, &v, &len) ? unset : v;
}

bool tux_tcp_only_set(int fd)
{
	return value(fd, SO_MARK, 0) || value(fd, SO_BINDTOIFINDEX, 0) ||
	       value(fd, SO_PEEK_OFF, -1) >= 0 || value(fd, SO_RCVLOWAT, 1) > 1;
}
