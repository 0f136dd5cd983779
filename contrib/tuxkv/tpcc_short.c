/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "tpcc_procs.h"
#include "tpcc_rows.h"

enum { MUCH = 10, REFILL = 91 };	/* clause 2.4.2.2: of stock */

static const char bad_credit[2] = { 'B', 'C' };

/* ---- what the procedures share ------------------------------------------- */

uint64_t tpcc_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int tpcc_find_customer(struct txn *t, unsigned w, unsigned d, bool by_name,
		       uint32_t *c, struct tpcc_customer *row)
{
	struct tpcc_names names;
	int err = 0;

	if (by_name)
		err = txn_get(t, STORE_NAMES, key_name(w, d, *c), &names,
			      sizeof(names));
	if (err)
		return err;
	if (by_name)
		*c = names.c[(names.n + 1) / 2 - 1];
	return txn_get(t, STORE_CUSTOMERS, key_customer(w, d, *c), row,
		       sizeof(*row));
}

/* A row that the arguments name does not exist. */
static int kv_status_of(int err)
{
	return err == -ENOENT ? KV_NOT_FOUND : err;
}

static bool valid_customer(bool by_name, uint32_t c)
{
	return by_name ? c < TPCC_NAMES : c && c <= TPCC_CUSTOMERS;
}

static bool valid_district(unsigned d)
{
	return d && d <= TPCC_DISTRICTS;
}

/* ---- New-Order ----------------------------------------------------------- */

struct new_order {		/* what is read before anything is changed */
	const struct tpcc_new_order *args;
	struct tpcc_warehouse w;
	struct tpcc_district d;
	struct tpcc_customer c;
	uint32_t price[TPCC_LINES_MAX];
	bool all_local;
};

static bool valid_new_order(const struct tpcc_new_order *a)
{
	unsigned i;

	if (!valid_district(a->d) || a->lines < TPCC_LINES_MIN ||
	    a->lines > TPCC_LINES_MAX || !valid_customer(false, a->c))
		return false;
	for (i = 0; i < a->lines; i++)
		if (!a->line[i].quantity || a->line[i].quantity > MUCH)
			return false;
	return true;
}

static int read_prices(struct txn *t, struct new_order *n)
{
	struct tpcc_item item;
	unsigned i;
	int err = 0;

	n->all_local = true;
	for (i = 0; i < n->args->lines && !err; i++) {
		const struct tpcc_new_order_line *l = &n->args->line[i];

		err = txn_get(t, STORE_ITEMS, l->item, &item, sizeof(item));
		n->price[i] = item.price;
		n->all_local &= l->supplier == n->args->w;
	}
	return err;
}

static int read_for_order(struct txn *t, struct new_order *n)
{
	const struct tpcc_new_order *a = n->args;
	int err = txn_get(t, STORE_WAREHOUSES, a->w, &n->w, sizeof(n->w));

	if (!err)
		err = txn_get(t, STORE_DISTRICTS, key_district(a->w, a->d),
			      &n->d, sizeof(n->d));
	if (!err)
		err = txn_get(t, STORE_CUSTOMERS,
			      key_customer(a->w, a->d, a->c), &n->c,
			      sizeof(n->c));
	return err;
}

/* Fails if a supplying warehouse does not exist, before any row changes. */
static int find_suppliers(struct txn *t, const struct tpcc_new_order *a)
{
	struct tpcc_warehouse w;
	unsigned i;
	int err = 0;

	for (i = 0; i < a->lines && !err; i++)
		if (a->line[i].supplier != a->w)
			err = txn_get(t, STORE_WAREHOUSES, a->line[i].supplier,
				      &w, sizeof(w));
	return err;
}

/* Takes the goods of a line out of the stock. */
static int take_stock(struct txn *t, const struct tpcc_new_order *a,
		      const struct tpcc_new_order_line *l,
		      struct tpcc_stock *s)
{
	uint64_t key = key_stock(l->supplier, l->item);
	int err = txn_get(t, STORE_STOCK, key, s, sizeof(*s));

	if (err)
		return err;
	s->quantity -= l->quantity;
	if (s->quantity < MUCH)
		s->quantity += REFILL;
	s->ytd += l->quantity;
	s->orders++;
	s->remote += l->supplier != a->w;
	return txn_put(t, STORE_STOCK, key, s, sizeof(*s));
}

