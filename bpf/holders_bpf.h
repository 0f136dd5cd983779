/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * holders_bpf - how many descriptors hold a socket
 *
 * The kernel counts the references to a socket's file.  Where the count is, is
 * not part of the kernel's interface: tuxd reads the places from the kernel's
 * own description of its types before it loads the program.
 */
#ifndef TUX_HOLDERS_BPF_H
#define TUX_HOLDERS_BPF_H

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "tuxd_bpf.h"

const volatile struct tux_bpf_layout layout SEC(".rodata.layout");

/* ---- how many hold a socket ---- */

/* The kernel's memory at @p + @at; 0 if it cannot be read. */
static __always_inline __u64 peek(__u64 p, __u32 at)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (const void *)(p + at));
	return v;
}

/* The address of @sk as a number, since the verifier allows no sums with @sk. */
static __always_inline __u64 address_of(struct bpf_sock *sk)
{
	struct bpf_sock *volatile at = sk;
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (const void *)&at);
	return v;
}

/* A call takes a reference of its own if other threads could close the
 * descriptor meanwhile.  If they have ended since, one reference too many is
 * counted, and none too few. */
static __always_inline int takes_reference(void)
{
	__u64 files = peek(bpf_get_current_task(), layout.task_files);

	return (__u32)peek(files, layout.files_count) > 1;
}

/* How many hold @sk; negative if it is not known. */
static __always_inline long holders(struct bpf_sock *sk)
{
	__u64 file, n = 0;

	if (!layout.known)
		return -1;
	file = peek(peek(address_of(sk), layout.sock_socket),
		    layout.socket_file);
	if (!file || bpf_probe_read_kernel(&n, sizeof(n), (const void *)
					   (file + layout.file_count)))
		return -1;
	return tux_bpf_held(n, layout.count_from, takes_reference());
}

#endif
