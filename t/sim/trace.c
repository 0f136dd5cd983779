/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace - what hosts and the network tell, and whether it is as written
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static void append(struct sim_text *t, const char *p, size_t len)
{
	if (t->len + len + 1 > t->cap) {
		t->cap = 2 * (t->len + len + 1);
		t->p = realloc(t->p, t->cap);
	}
	memcpy(t->p + t->len, p, len);
	t->len += len;
	t->p[t->len] = '\0';
}

static void line(struct sim *s, bool golden, const char *who, const char *what)
{
	char buf[200];
	int n = snprintf(buf, sizeof(buf), "[%8.3f] %s %s\n",
			 (double)s->now / 1e6, who, what);

	append(&s->full, buf, (size_t)n);
	if (golden)
		append(&s->golden, buf, (size_t)n);
	if (s->loud)
		fputs(buf, stderr);
}

/* A number that the line does not show is 0, or TUX_NOWHERE. */
static void check_hidden(struct sim *s, const struct tux_trace *t)
{
	const struct tux_trace ones = { t->what, { 1, 1, 1 } };
	char text[120];
	const char *p = text;
	unsigned shown = 0;

	tux_trace_text(&ones, text, sizeof(text));
	while ((p = strchr(p, '1')) != NULL) {
		shown++;
		p++;
	}
	while (shown < 3)
		SIM_CHECK(s, t->n[shown++] + 1 <= 1);
}

void sim_trace_event(struct sim_end *e, const struct tux_trace *t)
{
	struct sim *s = e->conn->s;
	char who[20], what[120];

	sim_seen_trace(e, t);
	if (!(SIM_STEPS >> t->what & 1))	/* told before the change */
		sim_look(e, false);
	if (s->mute)
		return;
	if (s->conn_n > 1)
		snprintf(who, sizeof(who), "%c%u >", e->host->name,
			 e->conn->i);
	else
		snprintf(who, sizeof(who), "%c >", e->host->name);
	check_hidden(s, t);
	tux_trace_text(t, what, sizeof(what));
	line(s, s->only >> t->what & 1, who, what);
}

void sim_note(struct sim *s, const char *fmt, ...)
{
	char what[120];
	va_list ap;

	if (s->mute)
		return;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	line(s, s->net_lines, "net", what);
}

void sim_trace_clear(struct sim *s)
{
	s->golden.len = 0;
	if (s->golden.p)
		s->golden.p[0] = '\0';
}

void sim_trace_is(struct sim *s, const char *file, int at, const char *want)
{
	const char *is = s->golden.p ? s->golden.p : "";

	if (s->failed)
		return;
	if (strcmp(is, want) != 0) {
		fprintf(stderr, "--- wanted\n%s--- was\n%s---\n", want, is);
		sim_fail(s, "%s:%d: another trace", file, at);
	}
	sim_trace_clear(s);
}
