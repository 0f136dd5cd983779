/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preset - connections that are not new: their numbers stand where they would
 * after billions of packets, messages or generations, just below the wrap
 *
 * For plan.preset, of both ends alike.
 */
#ifndef SIM_PRESET_H
#define SIM_PRESET_H

struct sim_end;

typedef void sim_preset_fn(struct sim_end *e);

sim_preset_fn sim_near_seq;		/* numbers of packets */
sim_preset_fn sim_near_ids;		/* of messages, in either lane */
sim_preset_fn sim_near_pos;		/* their places */
sim_preset_fn sim_near_order;
sim_preset_fn sim_near_messages;	/* these three */
sim_preset_fn sim_near_gen;		/* generations */
sim_preset_fn sim_near_all;

#endif
