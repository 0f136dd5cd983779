/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * life - the states of a connection's life, and the paths of its directions
 *
 * state.h has the transitions.  DESIGN, How a connection decides, draws them.
 */
#ifndef TUX_CONN_LIFE_H
#define TUX_CONN_LIFE_H

enum tux_life {
	TUX_LIFE_OPENING,	/* HELLOs; the path is not proved */
	TUX_LIFE_OWNING,	/* proved; the loop duplicates the descriptor */
	TUX_LIFE_REFUSED,	/* the loop could not: on TCP for good */
	TUX_LIFE_PROVED,	/* the loop could: both directions may switch */
	TUX_LIFE_DEAD,		/* broken: the application gets an error */
	TUX_LIFE_GONE,		/* nothing is left to do: the loop closes it */
	TUX_LIFE_N
};

enum tux_path {
	TUX_PATH_PLAIN,		/* the application uses TCP itself */
	TUX_PATH_TUX,		/* through a ring, in packets */
	TUX_PATH_FRAMES,	/* through a ring, in frames on TCP */
	TUX_PATH_RAW,		/* plain TCP again, for good: behind a RAW frame */
	TUX_PATH_N
};

#endif