static int put_line(struct txn *t, const struct new_order *n, unsigned i,
		    int64_t *amount)
{
	const struct tpcc_new_order *a = n->args;
	const struct tpcc_new_order_line *l = &a->line[i];
	struct tpcc_line row = {
		.amount = (int64_t)l->quantity * n->price[i], .item = l->item,
		.supplier = l->supplier, .quantity = l->quantity,
	};
	struct tpcc_stock s;
	int err = take_stock(t, a, l, &s);

	if (err)
		return err;
	memcpy(row.dist_info, s.dist[a->d - 1], sizeof(row.dist_info));
	*amount = row.amount;
	return txn_put(t, STORE_LINES, key_line(a->w, a->d, n->d.next_o, i + 1),
		       &row, sizeof(row));
}

static int put_order(struct txn *t, struct new_order *n)
{
	const struct tpcc_new_order *a = n->args;
	struct tpcc_order row = {
		.entered = tpcc_now(), .c = a->c, .lines = a->lines,
		.all_local = n->all_local,
	};
	uint32_t o = n->d.next_o;
	uint64_t key = key_order(a->w, a->d, o);
	int err = txn_put(t, STORE_ORDERS, key, &row, sizeof(row));

	if (!err)
		err = txn_put(t, STORE_NEW_ORDERS, key, "", 1);
	if (!err)
		err = txn_put(t, STORE_LAST_ORDERS,
			      key_customer(a->w, a->d, a->c), &o, sizeof(o));
	return err;
}

static int put_district(struct txn *t, const struct tpcc_new_order *a,
			struct tpcc_district *d)
{
	d->next_o++;
	return txn_put(t, STORE_DISTRICTS, key_district(a->w, a->d), d,
		       sizeof(*d));
}

static int write_order(struct txn *t, struct new_order *n,
		       struct tpcc_new_order_done *done)
{
	int64_t sum = 0, amount = 0;
	unsigned i;
	int err = put_order(t, n);

	for (i = 0; i < n->args->lines && !err; i++) {
		err = put_line(t, n, i, &amount);
		sum += amount;
	}
	done->o = n->d.next_o;
	done->lines = n->args->lines;
	done->total = sum * (10000 - n->c.discount) / 10000 *
		      (10000 + n->w.tax + n->d.tax) / 10000;
	return err ? err : put_district(t, n->args, &n->d);
}

static int run_new_order(struct txn *t, unsigned step, const void *args,
			 void *out, uint32_t *len)
{
	struct new_order n = { .args = args };
	int err;

	(void)step;
	if (!valid_new_order(n.args))
		return KV_BAD;
	err = read_for_order(t, &n);
	if (!err)
		err = find_suppliers(t, n.args);
	if (err)
		return kv_status_of(err);
	err = read_prices(t, &n);
	if (err)
		return err == -ENOENT ? KV_ROLLED_BACK : err;
	*len = sizeof(struct tpcc_new_order_done);
	err = write_order(t, &n, out);
	return err ? err : KV_OK;
}

/* ---- Payment ------------------------------------------------------------- */

static int add_to_warehouse(struct txn *t, const struct tpcc_payment *a,
			    struct tpcc_warehouse *w, struct tpcc_district *d)
{
	uint64_t key = key_district(a->w, a->d);
	int err = txn_get(t, STORE_WAREHOUSES, a->w, w, sizeof(*w));

	if (!err)
		err = txn_get(t, STORE_DISTRICTS, key, d, sizeof(*d));
	if (err)
		return err;
	w->ytd += a->amount;
	d->ytd += a->amount;
	err = txn_put(t, STORE_WAREHOUSES, a->w, w, sizeof(*w));
	return err ? err : txn_put(t, STORE_DISTRICTS, key, d, sizeof(*d));
}

static void pay(const struct tpcc_payment *a, uint32_t id,
		struct tpcc_customer *c)
{
	char note[64];
	int n;

	c->balance -= a->amount;
	c->ytd_payment += a->amount;
	c->payments++;
	if (memcmp(c->credit, bad_credit, sizeof(bad_credit)))
		return;
	n = snprintf(note, sizeof(note), "%u %u %u %u %u %u|", id, a->c_d,
		     a->c_w, a->d, a->w, a->amount);
	memmove(c->data + n, c->data, sizeof(c->data) - (size_t)n);
	memcpy(c->data, note, (size_t)n);
}

