/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/forked.h"

#include <pthread.h>

#include "run/rseq.h"
#include "run/sched_in.h"

static int err;

static void forked_in_child(void)
{
	struct tux_routine *r = tux_here.routine;

	tux_here.left = NULL;
	tux_here.lent_to = NULL;
	if (!r)
		return;
#ifdef TUX_SWITCH_ASM
	if (r->at.tls)
		tux_rseq_forked(r->sched->net.tls);
#endif
	tux_here = (struct tux_here){ .routine = NULL };
}

static void forked_init(void)
{
	err = pthread_atfork(NULL, NULL, forked_in_child);
}

int tux_forked_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, forked_init);
	return -err;
}
