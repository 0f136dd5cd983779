/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_call - makes the call of a step, in a process of a world
 *
 * What a record holds depends on the outcome that a program sees, and not on
 * numbers of descriptors, ports or times.
 */
#ifndef TUX_T_POSIX_PARITY_CALL_H
#define TUX_T_POSIX_PARITY_CALL_H

#include <stdint.h>

#include "parity_step.h"

/* Two empty epoll instances, and no other descriptors. */
void parity_call_begin(void);

/* Closes all. */
void parity_call_end(void);

/* @port: of the other process's listener, or a closed one. */
void parity_call(const struct parity_step *s, uint16_t port,
		 struct parity_record *r);

/* Waits up to @ms until @slot has @bytes unread and shows @events, or more;
 * then both. */
void parity_call_observe(unsigned slot, uint32_t bytes, uint32_t events,
			 uint32_t ms, struct parity_record *r);

/* Waits up to @ms until the blocked call of @s's worker has taken @bytes, at
 * least one, and left none in @s's slot: ret is 1 if it has. */
void parity_call_swallow(const struct parity_step *s, uint32_t bytes,
			 uint32_t ms, struct parity_record *r);

/* Writes PARITY_POKED bytes that do not belong to the script; or reads once,
 * with more room than for these. */
void parity_call_poke(unsigned slot, struct parity_record *r);
void parity_call_gulp(unsigned slot, struct parity_record *r);

/* The port of this process's listener, or 0. */
uint16_t parity_call_port(void);

/* SIGPIPE is counted in the thread that gets it. */
void parity_call_signals(void);

#endif
