/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/nic.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>

#include "io/fd.h"
#include "io/sys.h"
#include "io/wake.h"

enum {
	MTU_MAX = 3498,			/* with all around it: one page */
	FRAMES_ALL = 16384,		/* of all queues together, 64 MiB */
	FRAMES_MAX = 4096, FRAMES_MIN = 512,	/* of one queue */
	STACK = 256 * 1024,
	/* Who died a moment ago may still be taken to pieces by the kernel. */
	TRIES = 10, TRY_MS = 20,
};

static void pause_ms(unsigned ms)
{
	struct timespec ts = { 0, (long)ms * 1000000 };

	tux_sys_ppoll(NULL, 0, &ts, NULL);
}

/* ---- giving back ---- */

static void give_back(struct tux_nic *n)
{
	uint32_t i;

	tux_prog_close(&n->prog);
	for (i = 0; i < n->n; i++)
		tux_xsk_close(&n->xsk[i]);
	n->n = 0;
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

/* How many queues the interface has; one, if it does not say. */
static void count_queues(struct tux_nic *n)
{
	struct ethtool_channels c = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq r = { .ifr_data = (void *)&c };
	int fd = tux_sys_socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t rx = 1, tx = 1;

	memcpy(r.ifr_name, n->iface.name, sizeof(r.ifr_name));
	if (fd >= 0 && !TUX_SYS(SYS_ioctl, fd, SIOCETHTOOL, &r, 0, 0, 0)) {
		rx = c.combined_count + c.rx_count;
		tx = c.combined_count + c.tx_count;
	}
	tux_fd_close(fd);
	if (rx > TUX_NIC_QUEUES)
		rx = TUX_NIC_QUEUES;
	n->n = rx ? rx : 1;
	n->tx_n = tx < n->n && tx ? tx : n->n;
}

static uint32_t frames_for(uint32_t queues)
{
	uint32_t n = FRAMES_MAX;

	while (n > FRAMES_MIN && n * queues > FRAMES_ALL)
		n /= 2;
	return n;
}

static int reason_of(int err)
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

/* Fewer frames, if so many may not be locked. */
static int open_queue(struct tux_nic *n, uint32_t i, uint32_t frames)
{
	unsigned tries = 0;
	int err;

	for (;;) {
		err = tux_xsk_open(&n->xsk[i], n->iface.index, i, frames,
				   XDP_COPY);
		if (err == -ENOBUFS && frames > FRAMES_MIN)
			frames /= 2;
		else if (err == -EBUSY && ++tries < TRIES)
			pause_ms(TRY_MS);
		else
			break;
	}
	if (!err)
		err = tux_prog_queue(&n->prog, i, n->xsk[i].fd);
	return reason_of(err);
}

static int open_queues(struct tux_nic *n)
{
	uint32_t i, all, frames;
	int r = 0;

	count_queues(n);
	all = n->n;
	frames = frames_for(all);
	for (n->n = 0; n->n < all && !r; n->n++)
		r = open_queue(n, n->n, frames);
	for (i = n->n; i < all; i++)
		n->xsk[i].fd = -1;
	return r;
}

static int attach(struct tux_nic *n)
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
static int take(struct tux_nic *n)
{
	int r;

	if (n->iface.mtu > MTU_MAX)
		return -TUX_REASON_MTU;
	if (!n->iface.up)
		return -TUX_REASON_LINK_DOWN;
	raise_memlock();
	r = tux_prog_load(&n->prog);
	if (!r)
		r = attach(n);
	if (!r)
		r = open_queues(n);
	if (r)
		give_back(n);
	return r;
}

/* ---- the thread ---- */

static void *work_take(void *arg)
{
	struct tux_nic *n = arg;

	n->reason = (enum tux_reason)-take(n);
	tux_wake_kick(n->fd);
	return NULL;
}

static void *work_drop(void *arg)
{
	struct tux_nic *n = arg;

	give_back(n);
	tux_wake_kick(n->fd);
	return NULL;
}

static void start(struct tux_nic *n, void *(*work)(void *))
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	n->state = TUX_NIC_BUSY;
	err = pthread_attr_init(&attr);
	if (!err) {
		pthread_attr_setstacksize(&attr, STACK);
		/* The application's signals are its own threads'. */
		memset(&all, 0xff, sizeof(all));
		tux_sys_sigmask(SIG_SETMASK, &all, &old);
		err = pthread_create(&n->thread, &attr, work, n);
		tux_sys_sigmask(SIG_SETMASK, &old, NULL);
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
	start(n, work_take);
}

void tux_nic_drop(struct tux_nic *n)
{
	n->reason = TUX_REASON_NONE;
	start(n, work_drop);
}

void tux_nic_settle(struct tux_nic *n)
{
	if (n->state != TUX_NIC_BUSY)
		return;
	if (n->threaded)
		pthread_join(n->thread, NULL);
	tux_wake_clear(n->fd);
	n->state = n->n ? TUX_NIC_ON : TUX_NIC_OFF;
}

/* ---- birth and death ---- */

int tux_nic_init(struct tux_nic *n)
{
	memset(n, 0, sizeof(*n));
	tux_prog_init(&n->prog);
	n->fd = tux_fd_lift(tux_sys_eventfd(EFD_CLOEXEC | EFD_NONBLOCK));
	return n->fd < 0 ? n->fd : 0;
}

void tux_nic_fini(struct tux_nic *n)
{
	tux_nic_settle(n);
	give_back(n);
	tux_fd_close(n->fd);
	n->fd = -1;
}

void tux_nic_forked(struct tux_nic *n)
{
	uint32_t i;

	tux_prog_close(&n->prog);
	for (i = 0; i < n->n; i++)
		tux_xsk_forked(&n->xsk[i]);
	tux_fd_close(n->fd);
}
