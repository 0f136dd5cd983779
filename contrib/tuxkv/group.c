/* SPDX-License-Identifier: BSD-2-Clause */
#include "group.h"

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

	if (j->step == j->proc->steps)
		return 0;
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

/* Not preempted: what writes stands in the way of all others that will. */
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
		else if (!s->sync)
			err = store_commit(&t);
	}
	tux_uninterruptible_leave();
	return err || !s->sync ? err : store_commit(&t);
}

bool group_step(struct group *g, struct store *s)
{
	bool more = false;
	unsigned i;
	int err;

	if (!g->n)
		return false;
	err = g->job[0]->proc->writes ? step_writing(g, s) :
					step_reading(g, s);
	for (i = 0; i < g->n; i++) {
		struct job *j = g->job[i];

		if (err)
			set_status(j, KV_FAILED);
		more |= j->step < j->proc->steps;
	}
	return more;
}

void group_answer(struct group *g)
{
	struct iovec iov[GROUP_MAX];
	unsigned i, n = 0;

	for (i = 0; i < g->n; i++) {
		struct job *j = g->job[i];

		iov[n++] = (struct iovec){ &j->answer, j->answer.hdr.len };
		if (i + 1 < g->n && g->job[i + 1]->peer == j->peer)
			continue;
		j->peer->ops->answer(j->peer, iov, (int)n);
		n = 0;
	}
	for (i = 0; i < g->n; i++)
		job_free(g->job[i]);
	g->n = 0;
}
