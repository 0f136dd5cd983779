/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step - the entry points for inputs that concern one connection
 *
 * Each calls one handler, which changes the state of the connection, and then
 * the settle step.  core.c has the entry points for datagrams and timers.
 */
#include "conn/core.h"

#include "conn/back.h"
#include "conn/choose.h"
#include "conn/conn_in.h"
#include "conn/conn_life.h"
#include "conn/conn_tcp_in.h"
#include "conn/conn_tcp_out.h"
#include "conn/hello.h"
#include "conn/settle.h"

void tux_conn_rung(struct tux_conn *c, uint32_t bits, tux_time now)
{
	if (c->life == TUX_LIFE_GONE)
		return;
	tux_conn_doorbell(c, bits, now);
	tux_conn_settle(c, now);
}

void tux_conn_owned(struct tux_conn *c, int err, tux_time now)
{
	tux_hello_owned(c, err, now);
	tux_conn_settle(c, now);
}

size_t tux_conn_tcp_out(struct tux_conn *c, uint8_t *buf, size_t cap,
			tux_time now)
{
	size_t len = tux_tcp_out(c, buf, cap, now);

	if (!len)			/* tux_conn_tcp_sent() does not follow */
		tux_conn_settle(c, now);
	return len;
}

void tux_conn_tcp_sent(struct tux_conn *c, size_t n, tux_time now)
{
	tux_tcp_sent(c, n, now);
	tux_conn_settle(c, now);
}

void tux_conn_tcp_in(struct tux_conn *c, const uint8_t *p, size_t len,
		     tux_time now)
{
	tux_tcp_in(c, p, len);
	tux_conn_settle(c, now);
}

void tux_conn_tcp_end(struct tux_conn *c, int err, tux_time now)
{
	if (c->life == TUX_LIFE_GONE)
		return;
	tux_tcp_end(c, err);
	tux_conn_settle(c, now);
}

void tux_conn_stall(struct tux_conn *c, tux_time now)
{
	tux_back_stalled(c, now);
	tux_conn_settle(c, now);
}

void tux_conn_unstall(struct tux_conn *c, tux_time now)
{
	tux_back_unstalled(c, now);
	tux_conn_settle(c, now);
}

void tux_conn_bar(struct tux_conn *c, bool barred)
{
	c->barred = barred;
}

void tux_conn_rerouted(struct tux_conn *c, tux_time now)
{
	if ((c->tx.path != TUX_PATH_TUX && c->rx.path != TUX_PATH_TUX) ||
	    c->pair->asked_at == now)
		return;
	c->pair->asked_at = now;
	tux_conn_do(c, TUX_DO_PING);
}

void tux_conn_set_mtu(struct tux_conn *c, uint32_t mtu, tux_time now)
{
	if (mtu != c->mtu && c->pair)
		tux_pmtu_again(&c->pair->pmtu, now);
	c->mtu = mtu;
	tux_choose_mtu(c);
}
