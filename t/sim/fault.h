/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault - what goes wrong in a world, and when
 *
 * fault.c: the network, hosts and programs; attack.c: strangers who mean harm;
 * foul.c: an end that does.
 */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim;
struct sim_end;
struct sim_life;

/* Of the end that the item names, or of its host, or of the way from there to
 * its peer. */
#define SIM_FAULT_LIST(X) \
	X(PART, "part")			/* nothing crosses, either way */ \
	X(ONE_WAY, "one_way")		/* nothing crosses from here */ \
	X(SPIKE, "spike")		/* it takes n ns longer */ \
	X(NARROW, "narrow")		/* more than n bytes do not pass */ \
	X(HOLE, "hole")			/* nothing with ECT passes */ \
	X(LOSE, "lose")			/* three of kind 1 << n are lost */ \
	X(VERSION, "version")		/* what comes is of another version */ \
	X(TCP_DOWN, "tcp_down")		/* no segment leaves */ \
	X(OWN_MTU, "own_mtu")		/* the interface takes n bytes now */ \
	X(STALL, "stall")		/* the way is known to be gone */ \
	X(UNSTALL, "unstall")		/* ... to be there again */ \
	X(FLAP, "flap")			/* both in turns, n times */ \
	X(BAR, "bar")			/* its packets are forbidden here */ \
	X(PAUSE, "pause")		/* the program reads nothing */ \
	X(STOP, "stop")			/* SIGSTOP */ \
	X(KILL, "kill") \
	X(RESTART, "restart")		/* another process follows */ \
	X(CLOSE, "close") \
	X(ABORT, "abort") \
	X(RAW, "raw") \
	X(PIN, "pin") \
	X(SHARE, "share")		/* with another process, for a while */ \
	X(NO_MEMORY, "no_memory")	/* n of a million times */ \
	X(NO_MEMORY_OPEN, "no_memory_open") /* the n-th time, opening this */ \
	X(GARBAGE, "garbage")		/* n datagrams of anything */ \
	X(GUESS, "guess")		/* ... that nearly fit */ \
	X(HELLO, "hello")		/* ... HELLOs, without the key */ \
	X(REPLAY, "replay")		/* ... that were sent before */ \
	X(CUT, "cut")			/* ... and are cut off */ \
	X(FOUL_PACKET, "foul_packet")	/* it changes n of 1000 packets, */ \
	X(FOUL_HELLO, "foul_hello")	/* what it says in its HELLOs, */ \
	X(FOUL_FRAME, "foul_frame")	/* or puts n frames into TCP */

#define X(fault, name) SIM_##fault,
enum sim_fault { SIM_FAULT_LIST(X) SIM_FAULTS };
#undef X

const char *sim_fault_name(uint64_t what);
uint64_t sim_fault_named(const char *name);	/* SIM_FAULTS: none */

/* Is it somebody with the connection's key who breaks the rules? */
static inline bool sim_fault_is_foul(uint64_t what)
{
	return what >= SIM_FOUL_PACKET;
}

/* ---- for whoever runs a world ---- */

/* Item @i of @life's world is a fault: it will happen when it says. */
void sim_fault_plan(struct sim_life *life, unsigned i);

/* One datagram, or frame, of attack @what on @e's side. */
void sim_attack(struct sim_life *life, struct sim_end *e, enum sim_fault what);

/* What malicious ends say in the @len bytes at @p, a datagram. */
void sim_foul_datagram(struct sim_life *life, uint8_t *p, size_t len);

/* Malicious end @e puts a frame into its TCP. */
void sim_foul_frame(struct sim *s, struct sim_end *e);

/* What @life's network does to datagrams for attackers: remembers some, changes
 * those of malicious ends. */
void sim_attack_watch(struct sim_life *life);
void sim_attack_fini(struct sim_life *life);

#endif
