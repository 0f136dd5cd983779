/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deliver - a run of a connection's task
 */
#ifndef TUX_API_DELIVER_H
#define TUX_API_DELIVER_H

#include "api/api_in.h"

void tux_api_run(struct tux_task *task);

/* For a callback of @c that waits: looks for an error that the task of @c has not
 * come to see. */
void tux_api_look_at_break(struct tux_connection *c);

#endif
