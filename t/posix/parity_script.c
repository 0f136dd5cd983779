/* SPDX-License-Identifier: BSD-2-Clause */
#include "parity_script.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum {
	OPENING = 6,		/* steps that open a connection */
	LATER = 8,		/* of a hundred steps */
};

/* How often each kind is drawn, in parts of their sum. */
struct mix {
	enum parity_kind kind;
	unsigned weight;
};

static const struct mix mix[] = {
	{ PARITY_read, 40 }, { PARITY_readv, 15 }, { PARITY_recv, 60 },
	{ PARITY_recvfrom, 15 }, { PARITY_recvmsg, 20 }, { PARITY_write, 40 },
	{ PARITY_writev, 15 }, { PARITY_send, 50 }, { PARITY_sendto, 15 },
	{ PARITY_sendmsg, 20 }, { PARITY_shutdown, 5 }, { PARITY_close, 6 },
	{ PARITY_dup, 5 }, { PARITY_dup2, 4 }, { PARITY_fcntl, 14 },
	{ PARITY_poll, 30 }, { PARITY_select, 20 }, { PARITY_epoll_ctl, 35 },
	{ PARITY_epoll_wait, 40 }, { PARITY_ioctl, 20 },
	{ PARITY_getsockopt, 20 }, { PARITY_setsockopt, 12 },
	{ PARITY_getsockname, 4 }, { PARITY_getpeername, 4 },
	{ PARITY_bind, 2 }, { PARITY_lseek, 3 }, { PARITY_fork, 1 },
	{ PARITY_listen, 2 }, { PARITY_connect, 6 }, { PARITY_accept, 3 },
	{ PARITY_accept4, 3 }, { PARITY_way_back, 1 }, { PARITY_signal, 6 },
	{ PARITY_upgrade, 16 },
};

/* Kinds that came later.  Scripts draw them elsewhere, so that without them a seed has
 * the script that it always had. */
static const struct mix later[] = {
	{ PARITY_peek_off, 8 }, { PARITY_overflow, 3 }, { PARITY_unspec, 5 },
	{ PARITY_spawn, 4 },
};

static uint32_t draw(uint64_t *x, uint32_t n)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*x >> 33) % n;
}

static bool chance(uint64_t *x, uint32_t percent)
{
	return draw(x, 100) < percent;
}

static enum parity_kind draw_kind(const struct mix *m, unsigned n, uint64_t *x)
{
	unsigned i, sum = 0;
	uint32_t at;

	for (i = 0; i < n; i++)
		sum += m[i].weight;
	at = draw(x, sum);
	for (i = 0; at >= m[i].weight; i++)
		at -= m[i].weight;
	return m[i].kind;
}

static uint8_t draw_slot(uint64_t *x)
{
	if (chance(x, 91))
		return (uint8_t)draw(x, PARITY_CONNS);
	return (uint8_t)(chance(x, 75) ? PARITY_DUP_SLOT + draw(x, 2) :
			 draw(x, PARITY_SLOTS));
}

static int32_t draw_size(uint64_t *x)
{
	static const int32_t size[] = {
		0, 1, 1, 2, 3, 7, 16, 64, 100, 500, 1000, 1448, 1449, 4096,
		10000, 20000,
	};

	return size[draw(x, COUNT(size))];
}

static int32_t draw_recv_flags(uint64_t *x)
{
	static const int32_t flags[] = {
		0, 0, 0, MSG_PEEK, MSG_DONTWAIT, MSG_DONTWAIT, MSG_WAITALL,
		MSG_TRUNC, MSG_PEEK | MSG_DONTWAIT, MSG_PEEK | MSG_TRUNC,
		MSG_WAITALL | MSG_DONTWAIT, MSG_WAITALL | MSG_PEEK,
		MSG_OOB, MSG_ERRQUEUE,
	};

	return flags[draw(x, COUNT(flags))];
}

static int32_t draw_send_flags(uint64_t *x)
{
	static const int32_t flags[] = {
		0, 0, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_NOSIGNAL | MSG_DONTWAIT,
	};

	return flags[draw(x, COUNT(flags))];
}

static int32_t draw_poll_events(uint64_t *x)
{
	static const int32_t events[] = {
		0, EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT, EPOLLIN | EPOLLRDHUP,
		EPOLLPRI, EPOLLIN | EPOLLRDNORM | EPOLLWRNORM, EPOLLRDHUP,
		EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP,
	};

	return events[draw(x, COUNT(events))];
}

