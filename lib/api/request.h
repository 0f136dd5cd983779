/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request - what one loop of a stack has another one do
 */
#ifndef TUX_API_REQUEST_H
#define TUX_API_REQUEST_H

#include "api/api_in.h"

/* Calls @fn(@arg) for loop @t: here, if the caller is a routine of it, or
 * thread 0 and @t is that one's, or if no other thread runs.  Else it is
 * called in the next turn of @t, on the stack of the thread that runs it,
 * and the caller waits: so @fn must not call malloc() or free(). */
void tux_api_do(struct tux *t, void (*fn)(void *arg), void *arg);

/* In a turn: does what others have asked for. */
void tux_api_requests_do(struct tux *t);

/* At the end of the stack: callers that still wait for @t stand still. */
void tux_api_requests_forget(struct tux *t);

#endif
