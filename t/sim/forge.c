/* SPDX-License-Identifier: BSD-2-Clause */
#include "forge.h"

#include "base/bytes.h"
#include "conn/conn.h"
#include "wire/pkt_sum.h"

void sim_seal(const struct sim_end *to, uint8_t *p)
{
	uint32_t crc = tux_pkt_crc(p, tux_get16(p + 4));

	if (to && to->c)
		crc ^= tux_pkt_seal(p, &to->c->seal);
	tux_put32(p + TUX_PKT_CRC, crc);
}

bool sim_knows(const struct sim_end *e, const uint8_t *p)
{
	return e->c && e->c->id == tux_get32(p + 8);
}
