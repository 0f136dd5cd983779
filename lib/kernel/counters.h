/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters - how many bytes an interface has carried, as /proc/net/dev tells
 *
 * The kernel answers without the lock that changes of interfaces hold for long,
 * so a loop may ask.
 */
#ifndef TUX_KERNEL_COUNTERS_H
#define TUX_KERNEL_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* A descriptor to ask through, -errno. */
int tux_counters_open(void);

/* The bytes received and sent over @ifname, together.  False: not known. */
bool tux_counters_read(int fd, const char *ifname, uint64_t *bytes);

#endif
