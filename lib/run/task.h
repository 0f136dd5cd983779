/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task - what a routine does: one task after another
 */
#ifndef TUX_RUN_TASK_H
#define TUX_RUN_TASK_H

#include "run/sched_in.h"

/* A new routine, idle; NULL: none to be had now. */
struct tux_routine *tux_routine_make(struct tux_sched *s);

#endif
