/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * life - the states of a connection's life, and the paths of its directions
 *
 * state.h has the transitions.
 */
#ifndef TUX_CONN_LIFE_H
#define TUX_CONN_LIFE_H

enum tux_life {
	TUX_LIFE_OPENING,	/* HELLOs; the path is not proved */
	TUX_LIFE_OWNING,	/* proved; the loop duplicates the descriptor */
	TUX_LIFE_REFUSED,	/* it could not: on TCP for good */
	TUX_LIFE_PROVED,	/* both directions may move */
	TUX_LIFE_DEAD,		/* the application has been told the error */
	TUX_LIFE_GONE,		/* nothing is left to do: close it */
	TUX_LIFE_N
};

enum tux_path {
	TUX_PATH_PLAIN,		/* the application's own bytes on TCP */
	TUX_PATH_TUX,		/* from a ring, in packets */
	TUX_PATH_FRAMES,	/* from a ring, in frames on TCP */
	TUX_PATH_RAW,		/* behind a RAW frame: plain again, for good */
	TUX_PATH_N
};

#endif
