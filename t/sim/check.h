/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check - what each byte must be, and which ends of a stream are due
 */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include "sim.h"

enum { SIM_IO_MAX = 65536 };	/* the longest read or write */

/* The @len bytes that @e writes at @off. */
void sim_fill(const struct sim_end *e, uint64_t off, uint8_t *p, uint64_t len);

/* @e has read these, this, or been told that; fails the simulation if it must
 * not be. */
void sim_check_read(struct sim_end *e, const uint8_t *p, uint64_t len);
void sim_check_ended(const struct sim_end *e);
void sim_check_eof(struct sim_end *e);
void sim_check_error(struct sim_end *e, int err);

#endif