static int32_t draw_epoll_events(uint64_t *x)
{
	uint32_t e = (uint32_t)draw_poll_events(x);

	if (chance(x, 40))
		e |= EPOLLET;
	if (chance(x, 20))
		e |= EPOLLONESHOT;
	return (int32_t)e;
}

static void draw_arguments(struct parity_step *s, uint64_t *x)
{
	s->n = draw_size(x);
	s->other = draw_slot(x);
	s->value = (int32_t)draw(x, 16);
	switch (s->kind) {
	case PARITY_recv: case PARITY_recvfrom: case PARITY_recvmsg:
		s->flags = draw_recv_flags(x);
		break;
	case PARITY_send: case PARITY_sendto: case PARITY_sendmsg:
		s->flags = draw_send_flags(x);
		break;
	case PARITY_poll: case PARITY_select:
		s->flags = draw_poll_events(x);
		break;
	case PARITY_epoll_ctl:
		s->flags = draw_epoll_events(x);
		s->slot = (uint8_t)(chance(x, 94) ?
			PARITY_EPOLL_SLOT + draw(x, 2) : draw_slot(x));
		break;
	case PARITY_epoll_wait:
		s->slot = (uint8_t)(chance(x, 94) ?
			PARITY_EPOLL_SLOT + draw(x, 2) : draw_slot(x));
		break;
	case PARITY_dup:
		s->other = (uint8_t)(PARITY_DUP_SLOT + draw(x, 2));
		break;
	default:
		break;
	}
}

static struct parity_step *append(struct parity_script *s)
{
	struct parity_step *p = &s->step[s->n];

	memset(p, 0, sizeof(*p));
	p->id = s->n++;
	return p;
}

/* In both processes, @slot is closed.  Then one listens, the other connects,
 * and the listener goes. */
static void open_connection(struct parity_script *s, uint64_t *x, uint8_t slot)
{
	static const uint8_t kind[OPENING] = {
		PARITY_close, PARITY_close, PARITY_listen, PARITY_connect,
		PARITY_accept, PARITY_close,
	};
	uint8_t proc = (uint8_t)draw(x, PARITY_PROCS);
	bool nonblock = chance(x, 60);

	for (unsigned i = 0; i < OPENING; i++) {
		struct parity_step *p = append(s);

		p->kind = kind[i];
		if (kind[i] == PARITY_accept && chance(x, 60))
			p->kind = PARITY_accept4;
		p->proc = kind[i] == PARITY_connect || i == 1 ? 1 - proc : proc;
		p->slot = kind[i] == PARITY_listen || i == OPENING - 1 ?
			  PARITY_LISTEN_SLOT : slot;
		p->other = PARITY_LISTEN_SLOT;
		p->flags = nonblock ? SOCK_NONBLOCK : 0;
		p->value = 1;	/* close() only what is there */
	}
}

static void append_step(struct parity_script *s, const struct mix *m, unsigned n,
			uint64_t *x)
{
	struct parity_step *p = append(s);

	p->kind = (uint8_t)draw_kind(m, n, x);
	p->proc = (uint8_t)draw(x, PARITY_PROCS);
	p->worker = (uint8_t)draw(x, PARITY_WORKERS);
	p->slot = draw_slot(x);
	draw_arguments(p, x);
}

void parity_script_draw(struct parity_script *s, uint64_t seed, bool all)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15u + 12345, y = x ^ 0x6c61746572;
	unsigned limit, i;

	s->n = 0;
	draw(&x, 2);
	for (i = 0; i < PARITY_CONNS; i++)
		if (i == 0 || chance(&x, 85))
			open_connection(s, &x, (uint8_t)i);
	limit = s->n + 20 + draw(&x, PARITY_STEPS - OPENING - s->n - 20);
	for (i = 0; i < PARITY_CONNS && chance(&x, 85); i++) {
		struct parity_step *p = append(s);

		p->kind = PARITY_upgrade;
		p->slot = (uint8_t)i;
	}
	while (s->n < limit) {
		if (all && chance(&y, LATER))
			append_step(s, later, COUNT(later), &y);
		else if (chance(&x, 2))
			open_connection(s, &x, (uint8_t)draw(&x, PARITY_CONNS));
		else
			append_step(s, mix, COUNT(mix), &x);
	}
}

void parity_script_without(struct parity_script *to,
			   const struct parity_script *from, unsigned at,
			   unsigned n)
{
	if (n > from->n - at)
		n = from->n - at;
	*to = *from;
	memmove(&to->step[at], &from->step[at + n],
		(from->n - at - n) * sizeof(to->step[0]));
	to->n = from->n - n;
}
