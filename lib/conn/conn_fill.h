/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_fill - what goes into a numbered packet: what must be said, then messages
 * and stream bytes, as many as window and room allow
 */
#ifndef TUX_CONN_CONN_FILL_H
#define TUX_CONN_CONN_FILL_H

#include <stdint.h>

#include "part/sendbuf.h"
#include "wire/pkt.h"

struct tux_conn;

/* Adds the arrived numbers beyond the first gap, highest first. */
void tux_fill_sack(struct tux_conn *c, struct tux_writer *w);

/* Adds all that fits.  Returns what the packet says beside content (TUX_DO_...,
 * TUX_SENT_FIN); *@e are its stream bytes, *@frag_n counts its fragments. */
uint32_t tux_fill(struct tux_conn *c, struct tux_writer *w,
		  struct tux_extent *e, uint16_t *frag_n);

#endif
