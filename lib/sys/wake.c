/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/wake.h"

#include <sys/eventfd.h>

#include "sys/area.h"
#include "sys/fd.h"
#include "sys/sys.h"

int tux_wake_open(void)
{
	return tux_fd_lift(tux_sys_eventfd(EFD_CLOEXEC | EFD_NONBLOCK));
}

int tux_wake_map(struct tux_bell **bell, uint32_t cap)
{
	struct tux_bell *b;
	int err;

	err = tux_area_map((void **)&b, tux_bell_size(cap), TUX_AREA_PRIVATE);
	if (err)
		return err;
	tux_bell_init(b, cap);
	*bell = b;
	return 0;
}

int tux_wake_init(struct tux_bell **bell, int *fd, uint32_t cap)
{
	struct tux_bell *b;
	int err = tux_wake_map(&b, cap);

	if (err)
		return err;
	*fd = tux_wake_open();
	if (*fd < 0) {
		tux_area_unmap(b, tux_bell_size(cap));
		return *fd;
	}
	*bell = b;
	return 0;
}

void tux_wake_fini(struct tux_bell *bell, int fd)
{
	tux_fd_close(fd);
	tux_area_unmap(bell, bell ? tux_bell_size(bell->cap) : 0);
}

void tux_wake_kick(int fd)
{
	uint64_t one = 1;

	tux_sys_write(fd, &one, sizeof(one));
}

void tux_wake_clear(int fd)
{
	uint64_t n;

	tux_sys_read(fd, &n, sizeof(n));
}

void tux_wakes_go(struct tux_wakes *k)
{
	uint32_t i, n = k->n;

	for (i = 0; i < n; i++) {
		tux_wake_kick(k->at[i].fd);
		atomic_fetch_sub(k->at[i].owed, 1);
	}
	k->n = 0;
}
