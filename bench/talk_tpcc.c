/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tpcc - TPC-C's transactions in a mix of 92 % short and 8 % long ones, without the
 * times that a person would think and type
 *
 * As in talk_ycsb.c, the number of a question decides what it asks.  Clause names a
 * part of TPC-C, revision 5.11.
 */
#include "talk.h"

#include "../contrib/tuxkv/tpcc.h"
#include "../contrib/tuxkv/tpcc_draw.h"

enum {
	C_ITEM = 5432, C_CUSTOMER = 217,	/* clause 2.1.6: constants */
	PER_MILLE_ROLLED_BACK = 10,
};

#define SEEDS UINT64_C(0xd1342543de82ef95)	/* puts them far from each other */

static uint32_t customer(struct tpcc_draws *r)
{
	return tpcc_uneven(r, 1023, C_CUSTOMER, 1, TPCC_CUSTOMERS);
}

static uint32_t last_name(struct tpcc_draws *r)
{
	return tpcc_uneven(r, 255, TPCC_NAME_RUN, 0, TPCC_NAMES - 1);
}

/* Another one, if there is. */
static uint16_t other_warehouse(struct tpcc_draws *r, uint32_t w, uint32_t all)
{
	uint32_t o = all > 1 ? tpcc_between(r, 1, all - 1) : w;

	return (uint16_t)(all > 1 && o >= w ? o + 1 : o);
}

/* ---- what is asked ------------------------------------------------------- */

struct question {
	enum kv_op op;
	bool rolled_back;	/* of New-Order */
	struct tpcc_draws r;		/* for the arguments */
};

/* The mix of clause 5.2.3, as near as 92 and 8 allow. */
static struct question question_of(uint64_t seed, uint64_t id)
{
	struct question q = { .r = { seed * SEEDS + id } };
	uint32_t of = tpcc_between(&q.r, 0, 99);

	q.op = of < 45 ? KV_NEW_ORDER :
	       of < 88 ? KV_PAYMENT :
	       of < 92 ? KV_ORDER_STATUS :
	       of < 96 ? KV_DELIVERY : KV_STOCK_LEVEL;
	q.rolled_back = q.op == KV_NEW_ORDER &&
			tpcc_between(&q.r, 0, 999) < PER_MILLE_ROLLED_BACK;
	return q;
}

static size_t put_new_order(struct question *q, uint32_t w, uint32_t all,
			    void *p)
{
	struct tpcc_draws *r = &q->r;
	struct tpcc_new_order a = {
		.w = (uint16_t)w,
		.d = (uint8_t)tpcc_between(r, 1, TPCC_DISTRICTS),
		.lines = (uint8_t)tpcc_between(r, TPCC_LINES_MIN, TPCC_LINES_MAX),
		.c = customer(r),
	};
	unsigned i;

	for (i = 0; i < a.lines; i++) {
		a.line[i].item = tpcc_uneven(r, 8191, C_ITEM, 1, TPCC_ITEMS);
		a.line[i].supplier = tpcc_between(r, 1, 100) == 1 ?
				     other_warehouse(r, w, all) : (uint16_t)w;
		a.line[i].quantity = (uint16_t)tpcc_between(r, 1, 10);
	}
	if (q->rolled_back)
		a.line[a.lines - 1].item = TPCC_ITEMS + 1;
	memcpy(p, &a, sizeof(a));
	return sizeof(a);
}

static size_t put_payment(struct question *q, uint32_t w, uint32_t all, void *p)
{
	struct tpcc_draws *r = &q->r;
	struct tpcc_payment a = {
		.w = (uint16_t)w, .c_w = (uint16_t)w,
		.d = (uint8_t)tpcc_between(r, 1, TPCC_DISTRICTS),
		.by_name = tpcc_between(r, 1, 100) <= 60,
		.amount = tpcc_between(r, 100, 500000),
	};

	a.c_d = a.d;
	if (tpcc_between(r, 1, 100) > 85) {
		a.c_w = other_warehouse(r, w, all);
		a.c_d = (uint8_t)tpcc_between(r, 1, TPCC_DISTRICTS);
	}
	a.c = a.by_name ? last_name(r) : customer(r);
	memcpy(p, &a, sizeof(a));
	return sizeof(a);
}

static size_t put_order_status(struct question *q, uint32_t w, void *p)
{
	struct tpcc_draws *r = &q->r;
	struct tpcc_order_status a = {
		.w = (uint16_t)w,
		.d = (uint8_t)tpcc_between(r, 1, TPCC_DISTRICTS),
		.by_name = tpcc_between(r, 1, 100) <= 60,
	};

	a.c = a.by_name ? last_name(r) : customer(r);
	memcpy(p, &a, sizeof(a));
	return sizeof(a);
}

static size_t put_delivery(struct question *q, uint32_t w, void *p)
{
	struct tpcc_delivery a = {
		.w = (uint16_t)w, .carrier = (uint16_t)tpcc_between(&q->r, 1, 10),
	};

	memcpy(p, &a, sizeof(a));
	return sizeof(a);
}

