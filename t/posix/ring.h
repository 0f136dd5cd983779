/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring - an io_uring by syscall(2), as libuv makes its own
 */
#ifndef TUX_T_POSIX_RING_H
#define TUX_T_POSIX_RING_H

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct ring {
	int fd;
	char *map;
	struct io_uring_sqe *entries;
	struct io_uring_params p;
	unsigned waiting;	/* entries that the kernel has not been given */
};

/* False: this kernel has no io_uring, or none for this program. */
bool ring_open(struct ring *r, unsigned flags);
void ring_close(struct ring *r);

/* An entry to be filled in, all zero. */
struct io_uring_sqe *ring_next(struct ring *r);

/* Gives the kernel what was filled in. */
void ring_submit(struct ring *r);

/* What the next operation to end returned, after two seconds at most: then
 * -ETIME. */
int ring_result(struct ring *r);

/* One operation, to its end. */
int ring_epoll(struct ring *r, int ep, int op, int fd, uint32_t events);
int ring_recv(struct ring *r, int fd, char *byte);
int ring_send(struct ring *r, int fd, const char *byte);

/* Begins to wait for @events of @fd. */
void ring_poll(struct ring *r, int fd, unsigned events);

/* An entry that ring_submit() will give to the kernel. @e must live till then. */
void ring_prepare_epoll(struct ring *r, int ep, int op, int fd,
			struct epoll_event *e);

#endif
