/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault - what is wrong, and what the administrator can do: one line
 */
#ifndef TUXD_FAULT_H
#define TUXD_FAULT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

struct fault {
	char text[512];
};

/* Returns false, for the caller to return. */
__attribute__((format(printf, 2, 3)))
static inline bool fault_is(struct fault *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return false;
}

#endif
