/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iface - which connections run over which interface
 */
#ifndef TUX_PRELOAD_IFACE_H
#define TUX_PRELOAD_IFACE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "wire/addr.h"
#include "wire/reason.h"

/* The address in @sa.  False if it is of another family. */
bool iface_addr(struct tux_addr *a, const struct sockaddr_storage *sa);

/* The address of @fd, and its peer's.  False if it is of another family, or as
 * long as there is none. */
bool iface_local(int fd, struct tux_addr *a);
bool iface_peer(int fd, struct tux_addr *a);

/* May a connection between @local and @peer move to Tux, by what tuxrun was
 * told?  TUX_REASON_NONE, or why not. */
enum tux_reason iface_allows(const struct tux_addr *local,
			     const struct tux_addr *peer);

/* The same for a listener, whose peers are not known yet. */
enum tux_reason iface_allows_listener(const struct tux_addr *local);

/* The same for a connection to @peer, of which our own address is not known. */
enum tux_reason iface_allows_peer(const struct tux_addr *peer);

/* In a child, right after fork. */
void iface_forked(void);

#endif
