/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reason - why a connection is not on the Tux path
 */
#include "wire/reason.h"

const char *tux_reason_word(unsigned reason)
{
	static const char *const word[] = {
#define X(name, n, word, is, text) [n] = word,
		TUX_REASONS(X)
#undef X
	};

	return reason < TUX_REASON_N ? word[reason] : "unknown";
}

const char *tux_reason_sentence(unsigned reason)
{
	static const char *const text[] = {
#define X(name, n, word, is, text) [n] = text,
		TUX_REASONS(X)
#undef X
	};

	return reason < TUX_REASON_N ? text[reason] : "unknown reason";
}

enum tux_reason tux_reason_of(unsigned n, enum tux_reason other)
{
	return n && n < TUX_REASON_N ? (enum tux_reason)n : other;
}

enum { LASTS = 1, OURS = 2, MEASURED = 4, UNTOLD = 8 };

static bool reason_is(unsigned reason, unsigned property)
{
	static const unsigned char has[] = {
#define X(name, n, word, is, text) [n] = is,
		TUX_REASONS(X)
#undef X
	};

	return reason < TUX_REASON_N && has[reason] & property;
}

bool tux_reason_lasts(unsigned reason)
{
	return reason_is(reason, LASTS);
}

bool tux_reason_is_ours(unsigned reason)
{
	return reason_is(reason, OURS);
}

bool tux_reason_is_measured(unsigned reason)
{
	return reason_is(reason, MEASURED);
}

bool tux_reason_is_untold(unsigned reason)
{
	return reason_is(reason, UNTOLD);
}
