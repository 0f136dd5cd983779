/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/ready.h"

#include "ground/process.h"
#include "sock/path.h"

/* Programs that never sleep must not pay for a turn with every call. */
#define TURN_EVERY TUX_USEC(50)

static uint8_t stage(const struct sock *s)
{
	return atomic_load_explicit(&s->stage, memory_order_acquire);
}

static uint32_t rings_say(const struct sock *s, unsigned can)
{
	uint32_t now = 0;

	if (can & TUX_CAN_READ)
		now |= EPOLLIN | EPOLLRDNORM;
	if (can & TUX_CAN_WRITE)
		now |= EPOLLOUT | EPOLLWRNORM;
	if (can & TUX_IS_EOF) {
		now |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
		if (atomic_load(&s->dx->tx.shut))
			now |= EPOLLHUP;
	}
	/* As the kernel has it after a reset; on TCP it may have told the loop. */
	if (can & TUX_IS_ERR)
		now |= EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM |
		       EPOLLRDHUP | EPOLLERR | EPOLLHUP;
	return now;
}

/* An error of the TCP socket is the application's only while all its bytes are
 * there; the kernel's end of file is the stream's only if rx never moved. */
static uint32_t tcp_says(const struct sock *s, unsigned can)
{
	bool rx = !(can & TUX_RX_ON_RING), tx = !(can & TUX_TX_ON_RING);
	uint32_t tcp = 0;

	if (rx)
		tcp |= READY_IN;
	if (tx && !(can & TUX_TX_WAITS))
		tcp |= READY_OUT;
	if (rx && tx)
		tcp |= READY_ALWAYS;
	else if (rx && atomic_load(&s->dx->tx.shut))
		tcp |= EPOLLHUP;
	return tcp;
}

struct ready ready_of(struct sock *s)
{
	struct ready r = { 0, READY_IN | READY_OUT | READY_ALWAYS };
	unsigned can;

	switch (stage(s)) {
	case SOCK_CLAIMED:
		can = sock_poll(s);
		r.now = rings_say(s, can);
		r.tcp = tcp_says(s, can);
		break;
	case SOCK_LOST:		/* it is the parent's: EIO is there to be read */
	case SOCK_CLOSED:	/* a thread that waits for it returns */
		r.now = EPOLLIN | EPOLLOUT | EPOLLHUP;
		break;
	}
	return r;
}

bool ready_plain(const struct sock *s)
{
	return stage(s) == SOCK_TCP || stage(s) == SOCK_PLAIN;
}

static bool armed(const struct sock *s)
{
	return stage(s) == SOCK_CLAIMED &&
	       atomic_load(&s->dx->rx.state) == TUX_RX_ARMED;
}

uint32_t ready_told(struct sock *s, int fd, uint32_t told, struct ready *r)
{
	if ((told & READY_BYTES) && armed(s) && !path_advance(s, fd))
		told &= ~(uint32_t)READY_BYTES;
	*r = ready_of(s);
	return told & r->tcp;
}

bool ready_turn(const struct tux_waiter *w, tux_time now)
{
	static __thread tux_time turned_at;

	if (tux_time_since(turned_at, now) < TURN_EVERY)
		return false;
	turned_at = now;
	tux_channel_turn(preload_stack(), w);
	return true;
}
