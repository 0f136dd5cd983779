/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public calls that have no better home; the reasons' are wire/reason.c's.
 */
#include <tux.h>

#include "config.h"

const char *tux_version(void)
{
	return PACKAGE_VERSION;
}
