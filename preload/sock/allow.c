/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/allow.h"

#include <stdatomic.h>
#include <string.h>

#include "ground/conf.h"
#include "ground/process.h"
#include "sock/iface.h"

/* ---- the process ------------------------------------------------------ */

static _Atomic uint8_t stopped;	/* enum tux_reason */

bool allow_stop(enum tux_reason why)
{
	uint8_t is = atomic_load(&stopped);

	while (is != why && is != TUX_REASON_SANDBOXED)
		if (atomic_compare_exchange_strong(&stopped, &is, (uint8_t)why))
			return true;
	return false;
}

bool allow_stopped(void)
{
	return atomic_load_explicit(&stopped, memory_order_relaxed);
}

bool allow_sandboxed(void)
{
	return atomic_load_explicit(&stopped, memory_order_relaxed) ==
	       TUX_REASON_SANDBOXED;
}

void allow_forked(void)
{
	if (allow_sandboxed() && !process_is_sandboxed())
		atomic_store(&stopped, TUX_REASON_BYPASSED);
}

/* ---- addresses -------------------------------------------------------- */

static bool is_loopback(const struct tux_addr *a)
{
	static const uint8_t one[16] = { [15] = 1 };

	return tux_addr_is_v4(a) ? a->ip[12] == 127 :
	       memcmp(a->ip, one, sizeof(one)) == 0;
}

static bool is_any_address(const struct tux_addr *a)
{
	static const uint8_t zero[16];

	return memcmp(a->ip, zero, sizeof(zero)) == 0 ||
	       (tux_addr_is_v4(a) && memcmp(a->ip + 12, zero, 4) == 0);
}

/* @why if an address forbids it.  What the user has chosen comes first, since
 * it is for good, and what the program does comes last, since it can begin
 * late. */
static enum tux_reason allow_unless(enum tux_reason why)
{
	if (conf.path == TUX_PATH_MODE_TCP)
		return TUX_REASON_CHOSEN;
	return why ? why : (enum tux_reason)atomic_load(&stopped);
}

static enum tux_reason named_iface(const struct tux_addr *local)
{
	return conf.iface && !iface_has(local) ? TUX_REASON_OTHER_INTERFACE :
						 TUX_REASON_NONE;
}

enum tux_reason allow_connection(const struct tux_addr *local,
				 const struct tux_addr *peer)
{
	bool lo = is_loopback(local) || tux_addr_same_ip(local, peer);

	if (conf.lo)
		return allow_unless(lo ? TUX_REASON_NONE :
					 TUX_REASON_OTHER_INTERFACE);
	return allow_unless(lo ? TUX_REASON_LOOPBACK : named_iface(local));
}

enum tux_reason allow_listener(const struct tux_addr *local)
{
	if (conf.lo || is_any_address(local))
		return allow_unless(TUX_REASON_NONE);
	return allow_unless(is_loopback(local) ? TUX_REASON_LOOPBACK :
						 named_iface(local));
}

enum tux_reason allow_peer(const struct tux_addr *peer)
{
	bool lo = peer && is_loopback(peer) && !conf.lo;

	return allow_unless(lo ? TUX_REASON_LOOPBACK : TUX_REASON_NONE);
}
