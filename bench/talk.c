/* SPDX-License-Identifier: BSD-2-Clause */
#include "talk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct talk_ops *const all[] = {
	&talk_echo,
	&talk_redis_get,
	&talk_redis_set,
	&talk_memcached_get,
	&talk_memcached_set,
	&talk_ycsb_c,
	&talk_ycsb_f,
	&talk_tpcc,
};

const char *talk_name(unsigned i)
{
	return i < sizeof(all) / sizeof(*all) ? all[i]->name : NULL;
}

const struct talk_ops *talk_find(const char *name)
{
	unsigned i;

	for (i = 0; talk_name(i); i++)
		if (!strcmp(talk_name(i), name))
			return all[i];
	return NULL;
}

int talk_init(struct talk *t, const struct talk_ops *ops, uint32_t size,
	      uint32_t keys)
{
	uint32_t i, n = size + TALK_SHIFTS;

	*t = (struct talk){ .ops = ops, .size = size, .records = keys };
	t->room = ops->room ? ops->room : (size_t)size + TALK_WORDS;
	if (ops->before) {
		t->keys = keys;
		snprintf(t->tail, sizeof(t->tail), "%s%u%s", ops->before, size,
			 ops->after);
	}
	t->bytes = malloc(n);
	if (!t->bytes)
		return -ENOMEM;
	/* Of a period that divides no packet's length and no page. */
	for (i = 0; i < n; i++)
		t->bytes[i] = (uint8_t)('!' + i % 89);
	return 0;
}

void talk_fini(struct talk *t)
{
	free(t->bytes);
	t->bytes = NULL;
}

/* 1 if all of @want is at *@at, which then points behind it; 0 if @p ends
 * before, -1 if a byte differs. */
static int match(const void *want, size_t n, const uint8_t **at,
		 const uint8_t *end)
{
	size_t there = (size_t)(end - *at);

	if (there > n)
		there = n;
	if (memcmp(*at, want, there) != 0)
		return -1;
	*at += there;
	return there == n;
}

ssize_t talk_check_words(const char *words, const uint8_t *p, size_t len)
{
	const uint8_t *at = p;
	int r = match(words, strlen(words), &at, p + len);

	return r > 0 ? at - p : r;
}

ssize_t talk_check_value(const struct talk *t, uint64_t key, const char *words,
			 const char *end, const uint8_t *p, size_t len)
{
	const uint8_t *at = p, *stop = p + len;
	int r = match(words, strlen(words), &at, stop);

	if (r > 0)
		r = match(talk_value(t, key), t->size, &at, stop);
	if (r > 0)
		r = match(end, strlen(end), &at, stop);
	return r > 0 ? at - p : r;
}

static uint8_t *put(uint8_t *p, const void *from, size_t n)
{
	memcpy(p, from, n);
	return p + n;
}

size_t talk_put_value(const struct talk *t, uint64_t key, const char *words,
		      const char *end, uint8_t *p)
{
	uint8_t *at = put(p, words, strlen(words));

	at = put(at, talk_value(t, key), t->size);
	at = put(at, end, strlen(end));
	return (size_t)(at - p);
}

size_t talk_put_key(const struct talk *t, uint64_t key, const char *words,
		    const char *end, char *p)
{
	size_t n = strlen(words), i;

	memcpy(p, words, n);
	key %= t->keys;
	for (i = TALK_DIGITS; i-- > 0; key /= 10)
		p[n + i] = (char)('0' + key % 10);
	n += TALK_DIGITS;
	memcpy(p + n, end, strlen(end) + 1);
	return n + strlen(end);
}
