/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loopback - connections over loopback with both ends in this process
 *
 * What fails ends the program.
 */
#ifndef BENCH_LOOPBACK_H
#define BENCH_LOOPBACK_H

/* Listens, for the two that follow. */
void loopback_listen(void);

/* Connects, and accepts the next connection: non-blocking descriptors. */
int loopback_dial(void);
int loopback_answer(void);

/* Exchanges bytes between @a and @b until TCP carries none of them; then long
 * bursts, until TCP carries all of them. */
void loopback_move(int a, int b);
void loopback_return(int a, int b);

#endif
