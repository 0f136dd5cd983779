/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library tells the application in words.
 */
#include "api/say.h"

#include <stdio.h>
#include <string.h>

#include "sys/sys.h"

enum { LINE = 256 };

void tux_api_say_line(struct tux *t, const char *line)
{
	char text[LINE];
	int n;

	if (t->o.say) {
		t->o.say(line, t->o.say_arg);
		return;
	}
	n = snprintf(text, sizeof(text), "tux: %s\n", line);
	if (n > 0)
		tux_sys_write(2, text, (size_t)n < sizeof(text) ? (size_t)n :
							  sizeof(text) - 1);
}

void tux_api_say(struct tux *t, const char *what, int err)
{
	const char *why = strerrordesc_np(-err);
	char line[LINE];

	snprintf(line, sizeof(line), "%s: %s", what, why ? why : "error");
	tux_api_say_line(t, line);
}

_Static_assert(TUX_REASON_N <= 64, "tux.said has a bit for each reason");

void tux_api_say_reason(struct tux *t, enum tux_reason why)
{
	uint64_t bit = UINT64_C(1) << why;
	char line[LINE];

	if (!tux_reason_is_ours(why) ||
	    atomic_fetch_or(&t->first->said, bit) & bit)
		return;
	snprintf(line, sizeof(line), "connections stay on TCP: %s: %s",
		 tux_reason_word(why), tux_reason_sentence(why));
	tux_api_say_line(t, line);
}