static size_t put_stock_level(struct question *q, uint32_t w, void *p)
{
	struct tpcc_stock_level a = {
		.w = (uint16_t)w,
		.d = (uint8_t)tpcc_between(&q->r, 1, TPCC_DISTRICTS),
		.threshold = (uint8_t)tpcc_between(&q->r, 10, 20),
	};

	memcpy(p, &a, sizeof(a));
	return sizeof(a);
}

static size_t put_args(struct question *q, uint32_t all, void *p)
{
	uint32_t w = tpcc_between(&q->r, 1, all);

	switch (q->op) {
	case KV_NEW_ORDER: return put_new_order(q, w, all, p);
	case KV_PAYMENT: return put_payment(q, w, all, p);
	case KV_ORDER_STATUS: return put_order_status(q, w, p);
	case KV_DELIVERY: return put_delivery(q, w, p);
	default: return put_stock_level(q, w, p);
	}
}

static size_t ask(const struct talk *t, uint64_t id, uint8_t *p)
{
	struct question q = question_of(t->seed, id);
	struct kv_hdr h = { .op = (uint16_t)q.op, .id = id };

	h.len = (uint32_t)(sizeof(h) + put_args(&q, t->records, p + sizeof(h)));
	memcpy(p, &h, sizeof(h));
	return h.len;
}

/* ---- what must be answered ----------------------------------------------- */

/* Is the result @r what the arguments @a ask for, as far as that can be known? */
static bool right_new_order(const struct tpcc_new_order *a, const uint8_t *r)
{
	struct tpcc_new_order_done d;

	memcpy(&d, r, sizeof(d));
	return d.o && d.lines == a->lines && d.total > 0;
}

static bool right_payment(const struct tpcc_payment *a, const uint8_t *r)
{
	struct tpcc_payment_done d;

	memcpy(&d, r, sizeof(d));
	return a->by_name ? d.c && d.c <= TPCC_CUSTOMERS : d.c == a->c;
}

static bool right_order_status(const struct tpcc_order_status *a,
			       const uint8_t *r, uint32_t len)
{
	const uint32_t head = offsetof(struct tpcc_order_status_done, line);
	struct tpcc_order_status_done d;

	if (len < head || len > sizeof(d))
		return false;
	memcpy(&d, r, len);
	return d.o && d.lines >= TPCC_LINES_MIN &&
	       len == head + d.lines * sizeof(d.line[0]) &&
	       (a->by_name || d.c == a->c);
}

static uint32_t first_number(const uint8_t *r)
{
	uint32_t n;

	memcpy(&n, r, sizeof(n));
	return n;
}

static bool right_result(struct question *q, uint32_t all, const uint8_t *r,
			 uint32_t len)
{
	union {
		struct tpcc_new_order new_order;
		struct tpcc_payment payment;
		struct tpcc_order_status status;
		struct tpcc_delivery delivery;
		struct tpcc_stock_level level;
	} a;

	put_args(q, all, &a);
	switch (q->op) {
	case KV_NEW_ORDER:
		return len == sizeof(struct tpcc_new_order_done) &&
		       right_new_order(&a.new_order, r);
	case KV_PAYMENT:
		return len == sizeof(struct tpcc_payment_done) &&
		       right_payment(&a.payment, r);
	case KV_ORDER_STATUS:
		return right_order_status(&a.status, r, len);
	case KV_DELIVERY:
		return len == sizeof(struct tpcc_delivery_done) &&
		       first_number(r) <= TPCC_DISTRICTS;
	default:
		return len == sizeof(struct tpcc_stock_level_done) &&
		       first_number(r) <= 20 * TPCC_LINES_MAX;
	}
}

static ssize_t check(const struct talk *t, uint64_t id, const uint8_t *p,
		     size_t len)
{
	struct question q;
	struct kv_hdr h;

	if (len < sizeof(h))
		return 0;
	memcpy(&h, p, sizeof(h));
	if (h.id != id)
		return -1;
	q = question_of(t->seed, id);
	if (h.op != q.op)
		return -1;
	if (q.rolled_back)
		return h.status == KV_ROLLED_BACK && h.len == sizeof(h) ?
		       (ssize_t)sizeof(h) : -1;
	if (h.status != KV_OK || h.len < sizeof(h) || h.len > KV_ANSWER_MAX)
		return -1;
	if (len < h.len)
		return 0;
	return right_result(&q, t->records, p + sizeof(h),
			    h.len - (uint32_t)sizeof(h)) ? (ssize_t)h.len : -1;
}

static bool is_long(const struct talk *t, uint64_t id)
{
	enum kv_op op = question_of(t->seed, id).op;

	return op == KV_DELIVERY || op == KV_STOCK_LEVEL;
}

const struct talk_ops talk_tpcc = {
	.name = "tpcc", .room = KV_ANSWER_MAX, .any_order = true,
	.ask = ask, .check = check, .is_long = is_long,
};
