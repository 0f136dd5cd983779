/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * holders - how many processes hold a connection since a fork
 *
 * The counts are in memory that all descendants of a process share.  A process
 * that is killed leaves its count: the connection then seems to have one holder
 * more, for good.  All calls are lock-free, and a signal handler may make them.
 *
 * A count is named by a number; 0 names none.  A name that is out of date,
 * since its count has ended, changes nothing.
 */
#ifndef TUX_PRELOAD_HOLDERS_H
#define TUX_PRELOAD_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

enum { HOLDERS_MAX = 65536 };	/* counts of a process and its descendants */

/* A count of 1: the caller.  0: no count is left, or no memory. */
uint64_t holders_new(void);

/* One process more. */
void holders_add(uint64_t h);

/* One process less.  True: others are left. */
bool holders_leave(uint64_t h);

/* Undoes holders_leave().  False: another process has been the only one since,
 * and has ended the count. */
bool holders_return(uint64_t h);

/* Are there others than the caller? */
bool holders_several(uint64_t h);

/* The process that had claimed the connection has it no more, and has left it as
 * plain TCP to the others: which they may not be able to ask it for later. */
void holders_set_plain(uint64_t h);
bool holders_are_plain(uint64_t h);

/* Is the caller the only one?  Then the count ends, and no process that has
 * left can return. */
bool holders_end(uint64_t h);

#endif
