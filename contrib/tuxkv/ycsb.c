/* SPDX-License-Identifier: BSD-2-Clause */
#include "ycsb.h"

#include <errno.h>

enum { LOAD = 10000 };		/* records in one transaction */

/* ---- procedures ---------------------------------------------------------- */

static int get_record(struct txn *t, const void *args, struct kv_record *r)
{
	const struct kv_key *k = args;

	return txn_get(t, STORE_RECORDS, k->key, r, sizeof(*r));
}

static int run_get(struct txn *t, unsigned step, const void *args, void *out,
		   uint32_t *len)
{
	int err = get_record(t, args, out);

	(void)step;
	if (err)
		return err == -ENOENT ? KV_NOT_FOUND : err;
	*len = sizeof(struct kv_record);
	return KV_OK;
}

static int run_rmw(struct txn *t, unsigned step, const void *args, void *out,
		   uint32_t *len)
{
	struct kv_record *r = out;
	int err = get_record(t, args, r);

	(void)step;
	if (err)
		return err == -ENOENT ? KV_NOT_FOUND : err;
	kv_record_change(r);
	*len = sizeof(*r);
	err = txn_put(t, STORE_RECORDS, r->key, r, sizeof(*r));
	return err ? err : KV_OK;
}

const struct proc ycsb_get = {
	.name = "get", .args_len = sizeof(struct kv_key), .steps = 1,
	.run = run_get,
};

const struct proc ycsb_rmw = {
	.name = "rmw", .args_len = sizeof(struct kv_key), .steps = 1,
	.writes = true, .run = run_rmw,
};

/* ---- the first records --------------------------------------------------- */

static int load_some(struct store *s, uint64_t from, uint64_t to)
{
	struct kv_record r;
	struct txn t;
	int err = store_write(s, &t);

	if (err)
		return err;
	for (; from < to && !err; from++) {
		err = txn_get(&t, STORE_RECORDS, from, &r, sizeof(r));
		if (err != -ENOENT)
			continue;
		kv_record_init(&r, from);
		err = txn_append(&t, STORE_RECORDS, from, &r, sizeof(r));
	}
	if (!err)
		return store_commit(&t);
	store_abort(&t);
	return err;
}

static int is_there(struct store *s, uint64_t key)
{
	struct kv_record r;
	struct txn t;
	int err = store_read(s, &t);

	if (err)
		return err;
	err = txn_get(&t, STORE_RECORDS, key, &r, sizeof(r));
	store_read_end(&t);
	return err == -ENOENT ? 0 : err ? err : 1;
}

int ycsb_load(struct store *s, uint64_t n)
{
	uint64_t i;
	int rc = 0;

	for (i = 0; i < n && rc >= 0; i += LOAD) {
		uint64_t end = n - i < LOAD ? n : i + LOAD;

		rc = is_there(s, end - 1);
		if (!rc)
			rc = load_some(s, i, end);
	}
	return rc < 0 ? rc : 0;
}
