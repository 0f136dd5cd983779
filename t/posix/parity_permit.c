/* SPDX-License-Identifier: BSD-2-Clause */
#include "parity_permit.h"

#include <stdio.h>
#include <sys/epoll.h>

typedef bool permit_fn(const struct parity_step *s,
		       const struct parity_record *kernel,
		       const struct parity_record *tux);

struct permit {
	permit_fn *fits;
	const char *reason;
	const char *line;	/* of tux-preload(7) */
};

/* Events beyond those of the kernel, and only of room. */
static bool more_room(const struct parity_step *s,
		      const struct parity_record *kernel,
		      const struct parity_record *tux)
{
	const uint32_t room = EPOLLOUT | EPOLLWRNORM;

	return s->kind == PARITY_epoll_wait && kernel->ret >= 0 &&
	       tux->ret >= kernel->ret && tux->out[0] & room &&
	       !(kernel->out[0] & ~tux->out[0]);
}

static const struct permit permits[] = {
	{ more_room, "an edge of EPOLLOUT comes once more",
	  "Epoll: An edge of EPOLLOUT may be reported" },
	{ 0 },
};

bool parity_permits(const struct parity_step *s,
		    const struct parity_record *kernel,
		    const struct parity_record *tux)
{
	for (const struct permit *p = permits; p->fits; p++)
		if (p->fits(s, kernel, tux))
			return true;
	return false;
}

void parity_permit_print(void)
{
	for (const struct permit *p = permits; p->fits; p++)
		printf("permitted: %s (%s)\n", p->reason, p->line);
}
