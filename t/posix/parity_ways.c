/* SPDX-License-Identifier: BSD-2-Clause */
#include "parity_ways.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

union room {
	struct cmsghdr first;	/* for its alignment */
	char bytes[CMSG_SPACE(sizeof(int))];
};

static ssize_t send_fd(int to, int fd)
{
	union room room = { .bytes = { 0 } };
	char x = 0;
	struct iovec v = { &x, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = &room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &m, 0);
}

static int recv_fd(int from)
{
	union room room;
	char x;
	struct iovec v = { &x, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = &room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(from, &m, 0) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int parity_ways_pass(int fd)
{
	int pair[2], came = -1, err;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -1;
	if (send_fd(pair[0], fd) == 1)
		came = recv_fd(pair[1]);
	err = errno;
	close(pair[0]);
	close(pair[1]);
	errno = err;
	return came;
}

static int parity_ways_end(pid_t pid, int *status)
{
	return pid > 0 && waitpid(pid, status, 0) == pid ? 0 : -1;
}

int parity_ways_fork(int *status)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(7);
	return parity_ways_end(pid, status);
}

int parity_ways_spawn(int *status)
{
	char name[] = "true", *argv[] = { name, NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ))
		return -1;
	return parity_ways_end(pid, status);
}
