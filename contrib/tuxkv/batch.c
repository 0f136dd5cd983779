/* SPDX-License-Identifier: BSD-2-Clause */
#include "batch.h"

void batch_run(struct batch *b)
{
	while (b->reads.n) {
		group_step(&b->reads, &b->engine->store);
		group_answer(&b->reads);
	}
	writers_run(&b->engine->writers, &b->writes);
}

void batch_add(struct batch *b, struct job *j)
{
	struct group *g = j->proc->writes ? &b->writes : &b->reads;

	if (j->proc->writes && b->in_callback) {
		writers_give(&b->engine->writers, j);
		return;
	}
	if (j->proc->is_long)
		batch_run(b);
	g->job[g->n++] = j;
	if (j->proc->is_long || g->n == b->engine->group)
		batch_run(b);
}
