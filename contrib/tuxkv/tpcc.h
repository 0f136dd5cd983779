/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tpcc - the arguments and results of TPC-C's five transactions
 *
 * After the TPC Benchmark C, revision 5.11; "clause" names a part of it.  Warehouses,
 * districts, customers, orders and items are numbered from 1.  Money is in cents.
 */
#ifndef TUXKV_TPCC_H
#define TUXKV_TPCC_H

#include "proto.h"

enum {				/* clause 1.2.1, 4.3.3 */
	TPCC_WAREHOUSES_MAX = 4095,
	TPCC_DISTRICTS = 10,	/* of a warehouse */
	TPCC_CUSTOMERS = 3000,	/* of a district */
	TPCC_ITEMS = 100000,
	TPCC_NAMES = 1000,	/* different last names; numbered from 0 */
	TPCC_LINES_MIN = 5,	/* of an order */
	TPCC_LINES_MAX = 15,
};

/* Clause 2.1.6: the constants C of NURand() for last names, when the tables are made
 * and when they are asked for. */
enum { TPCC_NAME_LOAD = 157, TPCC_NAME_RUN = 237 };

/* ---- New-Order (clause 2.4): places an order ----------------------------- */

struct tpcc_new_order_line {
	uint32_t item;		/* if one is not in use: KV_ROLLED_BACK */
	uint16_t supplier;	/* the warehouse that has it */
	uint16_t quantity;
};

struct tpcc_new_order {
	uint16_t w;
	uint8_t d;
	uint8_t lines;
	uint32_t c;
	struct tpcc_new_order_line line[TPCC_LINES_MAX];
};

struct tpcc_new_order_done {
	uint32_t o;
	uint32_t lines;
	int64_t total;
};

/* ---- Payment (clause 2.5): a customer pays ------------------------------- */

struct tpcc_payment {
	uint16_t w;
	uint8_t d;
	uint8_t by_name;	/* not 0: c is the number of a last name */
	uint16_t c_w;		/* the customer's */
	uint8_t c_d;
	uint8_t zero;
	uint32_t c;
	uint32_t amount;
};

struct tpcc_payment_done {
	uint32_t c;
	uint32_t zero;
	int64_t balance;
};

/* ---- Order-Status (clause 2.6): a customer's last order ------------------ */

struct tpcc_order_status {
	uint16_t w;
	uint8_t d;
	uint8_t by_name;
	uint32_t c;
};

struct tpcc_status_line {
	uint32_t item;
	uint16_t supplier;
	uint16_t quantity;
	int64_t amount;
	uint64_t delivered;	/* nanoseconds since 1970; 0: not yet */
};

struct tpcc_order_status_done {	/* with `lines` lines, in the result no others */
	uint32_t c;
	uint32_t o;
	int64_t balance;
	uint32_t carrier;	/* 0: none yet */
	uint32_t lines;
	struct tpcc_status_line line[TPCC_LINES_MAX];
};

/* ---- Delivery (clause 2.7): the oldest order of each district, one transaction for
 * each ---- */

struct tpcc_delivery {
	uint16_t w;
	uint16_t carrier;
	uint32_t zero;
};

struct tpcc_delivery_done {
	uint32_t orders;	/* delivered; less than TPCC_DISTRICTS if districts had
				 * none */
	uint32_t zero;
};

/* ---- Stock-Level (clause 2.8): items of the last orders that are running out ---- */

struct tpcc_stock_level {
	uint16_t w;
	uint8_t d;
	uint8_t threshold;
	uint32_t zero;
};

struct tpcc_stock_level_done {
	uint32_t low;		/* items */
	uint32_t zero;
};

#endif
