/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths_give_way - the interface is left to other programs, and taken again
 */
#ifndef TUX_AFXDP_PATHS_GIVE_WAY_H
#define TUX_AFXDP_PATHS_GIVE_WAY_H

#include "afxdp/paths_iface.h"

/* Looks whether others need the interface more than the flows do, and follows
 * what policy/give_way.h decides. */
void tux_paths_give_way(struct tux_paths *p, tux_time now);

/* Another interface is used from now on: its own traffic counts. */
void tux_paths_give_way_anew(struct tux_paths *p);

#endif
