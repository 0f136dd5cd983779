/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tpcc_rows - TPC-C's tables: rows and their keys (clause 1.3)
 */
#ifndef TUXKV_TPCC_ROWS_H
#define TUXKV_TPCC_ROWS_H

#include "proc.h"
#include "tpcc.h"

/* ---- keys ---------------------------------------------------------------- */

static inline uint64_t key_district(unsigned w, unsigned d)
{
	return (uint64_t)w << 4 | d;
}

static inline uint64_t key_customer(unsigned w, unsigned d, unsigned c)
{
	return key_district(w, d) << 12 | c;
}

static inline uint64_t key_name(unsigned w, unsigned d, unsigned name)
{
	return key_district(w, d) << 12 | name;
}

/* The customer's payments are counted. */
static inline uint64_t key_history(unsigned w, unsigned d, unsigned c, uint32_t n)
{
	return key_customer(w, d, c) << 32 | n;
}

static inline uint64_t key_order(unsigned w, unsigned d, uint32_t o)
{
	return key_district(w, d) << 32 | o;
}

static inline uint64_t key_line(unsigned w, unsigned d, uint32_t o, unsigned line)
{
	return key_order(w, d, o) << 4 | line;
}

static inline uint64_t key_stock(unsigned w, uint32_t item)
{
	return (uint64_t)w << 20 | item;
}

/* ---- rows ---------------------------------------------------------------- */

struct tpcc_address {
	char street_1[20], street_2[20], city[20], state[2], zip[9];
};

struct tpcc_warehouse {
	int64_t ytd;
	uint32_t tax;		/* of 10000 */
	char name[10];
	struct tpcc_address address;
};

struct tpcc_district {
	int64_t ytd;
	uint32_t tax;		/* of 10000 */
	uint32_t next_o;
	char name[10];
	struct tpcc_address address;
};

struct tpcc_customer {
	int64_t balance, ytd_payment, credit_limit;
	uint64_t since;
	uint32_t payments, deliveries;
	uint32_t discount;	/* of 10000 */
	uint16_t name;		/* the number of the last name */
	char first[16], middle[2], last[16], phone[16], credit[2];
	struct tpcc_address address;
	char data[500];
};

struct tpcc_names {		/* customers of one last name, sorted by first name */
	uint32_t n;
	uint16_t c[128];
};

struct tpcc_history {
	uint64_t at;
	uint32_t amount;
	uint16_t w;
	uint8_t d;
	char data[24];
};

struct tpcc_order {
	uint64_t entered;
	uint32_t c;
	uint16_t carrier;	/* 0: none yet */
	uint8_t lines;
	uint8_t all_local;
};

struct tpcc_line {
	uint64_t delivered;	/* 0: not yet */
	int64_t amount;
	uint32_t item;
	uint16_t supplier;
	uint16_t quantity;
	char dist_info[24];
};

struct tpcc_item {
	uint32_t image;
	uint32_t price;
	char name[24], data[50];
};

struct tpcc_stock {
	uint64_t ytd;
	int32_t quantity;
	uint32_t orders, remote;
	char dist[TPCC_DISTRICTS][24];
	char data[50];
};

/* ---- what the procedures share ------------------------------------------- */

/* Copies the row of a customer, by number or, if @by_name, by last name: of those of
 * that name the one in the middle (clause 2.5.2.2).  Sets *@c to the number.  0 or
 * -errno. */
int tpcc_find_customer(struct txn *t, unsigned w, unsigned d, bool by_name,
		       uint32_t *c, struct tpcc_customer *row);

/* Nanoseconds since 1970. */
uint64_t tpcc_now(void);

#endif
