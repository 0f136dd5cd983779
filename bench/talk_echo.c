/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * echo - bench/echo sends back what it gets; bytes in a wrong order are found,
 * since neighbouring keys have different values
 */
#include "talk.h"

static size_t ask(const struct talk *t, uint64_t key, uint8_t *p)
{
	return talk_put_value(t, key, "", "", p);
}

static ssize_t check(const struct talk *t, uint64_t key, const uint8_t *p,
		     size_t len)
{
	return talk_check_value(t, key, "", "", p, len);
}

const struct talk_ops talk_echo = {
	.name = "echo",
	.ask = ask,
	.check = check,
};
