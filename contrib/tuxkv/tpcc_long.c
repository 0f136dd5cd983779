/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "tpcc_procs.h"
#include "tpcc_rows.h"

enum { LAST_ORDERS = 20 };	/* that Stock-Level looks at (clause 2.8.2.2) */

/* ---- Delivery ------------------------------------------------------------ */

static int first_key(uint64_t key, const void *row, size_t len, void *arg)
{
	(void)row;
	(void)len;
	memcpy(arg, &key, sizeof(key));
	return 1;
}

static int deliver_lines(struct txn *t, unsigned w, unsigned d, uint32_t o,
			 unsigned lines, int64_t *sum)
{
	struct tpcc_line row;
	unsigned i;
	int err = 0;

	for (i = 1; i <= lines && !err; i++) {
		uint64_t key = key_line(w, d, o, i);

		err = txn_get(t, STORE_LINES, key, &row, sizeof(row));
		if (err)
			break;
		row.delivered = tpcc_now();
		*sum += row.amount;
		err = txn_put(t, STORE_LINES, key, &row, sizeof(row));
	}
	return err;
}

static int charge(struct txn *t, unsigned w, unsigned d, uint32_t c, int64_t sum)
{
	struct tpcc_customer row;
	uint64_t key = key_customer(w, d, c);
	int err = txn_get(t, STORE_CUSTOMERS, key, &row, sizeof(row));

	if (err)
		return err;
	row.balance += sum;
	row.deliveries++;
	return txn_put(t, STORE_CUSTOMERS, key, &row, sizeof(row));
}

/* The order has been taken out of the new ones. */
static int deliver_order(struct txn *t, const struct tpcc_delivery *a,
			 unsigned d, uint64_t key)
{
	struct tpcc_order o;
	int64_t sum = 0;
	int err = txn_get(t, STORE_ORDERS, key, &o, sizeof(o));

	if (err)
		return err;
	o.carrier = a->carrier;
	err = txn_put(t, STORE_ORDERS, key, &o, sizeof(o));
	if (!err)
		err = deliver_lines(t, a->w, d, (uint32_t)key, o.lines, &sum);
	return err ? err : charge(t, a->w, d, o.c, sum);
}

/* A step is a district: clause 2.7.4 has them in any number of transactions, up to
 * one for each. */
static int run_delivery(struct txn *t, unsigned step, const void *args,
			void *out, uint32_t *len)
{
	const struct tpcc_delivery *a = args;
	struct tpcc_delivery_done *done = out;
	struct tpcc_warehouse w;
	unsigned d = step + 1;
	uint64_t key;
	int rc;

	if (!a->carrier || a->carrier > 10)
		return KV_BAD;
	rc = txn_get(t, STORE_WAREHOUSES, a->w, &w, sizeof(w));
	if (rc)
		return rc == -ENOENT ? KV_NOT_FOUND : rc;
	if (!step)
		*done = (struct tpcc_delivery_done){ 0 };
	*len = sizeof(*done);
	rc = txn_scan(t, STORE_NEW_ORDERS, key_order(a->w, d, 0),
		      key_order(a->w, d + 1, 0), first_key, &key);
	if (rc <= 0)
		return rc;		/* none is waiting */
	rc = txn_del(t, STORE_NEW_ORDERS, key);
	if (!rc)
		rc = deliver_order(t, a, d, key);
	done->orders += !rc;
	return rc;
}

/* ---- Stock-Level --------------------------------------------------------- */

enum { SLOTS = 1024 };		/* more than twice the items of all lines */

struct items {			/* that were sold, each once */
	uint32_t slot[SLOTS];	/* 0: none */
};

static bool items_add(struct items *s, uint32_t item)
{
	unsigned i = item % SLOTS;

	while (s->slot[i] && s->slot[i] != item)
		i = (i + 1) % SLOTS;
	if (s->slot[i] == item)
		return false;
	s->slot[i] = item;
	return true;
}

struct look {
	struct txn *t;
	const struct tpcc_stock_level *args;
	struct items seen;
	uint32_t low;
};

static int look_at_line(uint64_t key, const void *row, size_t len, void *arg)
{
	struct look *l = arg;
	struct tpcc_stock stock;
	struct tpcc_line line;
	int err;

	(void)key;
	if (len != sizeof(line))
		return -EIO;
	memcpy(&line, row, sizeof(line));
	if (!items_add(&l->seen, line.item))
		return 0;
	err = txn_get(l->t, STORE_STOCK, key_stock(l->args->w, line.item),
		      &stock, sizeof(stock));
	l->low += !err && stock.quantity < l->args->threshold;
	return err;
}

static int run_stock_level(struct txn *t, unsigned step, const void *args,
			   void *out, uint32_t *len)
{
	const struct tpcc_stock_level *a = args;
	struct tpcc_stock_level_done *done = out;
	struct look l = { .t = t, .args = a };
	struct tpcc_district d;
	uint32_t from;
	int err;

	(void)step;
	if (!a->d || a->d > TPCC_DISTRICTS)
		return KV_BAD;
	err = txn_get(t, STORE_DISTRICTS, key_district(a->w, a->d), &d,
		      sizeof(d));
	if (err)
		return err == -ENOENT ? KV_NOT_FOUND : err;
	from = d.next_o > LAST_ORDERS ? d.next_o - LAST_ORDERS : 0;
	err = txn_scan(t, STORE_LINES, key_line(a->w, a->d, from, 0),
		       key_line(a->w, a->d, d.next_o, 0), look_at_line, &l);
	*done = (struct tpcc_stock_level_done){ .low = l.low };
	*len = sizeof(*done);
	return err ? err : KV_OK;
}

const struct proc tpcc_delivery_proc = {
	.name = "delivery", .args_len = sizeof(struct tpcc_delivery),
	.writes = true, .is_long = true, .steps = TPCC_DISTRICTS,
	.run = run_delivery,
};

const struct proc tpcc_stock_level_proc = {
	.name = "stock-level", .args_len = sizeof(struct tpcc_stock_level),
	.is_long = true, .steps = 1, .run = run_stock_level,
};
