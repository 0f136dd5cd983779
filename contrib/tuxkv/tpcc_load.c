/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first rows of TPC-C's tables (clause 4.3.3).  Texts are letters of one
 * alphabet, of full length, and drawn by a generator with a fixed seed.
 */
#include <errno.h>
#include <stdlib.h>

#include "tpcc_draw.h"
#include "tpcc_procs.h"
#include "tpcc_rows.h"

enum {
	ORDERS = 3000,		/* of a district, */
	NEW = 900,		/* the last of which are not delivered */
	ORIGINAL = 10,		/* percent: "ORIGINAL" is in the data */
};

static const char *const syllables[] = {	/* clause 4.3.2.3 */
	"BAR", "OUGHT", "ABLE", "PRI", "PRES",
	"ESE", "ANTI", "CALLY", "ATION", "EING",
};

struct load {
	struct store *s;
	struct txn t;
	struct tpcc_draws r;
};

/* ---- random values ------------------------------------------------------- */

static uint32_t between(struct load *l, uint32_t low, uint32_t high)
{
	return tpcc_between(&l->r, low, high);
}

static unsigned draw_name(struct load *l)
{
	return tpcc_uneven(&l->r, 255, TPCC_NAME_LOAD, 0, TPCC_NAMES - 1);
}

static void letters(struct load *l, char *p, size_t n)
{
	while (n--)
		*p++ = (char)('a' + tpcc_draw(&l->r) % 26);
}

static void digits(struct load *l, char *p, size_t n)
{
	while (n--)
		*p++ = (char)('0' + tpcc_draw(&l->r) % 10);
}

static void data(struct load *l, char *p, size_t n)
{
	letters(l, p, n);
	if (between(l, 1, 100) <= ORIGINAL)
		memcpy(p + between(l, 0, (uint32_t)n - 8), "ORIGINAL", 8);
}

static void address(struct load *l, struct tpcc_address *a)
{
	letters(l, a->street_1, sizeof(a->street_1));
	letters(l, a->street_2, sizeof(a->street_2));
	letters(l, a->city, sizeof(a->city));
	letters(l, a->state, sizeof(a->state));
	digits(l, a->zip, 4);
	memcpy(a->zip + 4, "11111", 5);
}

/* ---- customers ----------------------------------------------------------- */

static void last_name(unsigned name, char *p, size_t n)
{
	unsigned i, part[] = { name / 100, name / 10 % 10, name % 10 };
	char text[32] = "";

	for (i = 0; i < 3; i++)
		strcat(text, syllables[part[i]]);
	strncpy(p, text, n);
}

static void make_customer(struct load *l, struct tpcc_customer *c, unsigned i)
{
	*c = (struct tpcc_customer){
		.balance = -1000, .ytd_payment = 1000, .credit_limit = 5000000,
		.since = tpcc_now(), .payments = 1,
		.discount = between(l, 0, 5000),
		.name = (uint16_t)(i <= TPCC_NAMES ? i - 1 : draw_name(l)),
		.middle = "OE",
	};
	letters(l, c->first, sizeof(c->first));
	last_name(c->name, c->last, sizeof(c->last));
	digits(l, c->phone, sizeof(c->phone));
	memcpy(c->credit, between(l, 1, 10) == 1 ? "BC" : "GC", 2);
	address(l, &c->address);
	data(l, c->data, sizeof(c->data));
}

struct named {			/* to be sorted */
	uint16_t name, c;
	char first[16];
};

static int by_name(const void *x, const void *y)
{
	const struct named *a = x, *b = y;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return memcmp(a->first, b->first, sizeof(a->first));
}

static int put_names(struct load *l, unsigned w, unsigned d,
		     struct named *all)
{
	struct tpcc_names row;
	unsigned i = 0;
	int err = 0;

	qsort(all, TPCC_CUSTOMERS, sizeof(*all), by_name);
	while (i < TPCC_CUSTOMERS && !err) {
		unsigned name = all[i].name;

		row = (struct tpcc_names){ 0 };
		while (i < TPCC_CUSTOMERS && all[i].name == name) {
			if (row.n == sizeof(row.c) / sizeof(row.c[0]))
				return -ENOSPC;
			row.c[row.n++] = all[i++].c;
		}
		err = txn_append(&l->t, STORE_NAMES, key_name(w, d, name),
				 &row, sizeof(row));
	}
	return err;
}

static int put_customers(struct load *l, unsigned w, unsigned d)
{
	static struct named all[TPCC_CUSTOMERS];
	struct tpcc_history h = { .at = tpcc_now(), .amount = 1000,
				  .w = (uint16_t)w, .d = (uint8_t)d };
	struct tpcc_customer c;
	unsigned i;
	int err = 0;

	for (i = 1; i <= TPCC_CUSTOMERS && !err; i++) {
		make_customer(l, &c, i);
		all[i - 1].name = c.name;
		all[i - 1].c = (uint16_t)i;
		memcpy(all[i - 1].first, c.first, sizeof(c.first));
		err = txn_append(&l->t, STORE_CUSTOMERS, key_customer(w, d, i),
				 &c, sizeof(c));
		if (!err)
			err = txn_append(&l->t, STORE_HISTORY,
					 key_history(w, d, i, 1), &h,
					 sizeof(h));
	}
	return err ? err : put_names(l, w, d, all);
}

