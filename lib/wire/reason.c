/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reason - why a connection is not on the Tux path
 */
#include "wire/reason.h"

const char *tux_reason_word(unsigned reason)
{
	static const char *const word[] = {
#define X(name, n, word, text) [n] = word,
		TUX_REASONS(X)
#undef X
	};

	return reason < TUX_REASON_N ? word[reason] : "unknown";
}

const char *tux_reason_sentence(unsigned reason)
{
	static const char *const text[] = {
#define X(name, n, word, text) [n] = text,
		TUX_REASONS(X)
#undef X
	};

	return reason < TUX_REASON_N ? text[reason] : "unknown reason";
}
