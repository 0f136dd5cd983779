/* SPDX-License-Identifier: BSD-2-Clause */
#include "handshake/mark.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "sys/clock.h"
#include "sys/sys.h"
#include "wire/wire.h"
#include "tuxd_bpf.h"

_Static_assert(TUX_OPT_VERSION == TUX_WIRE_VERSION, "one protocol");

/* ---- words ---- */

/* The word that option @name stands for; -errno. */
static int ask(int fd, int name)
{
	int r = tux_sys_setsockopt(fd, TUX_BPF_LEVEL, name, NULL, 0);

	if (r <= -TUX_BPF_WORD)
		return -r - TUX_BPF_WORD;
	return r < 0 ? r : -ENOPROTOOPT;
}

/* A number of up to two times 64 bits, lowest words first, from option @name on.
 * -errno. */
static int ask_number(int fd, int name, int words, uint64_t v[2])
{
	int i, w, at;

	v[0] = v[1] = 0;
	for (i = 0; i < words; i++) {
		w = ask(fd, name + i);
		if (w < 0)
			return w;
		at = i * TUX_BPF_WORD_BITS;
		if (at < 64)
			v[0] |= (uint64_t)w << at;
		if (at >= 64)
			v[1] |= (uint64_t)w << (at - 64);
		else if (at > 64 - TUX_BPF_WORD_BITS)
			v[1] |= (uint64_t)w >> (64 - at);
	}
	return 0;
}

/* ---- finding ---- */

static int ask_conf(int fd, struct tux_mark_conf *c)
{
	int abi = ask(fd, TUX_BPF_CONF), err;
	uint64_t low[2], high[2];

	if (abi != TUX_BPF_ABI)
		return abi < 0 ? abi : -ENOPROTOOPT;
	err = ask_number(fd, TUX_BPF_CONF + 1, 2, low);
	if (!err)
		err = ask_number(fd, TUX_BPF_CONF + 3, 2, high);
	if (!err)
		*c = (struct tux_mark_conf){ (uint16_t)low[0],
					     (uint16_t)high[0] };
	return err;
}

/* Any socket can ask; one of UDP costs the kernel less than one of TCP. */
int tux_mark_find(struct tux_mark_conf *c)
{
	int fd = tux_sys_socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd == -EAFNOSUPPORT)
		fd = tux_sys_socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	err = ask_conf(fd, c);
	tux_sys_close(fd);
	return err;
}

/* ---- marks ---- */

int tux_mark(int fd, uint64_t nonce, uint16_t port, enum tux_reason why)
{
	struct tux_bpf_want w = {
		.nonce = nonce,
		.here = { port, TUX_OPT_VERSION, (uint8_t)why },
	};
	int err = tux_sys_setsockopt(fd, TUX_BPF_LEVEL, TUX_BPF_MARK, &w,
				     sizeof(w));

	if (err == -EDQUOT)
		return -TUX_REASON_LISTENERS;
	if (err == -EISCONN)
		return -TUX_REASON_NOT_ANNOUNCED;
	return err ? -TUX_REASON_NO_ANNOUNCE : 0;
}

void tux_mark_refuse(int fd, enum tux_reason why)
{
	struct tux_key k;

	if (!tux_clock_seed(&k))
		tux_mark(fd, k.k0 | 1, 0, why);
}

/* ---- what came of it ---- */

/* A peer that says a reason we do not know will not move, either. */
static enum tux_reason verdict_of_peer(unsigned version, unsigned why)
{
	if (version != TUX_OPT_VERSION)
		return TUX_REASON_VERSION;
	return why ? tux_reason_of(why, TUX_REASON_PEER_RAW) : TUX_REASON_NONE;
}

enum tux_reason tux_mark_verdict(unsigned saw, unsigned version, unsigned why)
{
	switch (saw) {
	case TUX_BPF_SAW_OPTION:
		return verdict_of_peer(version, why);
	case TUX_BPF_SAW_COOKIE:
		return TUX_REASON_SYN_COOKIE;
	case TUX_BPF_SAW_OTHER:
		return TUX_REASON_VERSION;
	case TUX_BPF_SAW_TRANSLATED:
		return TUX_REASON_TRANSLATED;
	case TUX_BPF_SAW_QUOTA:
		return TUX_REASON_LISTENERS;
	default:
		return TUX_REASON_NOT_ANNOUNCED;
	}
}

static int read_saw(int fd)
{
	int saw = ask(fd, TUX_BPF_READ);

	if (saw == -ENOENT)
		return TUX_BPF_SAW_NONE;
	return saw;
}

static int read_peer(int fd, struct tux_mark_peer *p)
{
	const int key = TUX_BPF_READ + TUX_BPF_SAW_WORDS;
	const int peer = key + TUX_BPF_KEY_WORDS;
	uint64_t k[2], v[2];

	if (ask_number(fd, key, TUX_BPF_KEY_WORDS, k) ||
	    ask_number(fd, peer, TUX_BPF_PEER_WORDS, v))
		return -TUX_REASON_NO_ANNOUNCE;
	*p = (struct tux_mark_peer){
		.key = { k[0], k[1] },
		.port = (uint16_t)v[0], .version = (uint8_t)(v[0] >> 16),
		.why = (uint8_t)(v[0] >> 24),
	};
	return 0;
}

int tux_mark_read(int fd, struct tux_mark_peer *p)
{
	int saw = read_saw(fd), err = 0;

	if (saw < 0)
		return -TUX_REASON_NO_ANNOUNCE;
	*p = (struct tux_mark_peer){ 0 };
	if (saw == TUX_BPF_SAW_OPTION)
		err = read_peer(fd, p);
	return err ? err : -(int)tux_mark_verdict((unsigned)saw, p->version,
						  p->why);
}

int tux_mark_held(int fd, struct tux_mark_held *h)
{
	int w = ask(fd, TUX_BPF_HELD);

	if (w < 0)
		return w;
	*h = (struct tux_mark_held){
		.n = (unsigned)w & TUX_BPF_HELD_MAX,
		.active = w & TUX_BPF_HELD_ACTIVE,
		.read = w & TUX_BPF_HELD_READ,
	};
	return 0;
}
