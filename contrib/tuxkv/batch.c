/* SPDX-License-Identifier: BSD-2-Clause */
#include "batch.h"

static void run_reads(struct group *g, struct engine *e)
{
	while (group_step(g, &e->store))
		;
	group_answer(g);
}

void batch_run(struct batch *b, struct engine *e)
{
	run_reads(&b->reads, e);
	writers_run(&e->writers, &b->writes);
}

void batch_add(struct batch *b, struct engine *e, struct job *j)
{
	struct group *g = j->proc->writes ? &b->writes : &b->reads;

	if (j->proc->is_long)
		batch_run(b, e);
	g->job[g->n++] = j;
	if (j->proc->is_long || g->n == e->group)
		batch_run(b, e);
}
