/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * setxid - the signal by which libc has all threads change the user
 *
 * Its handler ticks its thread off, in that thread's storage, and the thread
 * that asked sends the signal again to all threads that are not ticked off. In
 * a routine the handler would tick off the wrong one: the signals would come
 * one after another, with no tick in between, until the slice ends by itself.
 * So the handler is called with the storage of the thread, where routines can have
 * storage of their own.
 */
#ifndef TUX_RUN_SETXID_H
#define TUX_RUN_SETXID_H

/* Once in a process, after its first thread: libc puts up its handler then. */
void tux_setxid_init(void);

#endif
