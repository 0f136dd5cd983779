/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths - the path manager: whether packets can travel over an interface
 *
 * The slow side of the `xdp` link.  It takes the interface (attaches the XDP
 * program, opens the sockets) when a connection asks for it.  It gives the
 * interface back when no flow has used it for a while.  If UDP sockets can carry
 * the flows (`mixed`), flows with little traffic count as unused, and go on over
 * UDP.  It follows routes, neighbours and the interface itself, and tries again
 * what failed.  Descriptors and `due_at` wake it.  It sets `changed` when
 * tux_paths_admit() or tux_paths_closed() may answer otherwise.
 *
 * The loops of a stack share one path manager.  The caller holds `latch`, except for
 * init, fini, forked and count, and for what does not change after init: `ifname`,
 * `mixed`.  Only the first loop calls tux_paths_event() and tux_paths_tick().
 *
 *   paths.c        events, time, birth and death
 *   paths_flow.c   flows: admitted, routed, forgotten
 *   paths_iface.c  the interface: looked at, taken
 *   paths_give_way.c  leaves it to the bulk of other programs
 */
#ifndef TUX_AFXDP_PATHS_H
#define TUX_AFXDP_PATHS_H

#include "afxdp/paths_flow.h"
#include "afxdp/paths_iface.h"

/* Added to the caller's @tag in the data that epoll returns. */
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

/* The UDP socket has carried @n datagrams, both ways, since the last call.  At 32
 * of them within 100 ms, the flows count as in use.  An interface that was given
 * back because they were idle is then taken again. */
void tux_paths_udp_used(struct tux_paths *p, unsigned n, tux_time now);

/* No thread drives any more: reports the counts of the interface, if ours. */
void tux_paths_count(struct tux_paths *p);

#endif
