/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/shared.h"

#include <errno.h>
#include <stdlib.h>

#include "api/announce.h"
#include "api/connection.h"
#include "api/move.h"
#include "api/say.h"
#include "stack/loops.h"
#include "stack/stack_in.h"
#include "sys/take.h"

static enum tux_io chosen_io(enum tux_backend backend)
{
	switch (backend) {
	case TUX_BACKEND_XDP:
		return TUX_IO_XDP;
	case TUX_BACKEND_UDP:
		return TUX_IO_UDP;
	default:
		return TUX_IO_AUTO;
	}
}

static int open_shared(struct tux *t, struct tux_shared *sh)
{
	struct tux_stack_opts o = {
		.ifname = t->o.ifname,
		.io = chosen_io(t->o.backend),
		.message_max = t->o.message_max,
		.yields = t->o.path != TUX_USE_TUX,
		.ready = tux_api_ready,
		.decided = tux_api_decided,
		.gone = tux_api_over,
		.moves = tux_api_moves,
	};
	int err;

	if (t->o.path == TUX_USE_TCP || t->o.backend == TUX_BACKEND_TCP) {
		sh->tcp_why = TUX_REASON_CHOSEN;
		return 0;
	}
	err = tux_stack_new(&sh->stack, &o);
	if (err == -EOPNOTSUPP) {
		sh->tcp_why = TUX_REASON_NOT_BUILT;
		tux_api_say_reason(t, TUX_REASON_NOT_BUILT);
		return 0;
	}
	return err;
}

static int share_first(struct tux *t)
{
	struct tux_shared *sh = calloc(1, sizeof(*sh));
	int err;

	if (!sh)
		return -ENOMEM;
	t->shared = sh;
	sh->open_n = 1;
	tux_list_init(&sh->closed);
	tux_list_init(&sh->announced);
	err = open_shared(t, sh);
	t->stack = sh->stack;
	if (err || !t->stack)
		return err;
	/* Where tuxd announces, the loop comes only now. */
	t->d = tux_loops_first(t->stack);
	if (!t->d)
		return -EAGAIN;
	t->l = t->d->loop;
	t->loop_n = 1;
	return 0;
}

/* The thread gets a loop of its own, if the stack may have one more: 16 at most, and over
 * AF_XDP no more than the interface can send by.  If not, its connections belong to the
 * first loop, which that one's thread runs, or its helper. */
static void share_loop(struct tux *t)
{
	unsigned max = tux_loops_max(t->stack);

	tux_sched_enter();
	t->d = tux_loops_add(t->stack, max, &t->loop_n);
	if (t->d) {
		t->l = t->d->loop;
	} else {
		t->d = tux_loops_first(t->stack);
		t->loop_n = 1;
	}
	tux_sched_leave();
}

static int share_with(struct tux *t, struct tux_shared *sh)
{
	bool open;

	tux_latch_take(&sh->latch);
	open = sh->open_n > 0;
	sh->open_n += open;
	tux_latch_drop(&sh->latch);
	if (!open)
		return -ESHUTDOWN;
	t->shared = sh;
	t->stack = sh->stack;
	if (t->stack)
		share_loop(t);
	return t->stack && !t->d ? -EAGAIN : 0;
}

int tux_api_share(struct tux *t)
{
	return t->o.beside ? share_with(t, t->o.beside->shared) :
			     share_first(t);
}

void tux_api_free(struct tux *t)
{
	tux_waiter_fini(&t->w);
	tux_api_table_fini(t);
	free(t->threads);
	free(t);
}

/* @t, the last, is none of the closed. */
static void share_none(struct tux *t, struct tux_shared *sh)
{
	struct tux_list *n, *m;

	tux_api_unannounce_all(t);
	if (sh->stack)
		tux_stack_free(sh->stack);
	TUX_LIST_EACH_SAFE(n, m, &sh->closed)
		tux_api_free(TUX_CONTAINER(n, struct tux, node));
	free(sh);
}

/* Is it the last of those that share? */
static bool share_left(struct tux *t, struct tux_shared *sh)
{
	bool last;

	tux_sched_enter();
	if (t->l)
		tux_loops_spare(t->stack, t->loop_n);
	tux_latch_take(&sh->latch);
	last = !--sh->open_n;
	if (!last)
		tux_list_push(&sh->closed, &t->node);
	tux_latch_drop(&sh->latch);
	tux_sched_leave();
	return last;
}

bool tux_api_share_end(struct tux *t)
{
	struct tux_shared *sh = t->shared;
	bool last = !sh || share_left(t, sh);

	if (sh && last)
		share_none(t, sh);
	return last;
}
