/* SPDX-License-Identifier: BSD-2-Clause */
#include "group.h"

#include <stdio.h>
#include <tux.h>

static void set_status(struct job *j, enum kv_status status)
{
	j->answer.hdr.status = (uint16_t)status;
	if (status != KV_OK) {
		j->answer.hdr.len = sizeof(j->answer.hdr);
		j->step = j->proc->steps;
	}
}

static int job_step(struct job *j, struct txn *t)
{
	uint32_t len = j->answer.hdr.len - (uint32_t)sizeof(j->answer.hdr);
	int status;

	status = j->proc->run(t, j->step, j->request.bytes + sizeof(struct kv_hdr),
			      j->answer.result, &len);
	if (status < 0)
		return status;
	j->step++;
	j->answer.hdr.len = (uint32_t)sizeof(j->answer.hdr) + len;
	set_status(j, (enum kv_status)status);
	return 0;
}

static int step_all(struct group *g, struct txn *t)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < g->n && !err; i++)
		err = job_step(g->job[i], t);
	return err;
}

static int step_reading(struct group *g, struct store *s)
{
	struct txn t;
	int err = store_read(s, &t);

	if (err)
		return err;
	err = step_all(g, &t);
	store_read_end(&t);
	return err;
}

/* Not preempted: all others that will write wait for the end of it. */
static int step_writing(struct group *g, struct store *s)
{
	struct txn t;
	int err;

	tux_uninterruptible_enter();
	err = store_write(s, &t);
	if (!err) {
		err = step_all(g, &t);
		if (err)
			store_abort(&t);
		else if (s->mode != STORE_SYNC)
			err = store_commit(&t);
	}
	tux_uninterruptible_leave();
	return err || s->mode != STORE_SYNC ? err : store_commit(&t);
}

/* Not each time: a full disk fails all. */
static void tell(int err)
{
	static _Atomic int told;

	if (atomic_exchange(&told, err) != err)
		fprintf(stderr, "tuxkv: a transaction failed: %s\n",
			strerror(-err));
}

void group_step(struct group *g, struct store *s)
{
	unsigned i;
	int err = 0;

	if (g->n)
		err = g->job[0]->proc->writes ? step_writing(g, s) :
						step_reading(g, s);
	if (!err)
		return;
	tell(err);
	for (i = 0; i < g->n; i++)
		set_status(g->job[i], KV_FAILED);
}

/* ---- what has come of it ------------------------------------------------- */

static bool is_finished(const struct job *j)
{
	return j->step == j->proc->steps;
}

struct job *group_unfinished(struct group *g)
{
	unsigned i = 0;
	struct job *j;

	while (i < g->n && is_finished(g->job[i]))
		i++;
	if (i == g->n)
		return NULL;
	j = g->job[i];
	g->n--;
	memmove(&g->job[i], &g->job[i + 1], (g->n - i) * sizeof(j));
	return j;
}

/* Those of one client that follow each other go together. */
static void send_answers(struct job *const *job, unsigned n)
{
	unsigned i, from = 0;

	for (i = 0; i < n; i++) {
		struct peer *p = job[i]->peer;

		if (i + 1 < n && job[i + 1]->peer == p)
			continue;
		p->ops->answer(p, job + from, i + 1 - from);
		from = i + 1;
	}
}

void group_answer(struct group *g)
{
	struct job *done[GROUP_MAX];
	unsigned i, n = 0, left = 0;

	for (i = 0; i < g->n; i++)
		if (is_finished(g->job[i]))
			done[n++] = g->job[i];
		else
			g->job[left++] = g->job[i];
	g->n = left;
	send_answers(done, n);
}
