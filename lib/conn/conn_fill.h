/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_fill - what goes into a numbered packet: control records, then messages
 * and stream bytes, as many as the peer's window and the packet allow
 */
#ifndef TUX_CONN_CONN_FILL_H
#define TUX_CONN_CONN_FILL_H

#include <stdint.h>

#include "transport/sendbuf.h"
#include "wire/pkt.h"

struct tux_conn;

/* Adds SACK to the packet: the ranges of packet numbers that have arrived
 * beyond the first gap, highest first.  Adds nothing if there is no gap. */
void tux_fill_sack(struct tux_conn *c, struct tux_writer *w);

/* Adds to the packet all that fits, and notes that it was sent.  *@e is the
 * extent of stream bytes that goes next, empty if there is none, and is cut to
 * what fits.  Returns which control records the packet carries (TUX_DO_*), and
 * TUX_SENT_FIN if its stream bytes end with FIN; *@frag_n is raised by the number
 * of its fragments of messages. */
uint32_t tux_fill(struct tux_conn *c, struct tux_writer *w,
		  struct tux_extent *e, uint16_t *frag_n);

#endif
