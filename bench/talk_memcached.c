/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcached - get and set in its text protocol
 */
#include "talk.h"

static size_t ask_get(const struct talk *t, uint64_t key, uint8_t *p)
{
	return talk_put_key(t, key, "get key:", "\r\n", (char *)p);
}

static ssize_t check_get(const struct talk *t, uint64_t key, const uint8_t *p,
			 size_t len)
{
	char words[TALK_WORDS];

	talk_put_key(t, key, "VALUE key:", t->tail, words);
	return talk_check_value(t, key % t->keys, words, "\r\nEND\r\n", p, len);
}

static size_t ask_set(const struct talk *t, uint64_t key, uint8_t *p)
{
	char words[TALK_WORDS];

	talk_put_key(t, key, "set key:", t->tail, words);
	return talk_put_value(t, key % t->keys, words, "\r\n", p);
}

static ssize_t check_set(const struct talk *t, uint64_t key, const uint8_t *p,
			 size_t len)
{
	(void)t;
	(void)key;
	return talk_check_words("STORED\r\n", p, len);
}

const struct talk_ops talk_memcached_set = {
	.name = "memcached-set",
	.before = " 0 0 ",
	.after = "\r\n",
	.ask = ask_set,
	.check = check_set,
};

const struct talk_ops talk_memcached_get = {
	.name = "memcached-get",
	.fill = &talk_memcached_set,
	.before = " 0 ",
	.after = "\r\n",
	.ask = ask_get,
	.check = check_get,
};
