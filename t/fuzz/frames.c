/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP of a direction that has switched, with hostile frames in it.
 *
 * The input is frames with any numbers, and bytes that are none, cut anywhere;
 * between them the application reads, and Tux brings what the peer sent before.
 * The core asks for no byte beyond a frame's; what is read is what the peer has
 * put at that place; and whatever breaks a rule ends the connection, once.
 */
#include <string.h>

#include "forge.h"

enum { OPS = 48, WORLDS = 8 };

static struct fuzz_world *worlds[WORLDS];
static struct fuzz_end *e;
static struct forge peer;

static void sent(struct fuzz_end *from, const uint8_t *p, size_t len)
{
	(void)from, (void)p, (void)len;
}

static void frame(struct fuzz_in *in)
{
	uint8_t p[1200];
	size_t len = forge_frame(&peer, in, p, sizeof(p));

	/* Cut short, what follows is taken for its body. */
	e->muddled |= duo_tcp_put(&e->end, p, len) < len;
}

static void bytes(struct fuzz_in *in, uint8_t len)
{
	uint8_t p[256];

	e->muddled = true;
	fuzz_bytes(in, p, len);
	duo_tcp_put(&e->end, p, len);
}

static void packet(struct fuzz_in *in)
{
	uint8_t p[FUZZ_MTU];
	struct tux_addr from = e->end.peer->addr;
	size_t len = forge_packet(&peer, in, p, sizeof(p));

	fuzz_input(e, &from, p, len);
}

/* So many bytes at a time. */
static void serve(size_t most)
{
	if (!e->end.gone_n)
		duo_serve(&e->end, most);
}

static void act(struct fuzz_in *in)
{
	uint8_t op = fuzz_u8(in), n = op / 16;

	switch (op % 16) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
	case 5:
		frame(in);
		break;
	case 6:
		bytes(in, n);
		break;
	case 7:
	case 8:
		serve(1u + n);
		break;
	case 9:
		serve(SIZE_MAX);
		break;
	case 10:
		fuzz_read(e, fuzz_u8(in) * 4u);
		break;
	case 11:
		duo_tcp_take(e->end.peer, e->end.peer->in.len);
		fuzz_take(e);
		fuzz_release(e, n);
		break;
	case 12:
		packet(in);
		break;
	case 13:
		fuzz_send(e, fuzz_u8(in), n & 1);
		fuzz_write(e, n);
		break;
	case 14:
		if (n >= 14)
			fuzz_close(e, false);
		else
			fuzz_turn(e);
		break;
	default:
		e->end.in.eof |= n == 15;
		e->end.tcp_work = true;
		break;
	}
}

static struct fuzz_world *begin(uint8_t how)
{
	unsigned i = how % WORLDS;	/* each for one side */

	if (!worlds[i])
		worlds[i] = fuzz_world_new(i & 2 ? FUZZ_BACK : FUZZ_MOVED,
					   i & 4);
	fuzz_world_restore(worlds[i], !(i & 1), how);
	e = &worlds[i]->end[i & 1];
	forge_init(&peer, e, true);
	worlds[i]->sent = sent;
	return worlds[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct fuzz_in in = { p, len };
	struct fuzz_world *w = begin(fuzz_u8(&in));
	unsigned n;

	for (n = 0; in.left && n < OPS && !e->end.gone_n; n++) {
		act(&in);
		if (e->end.c->life == TUX_LIFE_DEAD)
			FUZZ_CHECK(!tux_conn_tcp_want(e->end.c));
		FUZZ_CHECK(!fuzz_world_grew(w));
	}
	if (!e->end.gone_n)
		fuzz_turn(e);
	fuzz_read(e, 512);
	fuzz_take(e);
	fuzz_end_end(e);
	return 0;
}
