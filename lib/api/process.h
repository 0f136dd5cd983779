/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process - the stacks of the process
 *
 * The child of a fork() has none of them: their descriptors are closed there.
 * When the process calls exit(), what was written and sent is delivered first, for
 * up to a second.
 */
#ifndef TUX_API_PROCESS_H
#define TUX_API_PROCESS_H

#include "api/api_in.h"

/* @t is one of them from now on; or not any more. */
void tux_api_enrol(struct tux *t);
void tux_api_strike_off(struct tux *t);

#endif
