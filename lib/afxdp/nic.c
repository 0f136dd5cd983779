/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/nic.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/eventfd.h>

#include "sys/fd.h"
#include "sys/sys.h"
#include "sys/thread.h"
#include "sys/wake.h"

enum {
	FRAMES_ALL = 16384,		/* of all queues together, 64 MiB */
	/* Of one queue.  Half of them go round between the kernel and us as packets
	 * come, and a packet in a frame that is not in a cache takes longer: with
	 * 4096, answers of 16 KB over a veth came at 0.7 of the rate. */
	FRAMES_MAX = 1024, FRAMES_MIN = 512,
	STACK = 256 * 1024,
	/* The kernel may still be dismantling the socket of a process that died
	 * a moment ago. */
	TRIES = 10, TRY_MS = 20,
	COUNTS = 20, COUNT_MS = 1,	/* until what was sent is back */
};

static void pause_ms(unsigned ms)
{
	struct timespec ts = { 0, (long)ms * 1000000 };

	tux_sys_ppoll(NULL, 0, &ts, NULL);
}

/* ---- giving back ---- */

static void close_queues(struct tux_nic *n)
{
	while (n->n > 0)
		tux_xsk_close(&n->xsk[--n->n]);
}

static void nic_count(struct tux_nic *n)
{
	uint32_t i;

	memset(&n->tally, 0, sizeof(n->tally));
	for (i = 0; i < n->n; i++)
		tux_xsk_count(&n->xsk[i], &n->tally);
}

void tux_nic_moved(const struct tux_nic *n, struct tux_tally *t)
{
	uint32_t i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < n->n; i++)
		tux_xsk_moved(&n->xsk[i], t);
}

void tux_nic_count(struct tux_nic *n)
{
	unsigned i;

	nic_count(n);
	for (i = 0; i < COUNTS; i++) {
		if (!n->tally.sent && !tux_tally_missing(&n->tally))
			break;
		pause_ms(COUNT_MS);
		nic_count(n);
	}
}

enum tux_trial_state tux_nic_try(struct tux_nic *n, tux_time now)
{
	uint64_t left = 0, came = 0;
	struct tux_tally t;
	uint32_t i;

	if (n->trial.state != TUX_TRIAL_RUNS)
		return n->trial.state;
	tux_nic_moved(n, &t);
	for (i = 0; i < n->n; i++)
		tux_xsk_seen(&n->xsk[i], &left, &came);
	return tux_trial_look(&n->trial, t.tx, left, came, now);
}

/* Nothing arrives once the program is off, so that frames stand still. */
static void nic_give_back(struct tux_nic *n)
{
	tux_prog_close(&n->prog);
	tux_nic_count(n);
	close_queues(n);
}

/* ---- taking ---- */

/* The administrator's hard limit; none at all with the privilege. */
static void raise_memlock(void)
{
	struct rlimit l = { RLIM_INFINITY, RLIM_INFINITY };

	if (!TUX_SYS(SYS_prlimit64, 0, RLIMIT_MEMLOCK, &l, 0, 0, 0) ||
	    TUX_SYS(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, &l, 0, 0))
		return;
	l.rlim_cur = l.rlim_max;
	TUX_SYS(SYS_prlimit64, 0, RLIMIT_MEMLOCK, &l, 0, 0, 0);
}

uint32_t tux_nic_queues(const char *ifname, uint32_t *tx)
{
	struct ethtool_channels c = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq r = { .ifr_data = (void *)&c };
	int fd = tux_sys_socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t rx = 1, sends = 1;

	strncpy(r.ifr_name, ifname, sizeof(r.ifr_name) - 1);
	if (fd >= 0 && !TUX_SYS(SYS_ioctl, fd, SIOCETHTOOL, &r, 0, 0, 0)) {
		rx = c.combined_count + c.rx_count;
		sends = c.combined_count + c.tx_count;
	}
	tux_fd_close(fd);
	if (!rx)
		rx = 1;
	if (rx > TUX_NIC_QUEUES)
		rx = TUX_NIC_QUEUES;
	*tx = sends < rx && sends ? sends : rx;
	return rx;
}

static uint32_t frames_for(uint32_t queues)
{
	uint32_t n = FRAMES_MAX;

	while (n > FRAMES_MIN && n * queues > FRAMES_ALL)
		n /= 2;
	return n;
}

