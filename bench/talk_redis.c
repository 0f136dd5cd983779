/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis - GET and SET in RESP 2, keys named as redis-benchmark names them
 */
#include "talk.h"

static size_t ask_get(const struct talk *t, uint64_t key, uint8_t *p)
{
	return talk_put_key(t, key, "*2\r\n$3\r\nGET\r\n$16\r\nkey:", "\r\n",
			    (char *)p);
}

static ssize_t check_get(const struct talk *t, uint64_t key, const uint8_t *p,
			 size_t len)
{
	return talk_check_value(t, key % t->keys, t->tail, "\r\n", p, len);
}

static size_t ask_set(const struct talk *t, uint64_t key, uint8_t *p)
{
	char words[TALK_WORDS];

	talk_put_key(t, key, "*3\r\n$3\r\nSET\r\n$16\r\nkey:", t->tail, words);
	return talk_put_value(t, key % t->keys, words, "\r\n", p);
}

static ssize_t check_set(const struct talk *t, uint64_t key, const uint8_t *p,
			 size_t len)
{
	(void)t;
	(void)key;
	return talk_check_words("+OK\r\n", p, len);
}

const struct talk_ops talk_redis_set = {
	.name = "redis-set",
	.before = "\r\n$",
	.after = "\r\n",
	.ask = ask_set,
	.check = check_set,
};

const struct talk_ops talk_redis_get = {
	.name = "redis-get",
	.fill = &talk_redis_set,
	.before = "$",
	.after = "\r\n",
	.ask = ask_get,
	.check = check_get,
};