/* ---- orders -------------------------------------------------------------- */

static int put_lines(struct load *l, unsigned w, unsigned d, uint32_t o,
		     const struct tpcc_order *order)
{
	bool delivered = order->carrier;
	unsigned i;
	int err = 0;

	for (i = 1; i <= order->lines && !err; i++) {
		struct tpcc_line row = {
			.delivered = delivered ? order->entered : 0,
			.amount = delivered ? 0 : between(l, 1, 999999),
			.item = between(l, 1, TPCC_ITEMS),
			.supplier = (uint16_t)w, .quantity = 5,
		};

		letters(l, row.dist_info, sizeof(row.dist_info));
		err = txn_append(&l->t, STORE_LINES, key_line(w, d, o, i), &row,
				 sizeof(row));
	}
	return err;
}

static int put_order(struct load *l, unsigned w, unsigned d, uint32_t o,
		     uint32_t c)
{
	bool new = o > ORDERS - NEW;
	struct tpcc_order row = {
		.entered = tpcc_now(), .c = c,
		.carrier = (uint16_t)(new ? 0 : between(l, 1, 10)),
		.lines = (uint8_t)between(l, TPCC_LINES_MIN, TPCC_LINES_MAX),
		.all_local = 1,
	};
	uint64_t key = key_order(w, d, o);
	int err = txn_append(&l->t, STORE_ORDERS, key, &row, sizeof(row));

	if (!err && new)
		err = txn_append(&l->t, STORE_NEW_ORDERS, key, "", 1);
	if (!err)
		err = txn_put(&l->t, STORE_LAST_ORDERS, key_customer(w, d, c),
			      &o, sizeof(o));
	return err ? err : put_lines(l, w, d, o, &row);
}

/* Each customer has one, in any order. */
static int put_orders(struct load *l, unsigned w, unsigned d)
{
	static uint16_t c[ORDERS];
	uint32_t i;
	int err = 0;

	for (i = 0; i < ORDERS; i++)
		c[i] = (uint16_t)(i + 1);
	for (i = ORDERS - 1; i; i--) {
		uint32_t k = between(l, 0, i);
		uint16_t other = c[k];

		c[k] = c[i];
		c[i] = other;
	}
	for (i = 0; i < ORDERS && !err; i++)
		err = put_order(l, w, d, i + 1, c[i]);
	return err;
}

/* ---- districts, warehouses, items ---------------------------------------- */

static int put_district(struct load *l, unsigned w, unsigned d)
{
	struct tpcc_district row = {
		.ytd = 3000000, .tax = between(l, 0, 2000),
		.next_o = ORDERS + 1,
	};
	int err;

	letters(l, row.name, sizeof(row.name));
	address(l, &row.address);
	err = txn_append(&l->t, STORE_DISTRICTS, key_district(w, d), &row,
			 sizeof(row));
	if (!err)
		err = put_customers(l, w, d);
	return err ? err : put_orders(l, w, d);
}

static int put_stock(struct load *l, unsigned w)
{
	unsigned i, k;
	int err = 0;

	for (i = 1; i <= TPCC_ITEMS && !err; i++) {
		struct tpcc_stock row = {
			.quantity = (int32_t)between(l, 10, 100),
		};

		for (k = 0; k < TPCC_DISTRICTS; k++)
			letters(l, row.dist[k], sizeof(row.dist[k]));
		data(l, row.data, sizeof(row.data));
		err = txn_append(&l->t, STORE_STOCK, key_stock(w, i), &row,
				 sizeof(row));
	}
	return err;
}

static int put_items(struct load *l)
{
	unsigned i;
	int err = 0;

	for (i = 1; i <= TPCC_ITEMS && !err; i++) {
		struct tpcc_item row = {
			.image = between(l, 1, 10000),
			.price = between(l, 100, 10000),
		};

		letters(l, row.name, sizeof(row.name));
		data(l, row.data, sizeof(row.data));
		err = txn_append(&l->t, STORE_ITEMS, i, &row, sizeof(row));
	}
	return err;
}

static int put_warehouse(struct load *l, unsigned w)
{
	struct tpcc_warehouse row = {
		.ytd = 30000000, .tax = between(l, 0, 2000),
	};
	unsigned d;
	int err = w == 1 ? put_items(l) : 0;

	letters(l, row.name, sizeof(row.name));
	address(l, &row.address);
	if (!err)
		err = txn_append(&l->t, STORE_WAREHOUSES, w, &row, sizeof(row));
	if (!err)
		err = put_stock(l, w);
	for (d = 1; d <= TPCC_DISTRICTS && !err; d++)
		err = put_district(l, w, d);
	return err;
}

/* In one transaction: all of it is there, or nothing. */
static int load_warehouse(struct store *s, unsigned w)
{
	struct load l = { .s = s, .r = { w } };
	struct tpcc_warehouse row;
	int err = store_write(s, &l.t);

	if (err)
		return err;
	err = txn_get(&l.t, STORE_WAREHOUSES, w, &row, sizeof(row));
	if (err == -ENOENT)
		err = put_warehouse(&l, w);
	if (!err)
		return store_commit(&l.t);
	store_abort(&l.t);
	return err;
}

int tpcc_load(struct store *s, unsigned n)
{
	unsigned w;
	int err = 0;

	for (w = 1; w <= n && !err; w++)
		err = load_warehouse(s, w);
	return err;
}
