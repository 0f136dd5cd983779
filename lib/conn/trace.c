/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace - what happens to a connection, as events and as lines of text
 */
#include "conn/trace.h"

static const char *const text[TUX_TRACE_N] = {
#define X(name, words) [TUX_TRACE_##name] = words,
	TUX_TRACES(X)
#undef X
};

struct line {
	char *buf;
	size_t len, cap;
};

static void line_put(struct line *l, char c)
{
	/* Leave a byte for the NUL. */
	if (l->len + 1 < l->cap)
		l->buf[l->len++] = c;
}

static void line_put_number(struct line *l, uint64_t v)
{
	char digit[20];
	unsigned n = 0;

	do {
		digit[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n)
		line_put(l, digit[--n]);
}

size_t tux_trace_text(const struct tux_trace *t, char *buf, size_t cap)
{
	struct line l = { buf, 0, cap };
	const char *s = t->what < TUX_TRACE_N ? text[t->what] : "unknown";
	const uint64_t *n = t->n;

	for (; *s; s++) {
		if (*s == '%')
			line_put_number(&l, *n++);
		else
			line_put(&l, *s);
	}
	if (cap)
		buf[l.len] = '\0';
	return l.len;
}
