/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tux.h - a network stack for databases that lives in the process
 *
 * What a program can ask of the library today: which version it is, and what
 * the reasons mean that the preload object gives for a connection's path
 * (tux(7), tuxrun(1)).
 */
#ifndef TUX_H
#define TUX_H

#ifdef __cplusplus
extern "C" {
#endif

#define TUX_API __attribute__((visibility("default")))

/* The version of the library that runs, such as "0.1.0". */
TUX_API const char *tux_version(void);

/* ---- why a connection is where it is --------------------------------- */

/* The word (one token) and the sentence for @reason; never NULL. */
TUX_API const char *tux_reason_word(unsigned reason);
TUX_API const char *tux_reason_sentence(unsigned reason);

#ifdef __cplusplus
}
#endif

#endif
