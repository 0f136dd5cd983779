/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../../bench/talk.h"

#include <stdio.h>

#include "../test.h"
#include "../../../contrib/tuxkv/proto.h"

enum { SIZE = 100, KEYS = 10 };

/* A server's answer about @key, made by hand. */
static size_t answer(const struct talk *t, uint64_t key, const char *words,
		     const char *end, uint8_t *p)
{
	size_t n = strlen(words);

	memcpy(p, words, n);
	memcpy(p + n, talk_value(t, key), SIZE);
	n += SIZE;
	memcpy(p + n, end, strlen(end));
	return n + strlen(end);
}

/* The answer at @p is right; no part of it is; and no byte of it may change. */
static void is_exact(const struct talk *t, uint64_t key, uint8_t *p, size_t len)
{
	size_t i;

	p[len] = '?';			/* the next answer */
	assert_int_equal(t->ops->check(t, key, p, len), len);
	assert_int_equal(t->ops->check(t, key, p, len + 1), len);
	for (i = 0; i < len; i++)
		assert_int_equal(t->ops->check(t, key, p, i), 0);
	for (i = 0; i < len; i++) {
		p[i] ^= 1;
		assert_int_equal(t->ops->check(t, key, p, len), -1);
		p[i] ^= 1;
	}
}

static void echo__is_its_own_answer(void **state)
{
	uint8_t p[SIZE + TALK_WORDS];
	struct talk t;

	(void)state;
	assert_int_equal(talk_init(&t, &talk_echo, SIZE, KEYS), 0);
	assert_int_equal(talk_echo.ask(&t, 5, p), SIZE);
	is_exact(&t, 5, p, SIZE);
	assert_int_equal(talk_echo.check(&t, 6, p, SIZE), -1);
	talk_fini(&t);
}

static void redis_get__text(void **state)
{
	static const char want[] =
		"*2\r\n$3\r\nGET\r\n$16\r\nkey:000000000007\r\n";
	uint8_t p[SIZE + TALK_WORDS];
	struct talk t;
	size_t n;

	(void)state;
	assert_int_equal(talk_init(&t, &talk_redis_get, SIZE, KEYS), 0);
	assert_int_equal(talk_redis_get.ask(&t, 7, p), strlen(want));
	assert_memory_equal(p, want, strlen(want));
	n = answer(&t, 7, "$100\r\n", "\r\n", p);
	is_exact(&t, 7, p, n);
	assert_int_equal(talk_redis_get.check(&t, 8, p, n), -1);
	n = (size_t)sprintf((char *)p, "$-1\r\n");
	assert_int_equal(talk_redis_get.check(&t, 7, p, n), -1);
	talk_fini(&t);
}

static void redis_set__text(void **state)
{
	static const char head[] =
		"*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000007\r\n$100\r\n";
	uint8_t p[SIZE + TALK_WORDS], want[SIZE + TALK_WORDS];
	struct talk t;
	size_t n;

	(void)state;
	assert_int_equal(talk_init(&t, &talk_redis_set, SIZE, KEYS), 0);
	n = answer(&t, 7, head, "\r\n", want);
	assert_int_equal(talk_redis_set.ask(&t, 7, p), n);
	assert_memory_equal(p, want, n);
	memcpy(p, "+OK\r\n", 5);
	is_exact(&t, 7, p, 5);
	talk_fini(&t);
}

static void memcached_get__text(void **state)
{
	static const char want[] = "get key:000000000007\r\n";
	uint8_t p[SIZE + TALK_WORDS];
	struct talk t;
	size_t n;

	(void)state;
	assert_int_equal(talk_init(&t, &talk_memcached_get, SIZE, KEYS), 0);
	assert_int_equal(talk_memcached_get.ask(&t, 7, p), strlen(want));
	assert_memory_equal(p, want, strlen(want));
	n = answer(&t, 7, "VALUE key:000000000007 0 100\r\n", "\r\nEND\r\n", p);
	is_exact(&t, 7, p, n);
	assert_int_equal(talk_memcached_get.check(&t, 8, p, n), -1);
	talk_fini(&t);
}

static void memcached_set__text(void **state)
{
	uint8_t p[SIZE + TALK_WORDS], want[SIZE + TALK_WORDS];
	struct talk t;
	size_t n;

	(void)state;
	assert_int_equal(talk_init(&t, &talk_memcached_set, SIZE, KEYS), 0);
	n = answer(&t, 7, "set key:000000000007 0 0 100\r\n", "\r\n", want);
	assert_int_equal(talk_memcached_set.ask(&t, 7, p), n);
	assert_memory_equal(p, want, n);
	memcpy(p, "STORED\r\n", 8);
	is_exact(&t, 7, p, 8);
	talk_fini(&t);
}

/* The answer of a tuxkv to the question at @q, made by hand. */
static size_t record(const uint8_t *q, uint8_t *p)
{
	struct kv_record r;
	struct kv_hdr h;
	struct kv_key k;

	memcpy(&h, q, sizeof(h));
	memcpy(&k, q + sizeof(h), sizeof(k));
	assert_true(k.key < KEYS);
	kv_record_init(&r, k.key);
	if (h.op == KV_RMW)
		kv_record_change(&r);
	h.len = sizeof(h) + sizeof(r);
	memcpy(p, &h, sizeof(h));
	memcpy(p + sizeof(h), &r, sizeof(r));
	return h.len;
}

/* An answer is about its own question, and whole. */
static void ycsb__answers_have_numbers(void **state)
{
	uint8_t q[KV_ANSWER_MAX], p[KV_ANSWER_MAX];
	unsigned id, writes = 0;
	struct talk t;
	size_t n;

	(void)state;
	assert_int_equal(talk_init(&t, &talk_ycsb_f, SIZE, KEYS), 0);
	for (id = 0; id < 1000; id++) {
		n = talk_ycsb_f.ask(&t, id, q);
		assert_int_equal(n, sizeof(struct kv_hdr) +
				    sizeof(struct kv_key));
		writes += q[offsetof(struct kv_hdr, op)] == KV_RMW;
		n = record(q, p);
		assert_int_equal(talk_ycsb_f.check(&t, id, p, n), n);
		assert_int_equal(talk_ycsb_f.check(&t, id, p, n - 1), 0);
		assert_int_equal(talk_ycsb_f.check(&t, id + 1, p, n), -1);
		p[n - 1] ^= 1;
		assert_int_equal(talk_ycsb_f.check(&t, id, p, n), -1);
	}
	assert_in_range(writes, 400, 600);
	t.ops = &talk_ycsb_c;
	for (id = 0; id < 100; id++) {
		talk_ycsb_c.ask(&t, id, q);
		assert_int_equal(q[offsetof(struct kv_hdr, op)], KV_GET);
	}
	talk_fini(&t);
}

static void find__knows_every_name(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; talk_name(i); i++)
		assert_string_equal(talk_find(talk_name(i))->name,
				    talk_name(i));
	assert_int_equal(i, 8);
	assert_null(talk_find("gopher"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(echo__is_its_own_answer),
		cmocka_unit_test(redis_get__text),
		cmocka_unit_test(redis_set__text),
		cmocka_unit_test(memcached_get__text),
		cmocka_unit_test(memcached_set__text),
		cmocka_unit_test(ycsb__answers_have_numbers),
		cmocka_unit_test(find__knows_every_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