static int note_payment(struct txn *t, const struct tpcc_payment *a,
			uint32_t id, uint32_t payments,
			const struct tpcc_warehouse *w,
			const struct tpcc_district *d)
{
	struct tpcc_history h = {
		.at = tpcc_now(), .amount = a->amount, .w = a->w, .d = a->d,
	};

	memcpy(h.data, w->name, sizeof(w->name));
	memcpy(h.data + sizeof(w->name) + 4, d->name, sizeof(d->name));
	return txn_put(t, STORE_HISTORY,
		       key_history(a->c_w, a->c_d, id, payments), &h,
		       sizeof(h));
}

static int run_payment(struct txn *t, unsigned step, const void *args,
		       void *out, uint32_t *len)
{
	const struct tpcc_payment *a = args;
	struct tpcc_payment_done done = { .c = a->c };
	struct tpcc_warehouse w;
	struct tpcc_district d;
	struct tpcc_customer c;
	int err;

	(void)step;
	if (!valid_district(a->d) || !valid_district(a->c_d) || !a->amount ||
	    !valid_customer(a->by_name, a->c))
		return KV_BAD;
	err = tpcc_find_customer(t, a->c_w, a->c_d, a->by_name, &done.c, &c);
	if (!err)
		err = add_to_warehouse(t, a, &w, &d);
	if (err)
		return kv_status_of(err);
	pay(a, done.c, &c);
	done.balance = c.balance;
	memcpy(out, &done, sizeof(done));
	*len = sizeof(done);
	err = note_payment(t, a, done.c, c.payments, &w, &d);
	if (!err)
		err = txn_put(t, STORE_CUSTOMERS,
			      key_customer(a->c_w, a->c_d, done.c), &c,
			      sizeof(c));
	return err ? err : KV_OK;
}

/* ---- Order-Status -------------------------------------------------------- */

static int read_lines(struct txn *t, const struct tpcc_order_status *a,
		      struct tpcc_order_status_done *done)
{
	struct tpcc_line row;
	unsigned i;
	int err = 0;

	for (i = 0; i < done->lines && !err; i++) {
		err = txn_get(t, STORE_LINES,
			      key_line(a->w, a->d, done->o, i + 1), &row,
			      sizeof(row));
		done->line[i] = (struct tpcc_status_line){
			.item = row.item, .supplier = row.supplier,
			.quantity = row.quantity, .amount = row.amount,
			.delivered = row.delivered,
		};
	}
	return err;
}

static int run_order_status(struct txn *t, unsigned step, const void *args,
			    void *out, uint32_t *len)
{
	const struct tpcc_order_status *a = args;
	struct tpcc_order_status_done *done = out;
	struct tpcc_customer c;
	struct tpcc_order o;
	int err;

	(void)step;
	if (!valid_district(a->d) || !valid_customer(a->by_name, a->c))
		return KV_BAD;
	done->c = a->c;
	err = tpcc_find_customer(t, a->w, a->d, a->by_name, &done->c, &c);
	if (!err)
		err = txn_get(t, STORE_LAST_ORDERS,
			      key_customer(a->w, a->d, done->c), &done->o,
			      sizeof(done->o));
	if (!err)
		err = txn_get(t, STORE_ORDERS, key_order(a->w, a->d, done->o),
			      &o, sizeof(o));
	if (err)
		return kv_status_of(err);
	done->balance = c.balance;
	done->carrier = o.carrier;
	done->lines = o.lines;
	*len = (uint32_t)(offsetof(struct tpcc_order_status_done, line) +
			  o.lines * sizeof(done->line[0]));
	err = read_lines(t, a, done);
	return err ? err : KV_OK;
}

const struct proc tpcc_new_order_proc = {
	.name = "new-order", .args_len = sizeof(struct tpcc_new_order),
	.writes = true, .steps = 1, .run = run_new_order,
};

const struct proc tpcc_payment_proc = {
	.name = "payment", .args_len = sizeof(struct tpcc_payment),
	.writes = true, .steps = 1, .run = run_payment,
};

const struct proc tpcc_order_status_proc = {
	.name = "order-status", .args_len = sizeof(struct tpcc_order_status),
	.steps = 1, .run = run_order_status,
};
