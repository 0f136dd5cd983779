/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program - the two programs of bpf/tuxd.bpf.c: loaded, attached, pinned
 *
 * A pinned link keeps its program attached when tuxd has ended.  Maps and
 * programs have pins as well, to be looked at later.
 */
#ifndef TUXD_PROGRAM_H
#define TUXD_PROGRAM_H

#include <stdbool.h>

#include "fault.h"
#include "place.h"
#include "tuxd_bpf.h"

enum program_state {
	PROGRAM_ABSENT,
	PROGRAM_THERE,
	PROGRAM_DAMAGED,		/* part of it: load() makes it anew */
};

/* What is at @p.  *@s is what it was loaded with, if it is THERE, and *@listeners
 * how many are announced; what is wrong, in @f, if it is DAMAGED. */
enum program_state program_look(const struct place *p,
				struct tux_bpf_settings *s,
				unsigned *listeners, struct fault *f);

/* Loads, attaches and pins; the directory of the pins is there, and empty.  If
 * it returns false, pins may be left. */
bool program_load(const struct place *p, const struct tux_bpf_conf *conf,
		  struct fault *f);

/* Others than this tuxd's may be THERE at @p, with the same settings: then this
 * tuxd's take over, in one step each, with the maps and the secret, so that marks,
 * listeners, counts and handshakes that are under way stay.  If it returns false, some
 * may have been replaced, and what is there works. */
bool program_renew(const struct place *p, const struct tux_bpf_conf *conf,
		   struct fault *f);

/* Takes off what is attached, though others may hold it. */
void program_detach(const struct place *p);

#endif
