/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths - the path manager: whether packets can travel over an interface
 *
 * The slow side of the `xdp` link.  It takes the interface when the first
 * connection asks for it and gives it back a while after the last has gone,
 * follows routes, neighbours and the interface itself, and tries again what
 * failed.  Descriptors and `due_at` wake it.  It sets `changed` when
 * tux_paths_admit() or tux_paths_closed() may answer otherwise.
 *
 *   paths.c        events, time, birth and death
 *   paths_flow.c   flows: admitted, routed, forgotten
 *   paths_iface.c  the interface: looked at, taken
 */
#ifndef TUX_AFXDP_PATHS_H
#define TUX_AFXDP_PATHS_H

#include "afxdp/paths_flow.h"
#include "afxdp/paths_iface.h"

/* What epoll says, beyond the caller's tag. */
enum { TUX_PATHS_PACKETS, TUX_PATHS_NEIGH, TUX_PATHS_NIC, TUX_PATHS_SOCKET };

/* @p is all zero; @port: of UDP, to which packets for us go.  -errno. */
int tux_paths_init(struct tux_paths *p, int epfd, uint64_t tag,
		   const struct tux_link_opts *o, uint16_t port);
void tux_paths_fini(struct tux_paths *p);
void tux_paths_forked(struct tux_paths *p);

/* epoll has named @what (TUX_PATHS_NEIGH, TUX_PATHS_NIC). */
void tux_paths_event(struct tux_paths *p, unsigned what, tux_time now);

/* @p->due_at has come. */
void tux_paths_tick(struct tux_paths *p, tux_time now);

/* @n datagrams went over UDP sockets, while the interface is not ours.  If these
 * are enough, an interface that was given back since flows were idle is taken
 * again. */
void tux_paths_stir(struct tux_paths *p, unsigned n, tux_time now);

/* No thread drives any more: reports the counts of the interface, if ours. */
void tux_paths_count(struct tux_paths *p);

#endif
