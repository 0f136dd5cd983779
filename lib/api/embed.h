/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed - the network thread within the application's own loop
 */
#ifndef TUX_API_EMBED_H
#define TUX_API_EMBED_H

#include "api/api_in.h"

int tux_api_embed(struct tux *t);
void tux_api_unembed(struct tux *t);

#endif