static int nic_reason_of(int err)
{
	switch (err) {
	case 0:
		return 0;
	case -EPERM:
	case -EACCES:
		return -TUX_REASON_NO_PRIVILEGE;
	case -EBUSY:
		return -TUX_REASON_INTERFACE_BUSY;
	case -ENOBUFS:
		return -TUX_REASON_NO_MEMLOCK;
	case -ENOMEM:
		return -TUX_REASON_NO_MEMORY;
	case -ENODEV:
	case -ENXIO:
		return -TUX_REASON_NO_INTERFACE;
	case -ENETDOWN:
		return -TUX_REASON_LINK_DOWN;
	case -EMFILE:
	case -ENFILE:
		return -TUX_REASON_NO_FD;
	default:
		return -TUX_REASON_NO_XDP;
	}
}

/* The frames stay registered from try to try: pinning them takes long. */
static int nic_bind(struct tux_nic *n, uint32_t i, uint16_t how)
{
	unsigned tries = 0;
	int err;

	for (;;) {
		err = tux_xsk_bind(&n->xsk[i], n->iface.index, i, how);
		if (err != -EBUSY || ++tries == TRIES)
			return err;
		pause_ms(TRY_MS);
	}
}

static int nic_open_queue(struct tux_nic *n, uint32_t i, uint32_t frames,
			  uint16_t how)
{
	int err = tux_xsk_open(&n->xsk[i], frames);

	if (!err)
		err = nic_bind(n, i, how);
	if (!err)
		err = tux_prog_queue(&n->prog, i, n->xsk[i].fd);
	return nic_reason_of(err);
}

static int nic_open_all(struct tux_nic *n, uint32_t all, uint32_t frames,
			uint16_t how)
{
	int r = 0;

	for (n->n = 0; n->n < all && !r; n->n++)
		r = nic_open_queue(n, n->n, frames, how);
	if (r)
		close_queues(n);
	return r;
}

/* With fewer frames, if so many may not be locked. */
static int open_as(struct tux_nic *n, uint16_t how)
{
	uint32_t all, frames;
	int r;

	all = tux_nic_queues(n->iface.name, &n->tx_n);
	frames = frames_for(all);
	for (;;) {
		r = nic_open_all(n, all, frames, how);
		frames /= 2;
		if (r != -TUX_REASON_NO_MEMLOCK || frames < FRAMES_MIN)
			return r;
		pause_ms(TRY_MS);	/* what was closed is unlocked later */
	}
}

/* Zero copy is a matter of luck with the driver, so it is used only where it
 * is wanted, is not refused, and then proves itself. */
static int open_queues(struct tux_nic *n)
{
	n->refused = false;
	n->trial.state = TUX_TRIAL_NONE;
	if (n->zerocopy == TUX_ZEROCOPY_ON ||
	    (n->zerocopy == TUX_ZEROCOPY_AUTO &&
	     tux_feature_may(&n->feature, TUX_FEATURE_ZEROCOPY))) {
		if (!open_as(n, XDP_ZEROCOPY)) {
			tux_trial_begin(&n->trial);
			return 0;
		}
		n->refused = true;
	}
	return open_as(n, XDP_COPY);
}

static int nic_attach(struct tux_nic *n)
{
	unsigned tries = 0;
	int r;

	for (;;) {
		r = tux_prog_attach(&n->prog, n->iface.index);
		if (r != -TUX_REASON_INTERFACE_BUSY || ++tries == TRIES)
			return r;
		pause_ms(TRY_MS);
	}
}

/* The program comes before the sockets: some drivers have the queues for them
 * only then, and without an entry in the maps it does nothing. */
static int nic_take(struct tux_nic *n)
{
	int r;

	if (!n->iface.up)
		return -TUX_REASON_LINK_DOWN;
	if (tux_neigh_has_ports(&n->ask, n->iface.index))
		return -TUX_REASON_BUNDLED;
	tux_feature_ask(&n->feature, n->iface.index);
	if (!tux_feature_may(&n->feature,
			     TUX_FEATURE_BASIC | TUX_FEATURE_REDIRECT))
		return -TUX_REASON_NO_DRIVER;
	raise_memlock();
	r = tux_prog_load(&n->prog);
	if (!r)
		r = nic_attach(n);
	if (!r)
		r = open_queues(n);
	if (r)
		nic_give_back(n);
	else
		nic_count(n);
	return r;
}

