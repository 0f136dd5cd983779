/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout - where the kernel's structs have what counts the holders of a socket
 *
 * The running kernel describes its types (BTF).  So the programs need no
 * relocations, and load also on a kernel that has no such description.
 */
#ifndef TUXD_LAYOUT_H
#define TUXD_LAYOUT_H

#include <stdbool.h>

#include "tuxd_bpf.h"

struct btf;

/* Of the types in @b.  False, and all of *@l is 0: not all is there. */
bool layout_find(struct tux_bpf_layout *l, const struct btf *b);

/* ... of the running kernel. */
bool layout_read(struct tux_bpf_layout *l);

#endif
