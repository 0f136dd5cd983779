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

bool tux_reason_lasts(unsigned reason)
{
	switch (reason) {
	case TUX_REASON_LOOPBACK:
	case TUX_REASON_PORT_TAKEN:
	case TUX_REASON_VERSION:
	case TUX_REASON_NOT_OWNER:
	case TUX_REASON_PINNED:
	case TUX_REASON_OTHER_INTERFACE:
	case TUX_REASON_NO_PRIVILEGE:
	case TUX_REASON_FOREIGN_XDP:
	case TUX_REASON_INTERFACE_BUSY:
	case TUX_REASON_NO_XDP:
	case TUX_REASON_MTU:
	case TUX_REASON_NO_MEMLOCK:
	case TUX_REASON_NOT_BUILT:
	case TUX_REASON_NO_DRIVER:
	case TUX_REASON_NOT_ANNOUNCED:
	case TUX_REASON_TRANSLATED:
	case TUX_REASON_SYN_COOKIE:
	case TUX_REASON_NO_ANNOUNCE:
	case TUX_REASON_CHOSEN:
	case TUX_REASON_BUNDLED:
	case TUX_REASON_BYPASSED:
	case TUX_REASON_LISTENERS:
	case TUX_REASON_SANDBOXED:
	case TUX_REASON_SHARED:
	case TUX_REASON_UNSEEN:
		return true;
	default:
		return false;
	}
}
