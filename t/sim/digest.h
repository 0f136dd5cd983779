/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * digest - what leaves the hosts, and when, in one number
 *
 * Each datagram and each TCP segment is hashed with the instant at which it
 * leaves, its sender, and its place among what that sender sends; the digest
 * is the sum of the hashes.  So two runs have the same digest if each host
 * sends the same datagrams, and each direction of TCP the same segments, at the
 * same instants.  TCP's acknowledgments and window updates are left out.
 *
 * The digest is the same for IPv4 and IPv6: of an address it covers only what
 * both families have in common.
 */
#ifndef SIM_DIGEST_H
#define SIM_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct sim_end;
struct sim_host;
struct tux_addr;

/* Adds to the digest of @h's simulation, unless that has none, and prints a
 * line on standard output if it prints what leaves hosts. */
void sim_digest_datagram(struct sim_host *h, const struct tux_addr *to,
			 const struct tux_addr *from, const uint8_t *p,
			 size_t len, uint8_t ecn);

/* The same for a segment that @e's kernel sends: @len bytes from raw offset
 * @off on, and @what. */
enum sim_segment { SIM_SEGMENT_PLAIN, SIM_SEGMENT_FIN, SIM_SEGMENT_RESET };

void sim_digest_segment(struct sim_end *e, uint64_t off, uint64_t len,
			enum sim_segment what);

#endif
