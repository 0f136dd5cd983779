/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/fd.h"

#include "sock/kind.h"
#include "sock/observer.h"
#include "sys/alone.h"

/* Untouched pages of it cost nothing; it is there before the constructor. */
struct sock *_Atomic fd_table[FD_MAX];

_Atomic uint32_t fd_live;

static _Atomic int top;

int fd_top(void)
{
	return atomic_load_explicit(&top, memory_order_acquire);
}

int fd_limit(void)
{
	return FD_MAX;
}

/* Adds @n to the references of @fd's sock. */
static struct sock *fd_hold(int fd, uint64_t n)
{
	struct sock *s;

	while ((s = fd_peek(fd))) {
		tux_alone_add(&s->refs, n);
		if (fd_peek(fd) == s)
			return s;
		sock_let_go(s, n);
	}
	return NULL;
}

struct sock *sock_get(int fd)
{
	return fd_hold(fd, 1);
}

struct sock *sock_pass(int fd)
{
	return fd_hold(fd, SOCK_PASSING + 1);
}

void sock_passed(struct sock *s)
{
	sock_let_go(s, SOCK_PASSING + 1);
}

void fd_seen(int fd)
{
	int t = fd_top();

	while (t <= fd && !atomic_compare_exchange_weak(&top, &t, fd + 1))
		;
}

/* The entry of @fd, which named @s, is gone. */
static void fd_gone(const struct sock *s)
{
	if (!s->listens)
		atomic_fetch_sub(&fd_live, 1);
}

bool fd_add(int fd, struct sock *s)
{
	struct sock *was;

	if ((unsigned)fd >= FD_MAX)
		return false;
	atomic_fetch_add(&s->refs, 1);
	atomic_fetch_add(&s->fds, 1);
	if (s->fd < 0)
		s->fd = fd;
	fd_seen(fd);
	if (!s->listens)
		atomic_fetch_add(&fd_live, 1);
	was = atomic_exchange(&fd_table[fd], s);
	/* Another thread has used the number meanwhile: the later one stays. */
	if (was) {
		fd_gone(was);
		atomic_fetch_sub(&was->fds, 1);
		sock_put(was);
	}
	return true;
}

struct sock *fd_take(int fd)
{
	struct sock *s = fd_peek(fd) ? atomic_exchange(&fd_table[fd], NULL) :
				       NULL;

	if (s)
		fd_gone(s);
	return s;
}

static void fd_leave_one(struct sock *s, int fd)
{
	struct sock *is = s;

	kind_leave(fd);
	if (!atomic_compare_exchange_strong(&fd_table[fd], &is, NULL))
		return;
	fd_gone(s);
	atomic_fetch_sub(&s->fds, 1);
	sock_put(s);
	observer_left(fd);
}

/* Most have a single one. */
void fd_leave(struct sock *s)
{
	if (fd_peek(s->fd) == s)
		fd_leave_one(s, s->fd);
	for (int fd = 0; fd < fd_top() && atomic_load(&s->fds); fd++)
		if (fd_peek(fd) == s)
			fd_leave_one(s, fd);
}
