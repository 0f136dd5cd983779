/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths_yield - the interface is left to other programs, and taken again
 */
#ifndef TUX_LINK_PATHS_YIELD_H
#define TUX_LINK_PATHS_YIELD_H

#include "link/paths_iface.h"

/* Looks whether others need the interface more than the flows do, and follows
 * what policy/yield.h decides. */
void tux_paths_yield(struct tux_paths *p, tux_time now);

/* Another interface is used from now on: its own traffic counts. */
void tux_paths_yield_anew(struct tux_paths *p);

#endif
