/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers to text and back, and a locale for each routine.
 */
#include "torture.h"

#include <ctype.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

static locale_t utf8;

static const char *start(void)
{
	utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
	return utf8 ? NULL : "no locale C.UTF-8";
}

static void there_and_back(struct hand *h)
{
	uint64_t bits = hand_random(h), i = hand_random(h);
	char text[512], more[64];
	double x = (double)(int64_t)bits / 3.0, y;

	if (bits & 1)
		x = 1 / (x * 1e200 + 1);	/* many digits, in bignums */
	snprintf(text, sizeof(text), "%.17g|%s|%llx|%a|%.300f", x, "between",
		 (unsigned long long)i, x, 1.0);
	y = strtod(text, NULL);
	must(memcmp(&x, &y, sizeof(x)) == 0);
	must(strtoull(strstr(text, "between|") + 8, NULL, 16) == i);
	snprintf(more, sizeof(more), "%a", x);
	must(strstr(text, more));
	y = strtod(more, NULL);
	must(memcmp(&x, &y, sizeof(x)) == 0);
}

/* What a thread's locale decides, before and after others were on. */
static void in_locale(struct hand *h, bool is_utf8)
{
	wchar_t wide[8];
	mbstate_t st;

	memset(&st, 0, sizeof(st));
	torture_linger(h, 2000);
	must(!strcmp(nl_langinfo(CODESET),
		     is_utf8 ? "UTF-8" : "ANSI_X3.4-1968"));
	must(toupper('q') == 'Q' && isalpha('x') && !isalpha('3'));
	if (!is_utf8)
		return;
	must(mbrtowc(wide, "\xc3\xa4", 2, &st) == 2 && wide[0] == 0xe4);
	torture_linger(h, 500);
	must(towupper(wide[0]) == 0xc4);
}

static void step(struct hand *h)
{
	bool mine = h->id % 2;

	/* Those that set none find none that another task has left. */
	if (mine)
		uselocale(utf8);
	there_and_back(h);
	in_locale(h, mine);
	there_and_back(h);
	must(uselocale((locale_t)0) == (mine ? utf8 : LC_GLOBAL_LOCALE));
}

static void leave(struct hand *h)
{
	(void)h;
	uselocale(LC_GLOBAL_LOCALE);
}

static void finish(void)
{
	freelocale(utf8);
}

const struct work work_text = {
	.name = "text", .hands = 3, .thread = true,
	.open = start, .step = step, .leave = leave, .close = finish,
};
