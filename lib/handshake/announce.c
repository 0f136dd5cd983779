/* SPDX-License-Identifier: BSD-2-Clause */
#include "handshake/announce.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdatomic.h>
#include <string.h>

#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"
#include "wire/key.h"
#include "announce_bpf.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

void tux_announce_init(struct tux_announce *a)
{
	memset(a, 0, sizeof(*a));
	a->marks = a->listeners = a->link = -1;
	a->why = TUX_REASON_NO_ANNOUNCE;
}

void tux_announce_close(struct tux_announce *a)
{
	tux_fd_close(a->link);
	tux_fd_close(a->listeners);
	tux_fd_close(a->marks);
	tux_announce_init(a);
}

bool tux_announce_find(struct tux_announce *a)
{
	a->shared = !tux_mark_find(&a->conf) && !tux_clock_seed(&a->seed);
	return a->shared;
}

/* ---- maps ---- */

static int map_call(int cmd, int map, const void *key, const void *value,
		    uint64_t flags)
{
	union bpf_attr attr = { 0 };

	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)key;
	attr.value = (uintptr_t)value;
	attr.flags = flags;
	return (int)TUX_SYS(SYS_bpf, cmd, &attr, sizeof(attr), 0, 0, 0);
}

static uint64_t new_nonce(struct tux_announce *a)
{
	uint64_t n = atomic_fetch_add(&a->nonces, 1);

	return tux_sip(&a->seed, &n, sizeof(n)) | 1;	/* 0 is none */
}

void tux_announce_mark(struct tux_announce *a, int fd, uint16_t port)
{
	struct tux_bpf_mark m = { .here = { port, TUX_OPT_VERSION, 0 } };

	if (a->shared) {
		tux_mark(fd, new_nonce(a), port, TUX_REASON_NONE);
		return;
	}
	if (a->link < 0)
		return;
	m.nonce = new_nonce(a);
	/* A handshake may be under way with the mark that is there. */
	map_call(BPF_MAP_UPDATE_ELEM, a->marks, &fd, &m, BPF_NOEXIST);
}

/* ---- listeners ---- */

void tux_announce_refuse(const struct tux_announce *a, int fd,
			 enum tux_reason why)
{
	if (a->shared)
		tux_mark_refuse(fd, why);
}

uint64_t tux_announce_netns(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	if (tux_sys_getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len))
		return 0;
	return cookie;
}

static void announce_set(struct tux_announce *a, uint64_t netns,
			 const uint8_t *ip, uint16_t at, uint16_t port, int cmd)
{
	struct tux_bpf_listener l = { .netns = netns, .port = at };
	const struct tux_bpf_end e = { port, TUX_OPT_VERSION, 0 };

	memcpy(l.addr, ip, sizeof(l.addr));
	map_call(cmd, a->listeners, &l, &e, BPF_ANY);
}

static void set_all(struct tux_announce *a, uint64_t netns,
		    const struct tux_addr *local, bool both, uint16_t port,
		    int cmd)
{
	static const uint8_t any4[16] = { [10] = 0xff, 0xff };

	if (a->link < 0)
		return;
	announce_set(a, netns, local->ip, local->port, port, cmd);
	if (both)
		announce_set(a, netns, any4, local->port, port, cmd);
}

void tux_announce_listen(struct tux_announce *a, uint64_t netns,
			 const struct tux_addr *local, bool both, uint16_t port)
{
	set_all(a, netns, local, both, port, BPF_MAP_UPDATE_ELEM);
}

void tux_announce_unlisten(struct tux_announce *a, uint64_t netns,
			   const struct tux_addr *local, bool both)
{
	set_all(a, netns, local, both, 0, BPF_MAP_DELETE_ELEM);
}

/* ---- what came of it ---- */

int tux_announce_look(const struct tux_announce *a, int fd, bool active,
		      struct tux_mark_peer *p)
{
	struct tux_bpf_mark m = { 0 };
	struct tux_said we, peer;
	enum tux_reason why;
	int err;

	if (a->shared)
		return tux_mark_read(fd, p);
	if (a->link < 0)
		return -(int)a->why;
	err = map_call(BPF_MAP_LOOKUP_ELEM, a->marks, &fd, &m, 0);
	/* Then the process could not set marks, either. */
	if (err == -EPERM)
		return -TUX_REASON_NO_PRIVILEGE;
	if (err)
		return -TUX_REASON_NOT_ANNOUNCED;
	why = tux_mark_verdict(m.saw, m.peer.version, m.peer.why);
	if (why)
		return -(int)why;
	we = (struct tux_said){ m.nonce, m.isn };
	peer = (struct tux_said){ m.peer_nonce, m.peer_isn };
	*p = (struct tux_mark_peer){
		.port = m.peer.port, .version = m.peer.version,
	};
	tux_key_make(&p->key, active ? &we : &peer, active ? &peer : &we);
	return 0;
}
