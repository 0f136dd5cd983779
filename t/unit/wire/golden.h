/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * golden - packets as bytes, for the tests of pkt.c and pkt_write.c
 *
 * Another program made them from the text of tux-wire(7), so they also show
 * when the format changes by accident.
 */
#ifndef TUX_UNIT_GOLDEN_H
#define TUX_UNIT_GOLDEN_H

#include "../test.h"
#include "wire/pkt.h"

/* The key of masks, MACs and seals: the bytes 0, 1, 2, ... */
static const struct tux_key golden_key = { 0x0706050403020100,
					   0x0f0e0d0c0b0a0908 };

/* An acknowledgment: SACK of 9 and of 6 to 7; ect is 7, ce is 255. */
static const char golden_ack[] =
	"54780100003c0000112233445cac7063000000070000000500000000000003e8"
	"00010000000307ff03000010000000090000000a0000000600000008";

/* STREAM with FIN, PREPARE, PREPARED, RESET, PING, and an unknown type. */
static const char golden_all[] =
	"5478010100640002deadbeef59b36b74fffffffe010203040102030405060708"
	"7fffffffffff00000109000d112233445566778868656c6c6f0500000c000000"
	"0300000000000000990600000400000004070000040000000d08000000c80700"
	"0378797a";

/* The CRC of golden_all, sealed. */
enum { GOLDEN_SEALED = 0x31eb2e68 };

static const char golden_hello4[] =
	"54780103008c0000000000006224248300000000000000000000000000000000"
	"00000000000000000400006003019c408ac41ca2111111111111111100000000"
	"000000003ccba85ef3f9dfe56ca5c04b0010000005c000fa0400c35018eb0000"
	"0000000000000000000000000000ffff0a00000100000000000000000000ffff"
	"0a000002e178848c117ad5f5";

/* A HELLO over IPv6, and PING behind it. */
static const char golden_hello6[] =
	"5478010300900000000000003d74260d00000000000000000000000000000000"
	"00000000000000000400006001019c41ed1d583d222222222222222211111111"
	"11111111f7ef730f151765abda484709000100002328000a060001bbc3500000"
	"0000000020010db800000000000000000000000120010db80000000000000000"
	"00000002b15df3e2bd7e91eb08000000";

/* What the two HELLOs tell. */
static const struct tux_hello golden_hello4_is = {
	.flags = TUX_HELLO_WANT | TUX_HELLO_ACTIVE, .version = 1,
	.port = 40000, .id = 0xcafe0001, .seq = 0x80000000,
	.window = 1 << 20, .nonce = 0x1111111111111111,
	.token = 0x3333333333333333, .pkt_max = 1472, .delay = 250,
	.tuple = { { { [10] = 0xff, 0xff, 10, 0, 0, 1 }, 50000 },
		   { { [10] = 0xff, 0xff, 10, 0, 0, 2 }, 6379 } },
};

static const struct tux_hello golden_hello6_is = {
	.flags = TUX_HELLO_WANT, .version = 1,
	.port = 40001, .id = 0xcafe0002, .seq = 1, .window = 1 << 16,
	.nonce = 0x2222222222222222, .echo = 0x1111111111111111,
	.token = 0x4444444444444444, .pkt_max = 9000, .delay = 10,
	.tuple = { { { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 }, 443 },
		   { { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 }, 50000 } },
};

#endif
