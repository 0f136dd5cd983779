/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic - an interface that we have taken: our program on it, a socket per queue
 *
 * Taking it and giving it back can last, while a driver resets its hardware.  A
 * thread of its own does it, so that the loop goes on meanwhile: the loop calls
 * tux_nic_take() or tux_nic_drop() while the state is OFF or ON, and
 * tux_nic_finish() whenever `fd` is readable.  While the thread runs, all in here is
 * the thread's but `state`, `fd`, `done`, `shares` and `loops`.
 *
 * While the interface is ON, the loops of the stack have shares of its queues.  It is
 * given back when none holds one any more.  The path manager calls all functions, under
 * its latch.
 */
#ifndef TUX_AFXDP_NIC_H
#define TUX_AFXDP_NIC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "afxdp/prog.h"
#include "afxdp/shares.h"
#include "afxdp/trial.h"
#include "afxdp/xsk.h"
#include "kernel/feature.h"
#include "kernel/neigh.h"
#include "link/link.h"
#include "wire/reason.h"
#include "tux_bpf.h"

enum {
	TUX_NIC_QUEUES = TUX_BPF_QUEUES,
	/* Packets are never longer than this, headers of IP and UDP included,
	 * whatever the interface takes: with what drivers put around it, a
	 * page.  So they are received in one piece also where the interface's
	 * own longest ones come in several. */
	TUX_NIC_MTU = 3498,
	TUX_NIC_MTU_MIN = 576,
};

enum tux_nic_state {
	TUX_NIC_OFF,		/* not taken; reason may say why */
	TUX_NIC_ON,		/* taken */
	TUX_NIC_BUSY,		/* on the way to one of them */
};

struct tux_nic {
	enum tux_nic_state state;	/* the path manager's view */
	enum tux_reason reason;		/* why the last take() failed; NONE */
	int fd;				/* an eventfd, which wakes the first loop:
					 * tux_nic_finish() has something to do */
	struct tux_shares shares;	/* of its queues */
	unsigned loops;			/* those below it are to get a share */
	bool revokes;			/* BUSY: the thread starts when no share is
					 * held */
	_Atomic bool done;		/* the thread has ended */
	struct tux_netlink ask;		/* the thread's */
	struct tux_iface iface;		/* as it was when taken */
	struct tux_feature feature;	/* of its driver */
	enum tux_zerocopy zerocopy;	/* to try when it is taken next */
	bool refused;			/* zero copy was, when it was taken */
	struct tux_trial trial;		/* of zero copy */
	struct tux_prog prog;
	uint32_t n;			/* queues to receive from */
	uint32_t tx_n;			/* the first so many may send */
	struct tux_tally tally;		/* as of the last tux_nic_count() */
	struct tux_xsk xsk[TUX_NIC_QUEUES];
	bool threaded;			/* thread is there to be joined */
	pthread_t thread;
};

int tux_nic_init(struct tux_nic *n);		/* -errno */

/* No loop holds a share: waits for the thread, gives the interface back. */
void tux_nic_fini(struct tux_nic *n);

/* In a forked child: closes the descriptors. */
void tux_nic_forked(struct tux_nic *n);

/* How many queues the interface named @ifname has to receive from, TUX_NIC_QUEUES at
 * most; the first *@tx of them can also send.  1 and 1 if its driver does not say. */
uint32_t tux_nic_queues(const char *ifname, uint32_t *tx);

/* Starts to take the interface @i, or to give it back. */
void tux_nic_take(struct tux_nic *n, const struct tux_iface *i);
void tux_nic_drop(struct tux_nic *n);

/* The loops of the stack below @loops divide the queues; see tux_nic_sharers(). */
void tux_nic_share(struct tux_nic *n, unsigned loops);

/* Among how many loops the queues of an interface that is ON are to be divided: each
 * gets one that can send. */
static inline uint32_t tux_nic_sharers(const struct tux_nic *n)
{
	return n->loops < n->tx_n ? n->loops : n->tx_n;
}

/* Does zero copy work, as far as is known at @now? */
enum tux_trial_state tux_nic_try(struct tux_nic *n, tux_time now);

/* What has gone through its sockets into @t, and nothing else; also while loops use
 * them. */
void tux_nic_moved(const struct tux_nic *n, struct tux_tally *t);

/* Counts into n->tally, when nobody receives or sends; a moment is left for
 * what is under way.  Dropping an interface does it by itself. */
void tux_nic_count(struct tux_nic *n);

/* Assigns shares if the interface is ON, and starts to give it back when none is held
 * any more.  True: the thread has ended, and state is ON, or OFF with the reason if ON
 * was asked for in vain. */
bool tux_nic_finish(struct tux_nic *n);

/* No loop runs any more: waits for the thread if there is one.  State is ON or
 * OFF. */
void tux_nic_halt(struct tux_nic *n);

#endif
