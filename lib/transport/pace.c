/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace - spreads packets over the round trip
 */
#include "transport/pace.h"

void tux_pace_set(struct tux_pace *p, uint64_t cwnd, tux_time srtt,
		  bool slow_start, uint32_t mss)
{
	if (srtt < TUX_USEC(TUX_PACE_MIN_US)) {
		*p = (struct tux_pace){ 0 };
		return;
	}
	p->per_byte = (srtt << 10) / (slow_start ? 2 * cwnd : cwnd + cwnd / 4);
	p->burst = TUX_PACE_BURST * (uint64_t)mss * p->per_byte >> 10;
}
