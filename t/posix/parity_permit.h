/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_permit - differences from kernel TCP that tux-preload(7) describes
 */
#ifndef TUX_T_POSIX_PARITY_PERMIT_H
#define TUX_T_POSIX_PARITY_PERMIT_H

#include <stdbool.h>

#include "parity_step.h"

/* May the call @s come out as @kernel over TCP, and as @tux over Tux? */
bool parity_permits(const struct parity_step *s,
		    const struct parity_record *kernel,
		    const struct parity_record *tux);

/* Prints the list. */
void parity_permit_print(void);

#endif
