/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world - as text: a line for each item, its kind and then names and numbers
 *
 * The fault of an item is a word, not a number.
 */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "fault.h"

static bool is_word(const struct sim_item *it, unsigned number)
{
	return it->kind == SIM_FAULT && number == SIM_FAULT_WHAT;
}

static void write_item(const struct sim_item *it, FILE *f)
{
	const struct sim_form *form = &sim_forms[it->kind];
	unsigned i;

	fprintf(f, "%s", form->name);
	for (i = 0; i < form->n; i++) {
		const struct sim_number *n = &form->number[i];

		if (is_word(it, i))
			fprintf(f, " %s %s", n->name, sim_fault_name(it->v[i]));
		else if (it->v[i] != n->plain || sim_world_is_name(it->kind, i))
			fprintf(f, " %s %llu", n->name,
				(unsigned long long)it->v[i]);
	}
	fprintf(f, "\n");
}

void sim_world_write(const struct sim_world *w, FILE *f)
{
	unsigned i;

	for (i = 0; i < w->n; i++)
		write_item(&w->item[i], f);
}

static bool read_number(struct sim_item *it, const char *name,
			const char *value)
{
	const struct sim_form *form = &sim_forms[it->kind];
	unsigned i = 0;
	char *end;

	while (i < form->n && strcmp(form->number[i].name, name) != 0)
		i++;
	if (i == form->n || !value)
		return false;
	if (is_word(it, i)) {
		it->v[i] = sim_fault_named(value);
		return it->v[i] < SIM_FAULTS;
	}
	it->v[i] = strtoull(value, &end, 0);
	return end != value && !*end;
}

static bool read_item(struct sim_world *w, char *line)
{
	char *at = NULL, *word = strtok_r(line, " \n", &at);
	struct sim_item *it;
	unsigned kind = 0;

	if (!word)
		return true;
	while (kind < SIM_KINDS && strcmp(sim_forms[kind].name, word) != 0)
		kind++;
	if (kind == SIM_KINDS || (kind == SIM_NET) != !w->n)
		return false;
	it = sim_world_add(w, kind);
	while ((word = strtok_r(NULL, " \n", &at)) != NULL) {
		if (!read_number(it, word, strtok_r(NULL, " \n", &at)))
			return false;
	}
	return true;
}

/* Do all names name something? */
static bool is_whole(const struct sim_world *w)
{
	uint64_t hosts = sim_world_count(w, SIM_HOST);
	uint64_t conns = sim_world_count(w, SIM_CONN);
	unsigned i, k;

	for (i = 0; i < w->n; i++) {
		const struct sim_item *it = &w->item[i];
		bool host = it->kind == SIM_LINK || it->kind == SIM_CONN;

		for (k = 0; k < sim_forms[it->kind].n; k++) {
			if (!sim_world_is_name(it->kind, k) || is_word(it, k))
				continue;
			if (it->kind == SIM_CONN && k == SIM_CONN_AFTER ?
			    it->v[k] > conns :
			    it->v[k] >= (host ? hosts : conns))
				return false;
		}
	}
	return w->n > 0;
}

unsigned sim_world_read(struct sim_world *w, FILE *f)
{
	char *line = NULL;
	size_t cap = 0;
	unsigned n = 0;
	bool good = true;

	while (good && getline(&line, &cap, f) > 0) {
		n++;
		good = line[0] == '#' || read_item(w, line);
	}
	free(line);
	return good && is_whole(w) ? 0 : n + good;
}
