/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The consistency conditions 1 to 4 (clause 3.3.2.1 to 3.3.2.4).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "tpcc_procs.h"
#include "tpcc_rows.h"

struct check {
	struct txn t;
	unsigned w, warehouses;
	int broken;
};

struct tally {			/* of the rows of a table that a district has */
	uint64_t first, last;	/* keys */
	uint64_t n, lines;
};

static int count_row(uint64_t key, const void *row, size_t len, void *arg)
{
	struct tally *a = arg;

	(void)row;
	(void)len;
	a->first = a->n ? a->first : key;
	a->last = key;
	a->n++;
	return 0;
}

static int count_order(uint64_t key, const void *row, size_t len, void *arg)
{
	struct tpcc_order o;

	if (len != sizeof(o))
		return -EIO;
	memcpy(&o, row, sizeof(o));
	((struct tally *)arg)->lines += o.lines;
	return count_row(key, row, len, arg);
}

static void must_equal(struct check *k, int condition, unsigned d,
		       uint64_t x, uint64_t y)
{
	if (x == y)
		return;
	printf("condition %d does not hold: warehouse %u, district %u: %" PRIu64
	       " is not %" PRIu64 "\n", condition, k->w, d, x, y);
	k->broken++;
}

static int check_district(struct check *k, unsigned d, int64_t *ytd)
{
	struct tally orders = { 0 }, new = { 0 }, lines = { 0 };
	uint64_t from = key_order(k->w, d, 0), to = key_order(k->w, d + 1, 0);
	struct tpcc_district row;
	int err = txn_get(&k->t, STORE_DISTRICTS, key_district(k->w, d), &row,
			  sizeof(row));

	if (!err)
		err = txn_scan(&k->t, STORE_ORDERS, from, to, count_order,
			       &orders);
	if (!err)
		err = txn_scan(&k->t, STORE_NEW_ORDERS, from, to, count_row,
			       &new);
	if (!err)
		err = txn_scan(&k->t, STORE_LINES, key_line(k->w, d, 0, 0),
			       key_line(k->w, d + 1, 0, 0), count_row, &lines);
	if (err)
		return err;
	*ytd += row.ytd;
	must_equal(k, 2, d, row.next_o - 1, (uint32_t)orders.last);
	if (new.n)
		must_equal(k, 2, d, row.next_o - 1, (uint32_t)new.last);
	if (new.n)
		must_equal(k, 3, d, new.last - new.first + 1, new.n);
	must_equal(k, 4, d, orders.lines, lines.n);
	return 0;
}

static int check_warehouse(uint64_t key, const void *row, size_t len, void *arg)
{
	struct check *k = arg;
	struct tpcc_warehouse w;
	int64_t ytd = 0;
	unsigned d;
	int err = 0;

	if (len != sizeof(w))
		return -EIO;
	memcpy(&w, row, sizeof(w));
	k->w = (unsigned)key;
	for (d = 1; d <= TPCC_DISTRICTS && !err; d++)
		err = check_district(k, d, &ytd);
	if (err)
		return err;
	must_equal(k, 1, 0, (uint64_t)w.ytd, (uint64_t)ytd);
	k->warehouses++;
	return 0;
}

int tpcc_check(struct store *s)
{
	struct check k = { 0 };
	int err = store_read(s, &k.t);

	if (err)
		return err;
	err = txn_scan(&k.t, STORE_WAREHOUSES, 0, UINT64_MAX, check_warehouse,
		       &k);
	store_read_end(&k.t);
	if (!err && !k.warehouses)
		return -ENOENT;
	return err ? err : k.broken;
}
