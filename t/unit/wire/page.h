/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page - reads the examples of tux-wire(7), and makes text in the same form
 *
 * An example is a display under a title.  Each of its lines has groups of bytes
 * in hex, and their meaning from column PAGE_TEXT on.
 */
#ifndef TUX_UNIT_PAGE_H
#define TUX_UNIT_PAGE_H

#include <stdio.h>

#include "../test.h"

enum { PAGE_TEXT = 36, PAGE_MAX = 4096 };

struct page_text {
	char s[PAGE_MAX];
	size_t len;
	const uint8_t *at;	/* the bytes to show next */
};

static inline void page_text_init(struct page_text *t, const uint8_t *bytes)
{
	t->s[0] = '\0';
	t->len = 0;
	t->at = bytes;
}

__attribute__((format(printf, 2, 3)))
static inline void page_put(struct page_text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->s + t->len, sizeof(t->s) - t->len, fmt, ap);
	va_end(ap);
	assert_true(n >= 0 && t->len + (size_t)n < sizeof(t->s));
	t->len += (size_t)n;
}

/* Appends the next @n bytes in hex. */
static inline void page_group(struct page_text *t, unsigned long n)
{
	while (n--)
		page_put(t, "%02x", *t->at++);
}

/* Pads the line that begins at @from up to column PAGE_TEXT. */
static inline void page_pad(struct page_text *t, size_t from)
{
	assert_true(t->len - from < PAGE_TEXT);
	page_put(t, "%*s", (int)(PAGE_TEXT - (t->len - from)), "");
}

/* Begins a line with the next bytes, in groups of the lengths in @groups.  The
 * caller appends their meaning by page_put(). */
static inline void page_hex(struct page_text *t, const char *groups)
{
	size_t from = t->len;
	char *next;
	unsigned long n;

	while ((n = strtoul(groups, &next, 10)) > 0) {
		page_put(t, "%s", t->len > from ? " " : "");
		page_group(t, n);
		groups = next;
	}
	page_pad(t, from);
}

/* Appends a line of the next @n bytes, unless @n is 0. */
static inline void page_data(struct page_text *t, unsigned n)
{
	size_t from = t->len;

	if (!n)
		return;
	page_group(t, n);
	page_pad(t, from);
	page_put(t, "%u bytes\n", n);
}

/* The text of the page, which the caller frees. */
static inline char *page_read(void)
{
	const char *src = getenv("TUX_SRC");
	char path[PAGE_MAX], *s = calloc(1, 1 << 20);
	FILE *f;

	snprintf(path, sizeof(path), "%s/man/tux-wire.7", src ? src : ".");
	f = fopen(path, "r");
	if (!f)
		fail_msg("no %s: is TUX_SRC right?", path);
	assert_true(s && fread(s, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return s;
}

/* Puts the display under @title into @t. */
static inline void page_example(struct page_text *t, const char *title)
{
	char *page = page_read(), head[80], *s, *end = NULL;

	page_text_init(t, NULL);
	snprintf(head, sizeof(head), "\n.Ss %s\n", title);
	s = strstr(page, "\n.Sh EXAMPLES\n");
	s = s ? strstr(s, head) : NULL;
	s = s ? strstr(s, "\n.Bd -literal\n") : NULL;
	if (s) {
		s += strlen("\n.Bd -literal\n");
		end = strstr(s, ".Ed\n");
	}
	if (end)
		page_put(t, "%.*s", (int)(end - s), s);
	free(page);
	if (!end)
		fail_msg("no example '%s'", title);
}

/* Puts the bytes of the example into @out.  Returns how many. */
static inline size_t page_bytes(const struct page_text *t, uint8_t *out)
{
	const char *line = t->s;
	char hex[PAGE_TEXT + 1];
	size_t n = 0;

	for (; *line; line = strchr(line, '\n') + 1) {
		snprintf(hex, sizeof(hex), "%.*s", PAGE_TEXT, line);
		n += test_hex(out + n, hex);
	}
	return n;
}

#endif
