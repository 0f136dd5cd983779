/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * tuxd_bpf - what tuxd's programs and the processes that use them share
 *
 * A process asks by setsockopt() on a TCP socket, at a level that the kernel
 * does not have.  ENOPROTOOPT: no tuxd's programs are there.
 *
 *   MARK       value: struct tux_bpf_want.  The socket is about to connect or
 *              to listen, or listens.  0, EINVAL, EISCONN (too late),
 *              EOPNOTSUPP (it listens, and the kernel is older than 6.12),
 *              EDQUOT (too many listeners)
 *   READ | i   word i of struct tux_bpf_answer; ENOENT: it is not marked
 *   CONF | i   word i of struct tux_bpf_conf
 *   HELD       a word: how many hold the socket, and what is known of it.  ENOENT:
 *              it is not marked; EOPNOTSUPP: it is not known how many
 *
 * Words are eleven bits, from the lowest on.  They come as an error number above
 * TUX_BPF_WORD: so a process needs no program for getsockopt(), which all
 * processes of the host would pay for.
 */
#ifndef TUX_TUXD_BPF_H
#define TUX_TUXD_BPF_H

#include "announce_bpf.h"

#define TUX_BPF_LEVEL	0x54780000	/* "Tx" */
#define TUX_BPF_ABI	1

#define TUX_BPF_MARK	0x100
#define TUX_BPF_READ	0x200
#define TUX_BPF_CONF	0x300
#define TUX_BPF_HELD	0x400

#define TUX_BPF_WORD	2048		/* added to a word */
#define TUX_BPF_WORD_BITS 11
#define TUX_BPF_WORD_MASK 2047
#define TUX_BPF_WORDS(bits) \
	(((bits) + TUX_BPF_WORD_BITS - 1) / TUX_BPF_WORD_BITS)

struct tux_bpf_want {
	unsigned long long nonce;	/* unpredictable, not 0 */
	struct tux_bpf_end here;
	unsigned int zero;
};

/* What came of a handshake.  The first word is `saw` alone, so that what nothing
 * came of costs one call. */
struct tux_bpf_answer {
	unsigned long long saw;		/* enum tux_bpf_saw */
	unsigned long long key[2];
	unsigned long long peer;	/* port, version << 16, why << 24 */
};

#define TUX_BPF_SAW_WORDS 1
#define TUX_BPF_KEY_WORDS TUX_BPF_WORDS(128)
#define TUX_BPF_PEER_WORDS TUX_BPF_WORDS(32)
#define TUX_BPF_READ_WORDS \
	(TUX_BPF_SAW_WORDS + TUX_BPF_KEY_WORDS + TUX_BPF_PEER_WORDS)

/* What the administrator has said, and this interface's number. */
struct tux_bpf_conf {
	unsigned int abi;		/* word 0 */
	unsigned int low, high;		/* UDP ports; words 1, 2 and 3, 4 */
};

#define TUX_BPF_CONF_WORDS 5

/* The references to the file of the socket, of all processes and of messages under
 * way, but not that of the call that asks.  More than MAX are MAX. */
#define TUX_BPF_HELD_MAX 0xff
#define TUX_BPF_HELD_ACTIVE 0x100	/* the end that called connect() */
#define TUX_BPF_HELD_READ 0x200		/* a process has asked for its key */

/* How many references to a file there are, at most MAX, if its counter says @count.
 * A single reference counts as @one, which is 0 or 1; @taken of them are those of
 * the call that asks.  Negative: these numbers cannot be. */
static inline long tux_bpf_held(unsigned long long count, unsigned int one,
				unsigned int taken)
{
	long n = (long)count + 1 - (long)one - (long)taken;

	return n < TUX_BPF_HELD_MAX ? n : TUX_BPF_HELD_MAX;
}

/* Listeners of the host, and how many of them the processes of a cgroup may have: of
 * one user, of all.  A user may make cgroups, and may have a namespace with 65536
 * users: so what a user of the host may have is bounded as well, and what each
 * 65536 numbers from 65536 on may have. */
#define TUX_BPF_HOST_LISTENERS 16384
#define TUX_BPF_USER_LISTENERS 64
#define TUX_BPF_CGROUP_LISTENERS 2048
#define TUX_BPF_BLOCK_LISTENERS 1024

/* Set in a count of 0 before its entry is removed. */
#define TUX_BPF_COUNT_GONE (1u << 31)

struct tux_bpf_count {
	unsigned int count;		/* SO_REUSEPORT: several are at one place */
	struct tux_bpf_end end;
};

/* Set before the programs are loaded. */
struct tux_bpf_settings {
	struct tux_bpf_conf conf;
	unsigned short all;		/* callbacks on every listener of the host,
					 * since none can be added later */
	unsigned short maps;		/* TUX_BPF_MAPS */
};

/* The version of what the maps hold.  Programs of another one do not take them
 * over. */
#define TUX_BPF_MAPS 1

/* Where this kernel's structs have what HELD reads: offsets in bytes. */
struct tux_bpf_layout {
	unsigned int known;		/* 0: HELD cannot be answered */
	unsigned int file_count;	/* struct file, a counter */
	unsigned int count_from;	/* what one reference is there: 0 or 1 */
	unsigned int sock_socket, socket_file;
	unsigned int task_files, files_count;
};

#endif