/* ---- shares ---- */

static void nic_assign(struct tux_nic *n)
{
	if (n->state == TUX_NIC_ON && !tux_shares_n(&n->shares) &&
	    tux_shares_revoked(&n->shares))
		tux_shares_assign(&n->shares, tux_nic_sharers(n));
}

void tux_nic_share(struct tux_nic *n, unsigned loops)
{
	n->loops = loops;
	if (n->state != TUX_NIC_ON ||
	    tux_shares_n(&n->shares) == tux_nic_sharers(n))
		return;
	tux_shares_revoke(&n->shares);
	nic_assign(n);
}

/* ---- the thread ---- */

static void nic_done(struct tux_nic *n)
{
	atomic_store(&n->done, true);
	tux_wake_kick(n->fd);
}

static void *work_take(void *arg)
{
	struct tux_nic *n = arg;

	n->reason = (enum tux_reason)-nic_take(n);
	nic_done(n);
	return NULL;
}

static void *work_drop(void *arg)
{
	nic_give_back(arg);
	nic_done(arg);
	return NULL;
}

static void nic_start(struct tux_nic *n, void *(*work)(void *))
{
	pthread_attr_t attr;
	int err;

	atomic_store(&n->done, false);
	err = pthread_attr_init(&attr);
	if (!err) {
		pthread_attr_setstacksize(&attr, STACK);
		err = tux_thread_start(&n->thread, &attr, work, n);
		pthread_attr_destroy(&attr);
	}
	n->threaded = !err;
	if (err)
		work(n);
}

void tux_nic_take(struct tux_nic *n, const struct tux_iface *i)
{
	n->iface = *i;
	n->reason = TUX_REASON_NONE;
	n->state = TUX_NIC_BUSY;
	nic_start(n, work_take);
}

static void drop_if_revoked(struct tux_nic *n)
{
	if (!n->revokes || !tux_shares_revoked(&n->shares))
		return;
	n->revokes = false;
	nic_start(n, work_drop);
}

void tux_nic_drop(struct tux_nic *n)
{
	n->reason = TUX_REASON_NONE;
	n->state = TUX_NIC_BUSY;
	n->revokes = true;
	tux_shares_revoke(&n->shares);
	drop_if_revoked(n);
}

static void nic_join(struct tux_nic *n)
{
	if (n->threaded)
		pthread_join(n->thread, NULL);
	n->threaded = false;
	n->state = n->n ? TUX_NIC_ON : TUX_NIC_OFF;
}

bool tux_nic_finish(struct tux_nic *n)
{
	bool was_busy = n->state == TUX_NIC_BUSY;

	tux_wake_clear(n->fd);
	drop_if_revoked(n);
	if (was_busy && !n->revokes && atomic_load(&n->done))
		nic_join(n);
	nic_assign(n);
	return was_busy && n->state != TUX_NIC_BUSY;
}

void tux_nic_halt(struct tux_nic *n)
{
	if (n->state != TUX_NIC_BUSY)
		return;
	if (!n->revokes)
		nic_join(n);
	else
		n->state = TUX_NIC_ON;
	n->revokes = false;
}

/* ---- birth and death ---- */

int tux_nic_init(struct tux_nic *n)
{
	memset(n, 0, sizeof(*n));
	n->ask.fd = -1;
	n->loops = 1;
	tux_shares_init(&n->shares);
	tux_prog_init(&n->prog);
	n->fd = tux_fd_lift(tux_sys_eventfd(EFD_CLOEXEC | EFD_NONBLOCK));
	return n->fd < 0 ? n->fd :
	       tux_netlink_open(&n->ask, NETLINK_ROUTE, 0);
}

void tux_nic_fini(struct tux_nic *n)
{
	tux_nic_halt(n);
	nic_give_back(n);
	tux_netlink_close(&n->ask);
	tux_fd_close(n->fd);
	n->fd = -1;
}

void tux_nic_forked(struct tux_nic *n)
{
	uint32_t i;

	tux_prog_close(&n->prog);
	for (i = 0; i < n->n; i++)
		tux_xsk_forked(&n->xsk[i]);
	tux_fd_close(n->ask.fd);
	tux_fd_close(n->fd);
}
