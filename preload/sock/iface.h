/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iface - addresses of sockets, and of the interface that tuxrun was told
 */
#ifndef TUX_PRELOAD_IFACE_H
#define TUX_PRELOAD_IFACE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "wire/addr.h"

/* The address in @sa.  False if it is of another family. */
bool iface_addr(struct tux_addr *a, const struct sockaddr_storage *sa);

/* The address of @fd, and its peer's.  False if it is of another family, or as
 * long as there is none. */
bool iface_local(int fd, struct tux_addr *a);
bool iface_peer(int fd, struct tux_addr *a);

/* Is @a an address of the interface that tuxrun was told? */
bool iface_has(const struct tux_addr *a);

/* In a child, right after fork. */
void iface_forked(void);

#endif
