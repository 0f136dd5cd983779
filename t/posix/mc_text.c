/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcached's text protocol.
 */
#include "mc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void text_store(struct mc *c, uint32_t i)
{
	char key[64], line[128];
	uint32_t len = mc_value(c, i);

	mc_key(c, i, key, sizeof(key));
	mc_put(c, line, (size_t)snprintf(line, sizeof(line), "set %s %u 0 %u\r\n",
				      key, i, len));
	mc_put(c, c->value, len);
	mc_put(c, "\r\n", 2);
	mc_expect_text(c, "set", "STORED\r\n");
}

static void text_value(struct mc *c, uint32_t i)
{
	char key[64], line[128];
	uint32_t len = mc_value(c, i);

	mc_key(c, i, key, sizeof(key));
	snprintf(line, sizeof(line), "VALUE %s %u %u\r\n", key, i, len);
	mc_expect_text(c, "get: header", line);
	mc_expect(c, "get: value", c->value, len);
	mc_expect_text(c, "get: end", "\r\n");
}

/* Values from @i to before @end in one question. */
static void text_get(struct mc *c, uint32_t i, uint32_t end)
{
	char line[MC_TOGETHER * 64 + 16] = "get", key[64];
	size_t len = strlen(line);
	uint32_t k;

	for (k = i; k < end; k++) {
		mc_key(c, k, key, sizeof(key));
		len += (size_t)snprintf(line + len, sizeof(line) - len, " %s",
					key);
	}
	len += (size_t)snprintf(line + len, sizeof(line) - len, "\r\n");
	mc_put(c, line, len);
	for (k = i; k < end; k++)
		text_value(c, k);
	mc_expect_text(c, "get: end", "END\r\n");
}

static void text_say(struct mc *c, const char *verb, const char *rest,
		     const char *want)
{
	char line[160];

	snprintf(line, sizeof(line), "%s mc:n:%" PRIu64 ":%u%s\r\n", verb,
		 c->seed, c->id, rest);
	mc_put(c, line, strlen(line));
	mc_expect_text(c, verb, want);
}

static void text_odds(struct mc *c)
{
	char line[160];

	text_say(c, "set", " 0 0 2\r\n41", "STORED\r\n");
	text_say(c, "incr", " 1", "42\r\n");
	text_say(c, "append", " 0 0 1\r\n0", "STORED\r\n");
	text_say(c, "decr", " 20", "400\r\n");
	text_say(c, "add", " 0 0 1\r\nx", "NOT_STORED\r\n");
	text_say(c, "delete", "", "DELETED\r\n");
	text_say(c, "get", "", "END\r\n");
	text_say(c, "delete", "", "NOT_FOUND\r\n");
	/* many questions at once */
	snprintf(line, sizeof(line), "get no:1\r\nget no:2\r\nnonsense\r\n"
		 "get no:3\r\n");
	mc_put(c, line, strlen(line));
	mc_expect_text(c, "pipeline", "END\r\nEND\r\nERROR\r\nEND\r\n");
}

const struct mc_protocol mc_text = {
	.name = "text", .store = text_store, .get = text_get, .odds = text_odds,
};
